/** Files that are read whole: pipes, to which perhaps nobody ever writes, and endless devices are refused. */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'it may not be read by this user',
  EISDIR: 'it is a folder, not a file',
  EMFILE: 'too many files are open: raise the limit (ulimit -n)',
  ENFILE: 'too many files are open on this machine',
  ELOOP: 'a loop of symbolic links',
};

/** A file system's error, or any other, in a few words. */
export function readReason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? message;
}

/** It is not a file; the message says what it is. */
class NoFileError extends Error {
  override readonly name = 'NoFileError';
}

/** Opens a file to read it. @throws NoFileError; the system's error */
export function openPlain(path: string): { readonly descriptor: number; readonly stat: Stats } {
  // A named pipe without a writer must not block us.
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const stat = fstatSync(descriptor);
  if (stat.isFile()) return { descriptor, stat };
  closeSync(descriptor);
  const what = stat.isDirectory() ? 'folder' : stat.isFIFO() ? 'pipe' : 'device';
  throw new NoFileError(`it is a ${what}, not a file`);
}

/** Bytes of a text that is read whole. */
const MOST_BYTES = 256 * 2 ** 20;

/** The file that a shell passes for `<(command)`: it has a writer. */
const HANDED = /^\/dev\/(fd\/\d+|stdin)$/;

/** A file's text. @throws NoFileError, also of one that is too large; the system's error */
export function readPlain(path: string, most = MOST_BYTES): string {
  if (path === '/dev/null') return '';
  if (HANDED.test(path)) return readFileSync(path, 'utf8');
  const { descriptor, stat } = openPlain(path);
  try {
    if (stat.size > most) throw new NoFileError(`it has more than ${most / 2 ** 20} MiB`);
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}
