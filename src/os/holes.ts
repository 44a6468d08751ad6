/** Holes of files: stretches that nobody ever wrote, which read as zeros (Linux, through libc). Elsewhere: none are known. */
import { koffi } from './koffi.ts';

/** Bytes of a file from `from` to `to`, the last excluded. */
export interface Hole {
  readonly from: number;
  readonly to: number;
}

type Seek = (file: number, offset: number, whence: number) => number | bigint;

/** Source: <unistd.h>, lseek(2). */
const SEEK_DATA = 3;
const SEEK_HOLE = 4;

let seek: Seek | null | undefined;

function load(): Seek | null {
  if (seek !== undefined) return seek;
  seek = null;
  if (process.platform !== 'linux') return seek;
  try {
    seek = koffi().load(null).func('int64_t lseek(int, int64_t, int)');
  } catch {
    // No FFI on this platform: holes are read as zeros.
  }
  return seek;
}

/**
 * The first hole of an open file that ends after `position`; null where there is none. It moves the descriptor's own
 * place, which no reader that says where it reads knows of.
 */
export function nextHole(file: number, position: number, size: number): Hole | null {
  const call = load();
  if (call === null) return null;
  const from = Number(call(file, position, SEEK_HOLE));
  // The end of a file counts as a hole.
  if (from < 0 || from >= size) return null;
  const to = Number(call(file, from, SEEK_DATA));
  return { from, to: to < 0 ? size : to };
}
