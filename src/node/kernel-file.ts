/**
 * A file of /proc or /sys that is read again and again as a whole; its text is made when it is read. The descriptor stays
 * open, because opening costs more than reading.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

/** Flags for opening files: without waiting for a pipe's writer, or with. */
export const DIRECT = constants.O_RDONLY | constants.O_NONBLOCK;
export const WAITING = constants.O_RDONLY;

/** More than a page, which is the most that files of /sys have. */
const START_BYTES = 16 * 1024;
/** No kernel has longer texts, but a recorded tree may. */
const LONGEST_BYTES = 64 * 1024 * 1024;

/**
 * Opens a file of the kernel. In a recorded tree there could be a pipe or a device instead, which would never end or cannot be
 * read twice. If opening may wait, another process enforces a deadline.
 * @throws Error if it cannot be opened, or is not a file
 */
export function openKernel(path: string, flags: number): number {
  const file = openSync(path, flags);
  if (flags === WAITING) return file;
  const stats = fstatSync(file);
  if (stats.isFile() && stats.size <= LONGEST_BYTES) return file;
  closeSync(file);
  throw new Error(stats.isFile() ? tooLong(path) : `${path} is not a file`);
}

const tooLong = (path: string) => `${path} is longer than ${LONGEST_BYTES} bytes`;

/** Descriptors that a tree may always keep, and the most that it keeps; further files are opened for each read. */
const [FEWEST_KEPT, MOST_KEPT] = [200, 4096];

/** Number of descriptors that a tree may keep: half of what the process may have. */
function keptLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    const [, most] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    return Math.min(MOST_KEPT, Math.max(FEWEST_KEPT, Math.floor(Number(most) / 2)));
  } catch {
    return FEWEST_KEPT;
  }
}

/** What the files of a tree share. */
export class KeptFiles {
  bytes = Buffer.allocUnsafeSlow(START_BYTES);
  private count = 0;
  private most = FEWEST_KEPT;
  private isFinal = false;

  /** Whether one more descriptor may be kept; counts it if so. */
  keep(): boolean {
    if (this.count >= this.most && !this.isFinal) {
      this.most = keptLimit();
      this.isFinal = true;
    }
    if (this.count >= this.most) return false;
    this.count++;
    return true;
  }

  drop(): void {
    this.count--;
  }
}

export class KernelFile {
  readonly path: string;
  private readonly flags: number;
  private readonly kept: KeptFiles;
  /** -1 if it is opened for each read. */
  private file: number;
  /** A buffer of its own; null if it reads into the shared one. */
  private own: Buffer | null = null;
  /** Length of the text in this collection; -1 if it is still to be read. */
  private known = -1;

  /** @throws Error if it cannot be opened */
  constructor(path: string, kept: KeptFiles, flags = DIRECT) {
    this.path = path;
    this.flags = flags;
    this.kept = kept;
    this.file = openKernel(path, flags);
    if (!kept.keep()) {
      closeSync(this.file);
      this.file = -1;
    }
  }

  /** The file's current text is `bytes[0, read())`; valid until the next file of the tree is read. */
  get bytes(): Buffer {
    return this.own ?? this.kept.bytes;
  }

  /** From now on the text of the first read after `forgetText` is kept until the next `forgetText`. */
  keepText(): void {
    this.own = Buffer.allocUnsafeSlow(START_BYTES);
  }

  forgetText(): void {
    this.known = -1;
  }

  /** Reads it again. Returns the length in bytes. @throws Error if the file has vanished */
  read(): number {
    if (this.known >= 0) return this.known;
    const length = this.opened(readAll, this);
    if (this.own !== null) this.known = length;
    return length;
  }

  /**
   * Like `read`, with one system call: for files whose text comes in one piece, such as those of /sys. A text
   * longer than a page may be cut.
   */
  readPiece(): number {
    return this.opened(readPiece, this);
  }

  private opened(how: (file: number, self: KernelFile) => number, self: KernelFile): number {
    if (this.file >= 0) return how(this.file, self);
    const file = openKernel(this.path, this.flags);
    try {
      return how(file, self);
    } finally {
      closeSync(file);
    }
  }

  /** Doubles the room; the first `used` bytes are kept. */
  grow(used: number): void {
    if (used >= LONGEST_BYTES) throw new Error(tooLong(this.path));
    const larger = Buffer.allocUnsafeSlow(2 * this.bytes.length);
    this.bytes.copy(larger, 0, 0, used);
    if (this.own !== null) this.own = larger;
    else this.kept.bytes = larger;
  }

  close(): void {
    if (this.file < 0) return;
    closeSync(this.file);
    this.kept.drop();
    this.file = -1;
  }
}

function readAll(file: number, self: KernelFile): number {
  for (let used = 0; ; ) {
    const bytes = self.bytes;
    const got = readSync(file, bytes, used, bytes.length - used, used);
    used += got;
    if (got === 0) return used;
    if (used === bytes.length) self.grow(used);
  }
}

function readPiece(file: number, self: KernelFile): number {
  const bytes = self.bytes;
  return readSync(file, bytes, 0, bytes.length, 0);
}
