/** Files as sources of bytes; bytes in memory too. */
import { closeSync, fstatSync, readSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { EXIT, TriscopeError } from '../model/error.ts';
import { type Hole, nextHole } from '../os/holes.ts';
import { openPlain, readReason } from '../os/plain-file.ts';
import { type FileSource, FormatError } from './format.ts';

/** Bytes of a file's beginning that are kept: who reads a file looks there several times to find out what it is. */
const HEAD_BYTES = 1 << 18;

const NOTHING = new Uint8Array(0);

/** Bytes that were read from files since the process started. */
export const bytesRead = { count: 0 };

/** A file that was removed and written anew while it was read: no damage, which readers pass over. */
class ReplacedError extends TriscopeError {
  override readonly name = 'ReplacedError';
  override readonly exitCode = EXIT.input;
}

/** Files that are open at once: an archive has more than a process may have. */
const MOST_OPEN = 256;

/** Files that are open now, the one that was read last at the end. */
const open = new Set<DiskFile>();

class DiskFile implements FileSource {
  readonly path: string;
  private descriptor: number | null;
  private _size: number;
  /** Bytes that it takes on the disk: fewer than its length where it has holes. */
  private allocated: number;
  private head: Uint8Array | null = null;
  /** Device and number of the file: another may get its name. */
  private readonly identity: string;

  constructor(path: string) {
    this.path = path;
    const { descriptor, stat, identity } = opened(path);
    this.descriptor = descriptor;
    this._size = stat.size;
    this.allocated = allocatedOf(stat);
    this.identity = identity;
    this.use();
  }

  /** The file's descriptor: opened again where others took its place. @throws ReplacedError */
  private get open(): number {
    if (this.descriptor === null) {
      const { descriptor, identity } = opened(this.path);
      this.descriptor = descriptor;
      if (identity !== this.identity) {
        throw new ReplacedError(`${this.path}: was replaced by another file after it was opened`);
      }
    }
    this.use();
    return this.descriptor;
  }

  private use(): void {
    open.delete(this);
    open.add(this);
    const [oldest] = open;
    if (open.size > MOST_OPEN) oldest.close();
  }

  get size(): number {
    return this._size;
  }

  refresh(): number {
    const stat = fstatSync(this.open);
    this._size = stat.size;
    this.allocated = allocatedOf(stat);
    return this._size;
  }

  hole(position: number): Hole | null {
    return this.allocated < this._size ? nextHole(this.open, position, this._size) : null;
  }

  forget(): void {
    this.head = NOTHING;
  }

  /** What came after `size` is not read: all who read the file see the same. */
  read(position: number, into: Uint8Array): number {
    const most = Math.max(0, Math.min(into.length, this._size - position));
    if (position === 0 && this.head === null) {
      const head = new Uint8Array(Math.min(HEAD_BYTES, this._size));
      this.head = head.subarray(0, this.fill(0, head, head.length));
    }
    const known = this.head?.subarray(position, position + most) ?? NOTHING;
    into.set(known);
    const rest = into.subarray(known.length);
    return known.length + this.fill(position + known.length, rest, most - known.length);
  }

  private fill(position: number, into: Uint8Array, most: number): number {
    let got = 0;
    const descriptor = most > 0 ? this.open : -1;
    while (got < most) {
      const n = readSync(descriptor, into, got, most - got, position + got);
      if (n === 0) break;
      got += n;
    }
    bytesRead.count += got;
    return got;
  }

  sibling(name: string): FileSource | null {
    try {
      return new DiskFile(join(dirname(this.path), name));
    } catch {
      return null;
    }
  }

  close(): void {
    open.delete(this);
    if (this.descriptor !== null) closeSync(this.descriptor);
    this.descriptor = null;
  }
}

/** @throws FormatError that names the file and says why it cannot be opened, or that it is none */
function opened(path: string): { descriptor: number; stat: Stats; identity: string } {
  for (;;) {
    try {
      const { descriptor, stat } = openPlain(path);
      return { descriptor, stat, identity: `${stat.dev} ${stat.ino}` };
    } catch (error) {
      const [oldest] = open;
      if ((error as NodeJS.ErrnoException).code !== 'EMFILE' || oldest === undefined) {
        throw new FormatError({ path, offset: -1, what: readReason(error), skipped: 0 });
      }
      // This process may have fewer: the one that was read longest ago gives its place.
      oldest.close();
    }
  }
}

/** Bytes of a block as stat(2) counts them. */
const BLOCK_BYTES = 512;
const allocatedOf = ({ blocks }: Stats): number => BLOCK_BYTES * blocks;

/**
 * Opens a file. @throws FormatError for one that cannot be opened, and for what is no file
 * @example
 * ```ts
 * import { openFile } from 'triscope/formats';
 *
 * const source = openFile('geopm.report');
 * const head = new Uint8Array(64);
 * source.read(0, head);
 * source.close();
 * ```
 */
export function openFile(path: string): FileSource {
  return new DiskFile(path);
}

/**
 * Bytes as a file, with other files beside it by name.
 * @example
 * ```ts
 * import { bytesSource, identify } from 'triscope/formats';
 *
 * const source = bytesSource('pasted.report', new TextEncoder().encode('GEOPM Version: 3.1.0\n'));
 * console.log(identify(source)?.format.name);
 * ```
 */
export function bytesSource(
  path: string,
  bytes: Uint8Array,
  beside: Readonly<Record<string, Uint8Array | string>> = {},
): FileSource {
  return {
    path,
    size: bytes.length,
    refresh: () => bytes.length,
    forget() {},
    read(position, into) {
      const part = bytes.subarray(position, position + into.length);
      into.set(part);
      return part.length;
    },
    sibling(name) {
      const other = beside[name];
      if (other === undefined) return null;
      const content = typeof other === 'string' ? new TextEncoder().encode(other) : other;
      return bytesSource(join(dirname(path), name), content, beside);
    },
    close() {},
  };
}

/** Bytes that come piece by piece, as a file that grows: what has been read of it is let go of. */
export class ArrivingBytes implements FileSource {
  readonly path: string;
  size = 0;
  private arrived: { readonly at: number; readonly bytes: Uint8Array }[] = [];

  constructor(path: string) {
    this.path = path;
  }

  push(bytes: Uint8Array): void {
    this.arrived.push({ at: this.size, bytes });
    this.size += bytes.length;
  }

  refresh(): number {
    return this.size;
  }

  read(position: number, into: Uint8Array): number {
    if (position < (this.arrived[0]?.at ?? this.size)) return 0;
    this.arrived = this.arrived.filter(({ at, bytes }) => at + bytes.length > position);
    let got = 0;
    for (const { at, bytes } of this.arrived) {
      const part = bytes.subarray(Math.max(0, position - at)).subarray(0, into.length - got);
      into.set(part, got);
      got += part.length;
    }
    return got;
  }

  forget(): void {}

  sibling(): null {
    return null;
  }

  close(): void {}
}

/** The first bytes of a file, at most so many, and no more are read. @throws FormatError as `openFile` */
export function beginningOf(path: string, most: number): Uint8Array {
  const { descriptor } = opened(path);
  try {
    const bytes = new Uint8Array(most);
    const got = readSync(descriptor, bytes, 0, most, 0);
    bytesRead.count += got;
    return bytes.subarray(0, got);
  } finally {
    closeSync(descriptor);
  }
}

/** The last bytes of a file, as far as it is known, at most so many. */
export function endOf(source: FileSource, most: number): Uint8Array {
  const bytes = new Uint8Array(Math.min(most, source.size));
  return bytes.subarray(0, source.read(source.size - bytes.length, bytes));
}

/** Whether a text ends with a whole line: more may follow. */
export const endsLine = (source: FileSource): boolean =>
  [10, undefined].includes(endOf(source, 1)[0]);

/** The whole of a small file beside another, as text; null where there is none or it is larger than `most`. */
export function textBeside(source: FileSource, name: string, most = 1 << 20): string | null {
  const other = source.sibling(name);
  if (other === null) return null;
  try {
    if (other.size > most) return null;
    const bytes = new Uint8Array(other.size);
    return new TextDecoder().decode(bytes.subarray(0, other.read(0, bytes)));
  } catch {
    return null;
  } finally {
    other.close();
  }
}
