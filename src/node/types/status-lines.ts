/**
 * Lines that are wanted of /proc/PID/status, in the order of the file: `Key:` and a value. Of hundreds of such texts most
 * of the time would go into lines that are not wanted; so each line is looked for where it was in the text before, counted
 * from the wanted line before it, and searched only where it is not there.
 */
import { Scanner } from './scan.ts';

const NEWLINE = 0x0a;

export class StatusLines {
  /** Of each line the value, `bytes[from, to)`; empty where there is no such line. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  private readonly keys: readonly Buffer[];
  /** `\nKey:` */
  private readonly needles: readonly Buffer[];
  /** From the wanted line before to each. */
  private readonly steps: Int32Array;
  private readonly scanner = new Scanner();

  constructor(keys: readonly string[]) {
    this.keys = keys.map((key) => Buffer.from(`${key}:`));
    this.needles = keys.map((key) => Buffer.from(`\n${key}:`));
    this.from = new Int32Array(keys.length);
    this.to = new Int32Array(keys.length);
    this.steps = new Int32Array(keys.length);
  }

  /** Finds the lines in `bytes[0, end)`. */
  find(bytes: Buffer, end: number): void {
    let before = 0;
    for (let k = 0; k < this.keys.length; k++) {
      const key = this.keys[k];
      let line = before + this.steps[k];
      if (!startsAt(bytes, end, line, key)) {
        line = this.search(bytes, end, before, k);
        if (line < 0) {
          this.from[k] = 0;
          this.to[k] = 0;
          continue;
        }
        this.steps[k] = line - before;
      }
      before = line;
      const scanner = this.scanner.over(bytes, end, line + key.length);
      // Names have blanks; of other values the first word is wanted.
      if (k === 0) scanner.rest();
      else scanner.word();
      this.from[k] = scanner.from;
      this.to[k] = scanner.to;
    }
  }

  /** Where line `k` begins, from `before` on, or else from the start; -1 where it is not. */
  private search(bytes: Buffer, end: number, before: number, k: number): number {
    if (startsAt(bytes, end, 0, this.keys[k])) return 0;
    for (const start of [before, 0]) {
      const at = bytes.indexOf(this.needles[k], start);
      if (at >= 0 && at < end) return at + 1;
      if (start === 0) break;
    }
    return -1;
  }
}

/** Whether a line begins at `at`, with this key. */
function startsAt(bytes: Uint8Array, end: number, at: number, key: Uint8Array): boolean {
  if (at + key.length > end || (at > 0 && bytes[at - 1] !== NEWLINE)) return false;
  for (let k = 0; k < key.length; k++) if (bytes[at + k] !== key[k]) return false;
  return true;
}
