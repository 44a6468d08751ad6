/**
 * System calls for a thread that wakes now and then, straight through libc. Node's own calls pass through many layers, whose
 * code is no longer in the processor's caches each time: a direct wait and read cost a third. Without FFI, Node's calls are used.
 */
import { fstatSync, readSync } from 'node:fs';
import { SECOND_NS } from '../model/units.ts';
import { koffi } from './koffi.ts';

interface LibC {
  clock_nanosleep(clock: number, flags: number, until: Int32Array, left: null): number;
  pread(file: number, bytes: Uint8Array, length: number, position: number): number;
  lseek(file: number, offset: number, from: number): number;
}

const CLOCK_MONOTONIC = 1;
const TIMER_ABSTIME = 1;
const SEEK_END = 2;

let libc: LibC | null | undefined;

function load(): LibC | null {
  if (libc !== undefined) return libc;
  libc = null;
  // On other systems a timespec looks different, or the clock has another number.
  if (process.platform !== 'linux' || !/^(x64|arm64)$/.test(process.arch)) return libc;
  try {
    const lib = koffi().load(null);
    libc = {
      clock_nanosleep: lib.func('int clock_nanosleep(int, int, void *, void *)'),
      pread: lib.func('int64_t pread(int, void *, size_t, int64_t)'),
      lseek: lib.func('int64_t lseek(int, int64_t, int)'),
    };
  } catch {
    // No FFI on this platform.
  }
  return libc;
}

/** struct timespec: two 64-bit numbers. */
const until = new Int32Array(4);

/**
 * Sleeps until `nanoseconds` of CLOCK_MONOTONIC, or until a signal. Returns false at once if that is impossible. Nothing but time
 * ends the sleep, so keep it short. Source: clock_nanosleep(2).
 */
export function sleepUntil(nanoseconds: number): boolean {
  const c = load();
  if (c === null) return false;
  const seconds = Math.floor(nanoseconds / SECOND_NS);
  until[0] = seconds;
  until[2] = nanoseconds - seconds * SECOND_NS;
  c.clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, until, null);
  return true;
}

/** Like `readSync`, to the beginning of `bytes`. @throws the system's error */
export function readAt(file: number, bytes: Uint8Array, length: number, position: number): number {
  const got = load()?.pread(file, bytes, length, position) ?? -1;
  // Node's call gives the error's text.
  return got >= 0 ? got : readSync(file, bytes, 0, length, position);
}

/** Reads bytes of an open file and moves its offset. */
export function sizeOf(file: number): number {
  const size = load()?.lseek(file, 0, SEEK_END) ?? -1;
  return size >= 0 ? size : fstatSync(file).size;
}
