/** A file of /proc or /sys that is read again at each tick, through a descriptor that stays open. */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { readAt } from '../os/raw-calls.ts';
import { parseDecimal } from './signals/digits.ts';

/** O_NONBLOCK: a named pipe in place of a file must not block. */
export const NON_BLOCKING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const START_BYTES = 4096;
const MOST_BYTES = 1 << 24;

export class PolledFile {
  /** Absolute path. */
  readonly path: string;
  /** The file's current text is `bytes[0, length)`; valid until the next tick. */
  bytes: Buffer = EMPTY;
  /** 0 while the file is absent: it has vanished, cannot be read, or is empty. */
  length = 0;
  /** Grows with each reading, so that whoever keeps parsed values knows when to parse again. */
  serial = 0;
  private file = -1;
  /** In a recorded tree of plain files, a file may be replaced by another of the same name. */
  private readonly replaceable: boolean;

  constructor(path: string, replaceable: boolean) {
    this.path = path;
    this.replaceable = replaceable;
  }

  /** Reads the file. A file that has vanished is looked for again at each tick. */
  poll(): void {
    this.serial++;
    this.length = 0;
    try {
      if (this.file >= 0 && this.replaceable && fstatSync(this.file).nlink === 0) this.close();
      if (this.file < 0) this.file = openSync(this.path, NON_BLOCKING);
      this.length = this.read();
    } catch {
      this.close();
    }
  }

  private read(): number {
    if (this.bytes.length === 0) this.bytes = Buffer.allocUnsafe(START_BYTES);
    for (let used = 0; ; ) {
      const rest = used === 0 ? this.bytes : this.bytes.subarray(used);
      const got = readAt(this.file, rest, rest.length, used);
      used += got;
      // What the kernel returns in one read is complete: /sys gives at most a page, and /proc fills the buffer.
      if (got === 0 || (used < START_BYTES && used < this.bytes.length)) return used;
      if (used === this.bytes.length) {
        if (used >= MOST_BYTES) return 0;
        const larger = Buffer.allocUnsafe(2 * used);
        this.bytes.copy(larger, 0, 0, used);
        this.bytes = larger;
      }
    }
  }

  /** The number that the text begins with; NaN if the file is absent or begins with no number. */
  number(): number {
    return parseDecimal(this.bytes, 0, this.length);
  }

  close(): void {
    if (this.file >= 0) closeSync(this.file);
    this.file = -1;
  }
}

const EMPTY = Buffer.alloc(0);
