/**
 * Lines of /proc/PID/status that are wanted, in the order of the file: `Key:` and a value. Reading hundreds of such texts,
 * most time would go into lines that are not wanted. So each line is first looked for where it was in the text before, relative to
 * the wanted line before it, and searched for only if it is not there.
 */
import { Scanner } from './scan.ts';

const NEWLINE = 0x0a;

export class StatusLines {
  /** The value of each line is `bytes[from, to)`; empty if there is no such line. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  private readonly keys: readonly Buffer[];
  /** `\nKey:` */
  private readonly needles: readonly Buffer[];
  /** Distance from one wanted line to the next. */
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
      // Names may have blanks; of other values the first word is wanted.
      if (k === 0) scanner.rest();
      else scanner.word();
      this.from[k] = scanner.from;
      this.to[k] = scanner.to;
    }
  }

  /** Where line `k` begins, searched from `before` on, or else from the start; -1 if it is missing. */
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

/** Whether a line with this key begins at `at`. */
function startsAt(bytes: Uint8Array, end: number, at: number, key: Uint8Array): boolean {
  if (at + key.length > end || (at > 0 && bytes[at - 1] !== NEWLINE)) return false;
  for (let k = 0; k < key.length; k++) if (bytes[at + k] !== key[k]) return false;
  return true;
}
