/** Keeps a copy of what a recorded command prints. */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { basename } from 'node:path';

/** Bytes of the begin, and of the end, that are kept. */
const MOST_BYTES = 1 << 20;
/** Programs that pass on what their ranks print: these never have the terminal, or file, itself. */
const LAUNCHERS = /^(mpirun|mpiexec(\.\w+)?|orterun|prterun|prun|srun|aprun|jsrun|flux)$/;
/** open(2), as /proc/PID/fdinfo tells it in octal digits. */
const APPEND = 0o2000;

/** Where a file that is our stdout will be written to next; null where it is none. */
function fileEnd(): number | null {
  try {
    const stat = fstatSync(1);
    if (!stat.isFile()) return null;
    const told = readFileSync('/proc/self/fdinfo/1', 'latin1');
    const of = (key: string) => new RegExp(`^${key}:\\s*(\\d+)$`, 'm').exec(told)?.[1] ?? '0';
    const appends = (Number.parseInt(of('flags'), 8) & APPEND) !== 0;
    return appends ? stat.size : Number(of('pos'));
  } catch {
    return null;
  }
}

/**
 * A launcher gets a pipe as its stdout, as its ranks do, and the output is passed on. Any other command inherits this process's
 * stdout; its output is known only where that is a file.
 */
export class KeptOutput {
  /** Gets what is passed on; null where the command has our stdout itself. */
  readonly take: ((bytes: Uint8Array) => void) | null;
  private readonly begin: Buffer[] = [];
  private readonly end: Buffer[] = [];
  private readonly from: number | null;
  private begun = 0;
  private ended = 0;

  constructor([program = '']: readonly string[]) {
    const launches = LAUNCHERS.test(basename(program));
    this.from = launches ? null : fileEnd();
    this.take = launches ? (bytes) => this.add(Buffer.from(bytes)) : null;
  }

  /** The beginning and the end of the output; '' where it is not known. */
  get text(): string {
    if (this.from !== null) this.read(this.from);
    return Buffer.concat([...this.begin, ...this.end]).toString('utf8');
  }

  private add(bytes: Buffer): void {
    const room = Math.min(bytes.length, MOST_BYTES - this.begun);
    if (room > 0) this.begin.push(bytes.subarray(0, room));
    this.begun += Math.max(0, room);
    const rest = bytes.subarray(Math.max(0, room));
    if (rest.length === 0) return;
    this.end.push(rest);
    this.ended += rest.length;
    while (this.ended - this.end[0].length >= MOST_BYTES)
      this.ended -= this.end.shift()?.length ?? 0;
  }

  private read(from: number): void {
    try {
      const file = openSync('/proc/self/fd/1', 'r');
      const { size } = fstatSync(file);
      const pieces = [from, Math.max(from + MOST_BYTES, size - MOST_BYTES)];
      for (const at of pieces) {
        const bytes = Buffer.alloc(Math.max(0, Math.min(MOST_BYTES, size - at)));
        this.add(bytes.subarray(0, readSync(file, bytes, 0, bytes.length, at)));
      }
      closeSync(file);
    } catch {
      // The file may be writable, but not readable.
    }
  }
}
