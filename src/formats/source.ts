/** Files as sources of bytes; bytes in memory too. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type FileSource, FormatError } from './format.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'it may not be read by this user',
  EMFILE: 'too many files are open: raise the limit (ulimit -n)',
  ELOOP: 'a loop of symbolic links',
};

/** @throws FormatError that names the file and says why it cannot be opened */
function opened(path: string): number {
  try {
    // A named pipe that nobody writes to must not stop us.
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new FormatError({ path, offset: -1, what: REASONS[code] ?? message, skipped: 0 });
  }
}

class DiskFile implements FileSource {
  readonly path: string;
  readonly size: number;
  readonly #fd: number;

  constructor(path: string) {
    this.path = path;
    this.#fd = opened(path);
    const stat = fstatSync(this.#fd);
    if (!stat.isFile()) {
      closeSync(this.#fd);
      const what = stat.isDirectory()
        ? 'it is a folder, not a file'
        : stat.isFIFO()
          ? 'it is a pipe, not a file'
          : 'it is a device, not a file';
      throw new FormatError({ path, offset: -1, what, skipped: 0 });
    }
    this.size = stat.size;
  }

  read(position: number, into: Uint8Array): number {
    let got = 0;
    while (got < into.length) {
      const n = readSync(this.#fd, into, got, into.length - got, position + got);
      if (n === 0) break;
      got += n;
    }
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
    closeSync(this.#fd);
  }
}

/** Opens a file. @throws FormatError for one that cannot be opened, and for what is no file */
export function openFile(path: string): FileSource {
  return new DiskFile(path);
}

/** Bytes as a file, with other files beside it by name. */
export function bytesSource(
  path: string,
  bytes: Uint8Array,
  beside: Readonly<Record<string, Uint8Array | string>> = {},
): FileSource {
  return {
    path,
    size: bytes.length,
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
