/** Holes of files: stretches that were never written, which read as zeros (Linux, through libc). Other systems report none. */
import { koffi } from './koffi.ts';

/** Bytes of a file from `from` up to but not including `to`. */
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
 * The first hole of an open file that ends after `position`; null if there is none. The call moves the descriptor's file
 * offset, which does not matter to readers that pass a position.
 */
export function nextHole(file: number, position: number, size: number): Hole | null {
  const call = load();
  if (call === null) return null;
  const from = Number(call(file, position, SEEK_HOLE));
  // lseek reports the end of the file as a hole.
  if (from < 0 || from >= size) return null;
  const to = Number(call(file, from, SEEK_DATA));
  return { from, to: to < 0 ? size : to };
}
