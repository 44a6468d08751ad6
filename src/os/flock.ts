/** Advisory locks of whole files (Linux and other Unix systems, through libc). Other systems have none. */
import { koffi } from './koffi.ts';

type Flock = (file: number, operation: number) => number;

/** Source: <sys/file.h>. */
const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;

let flock: Flock | null | undefined;

function load(): Flock | null {
  if (flock !== undefined) return flock;
  flock = null;
  if (process.platform === 'win32') return flock;
  try {
    const ffi = koffi();
    flock = ffi.load(null).func('int flock(int fd, int operation)');
  } catch {
    // No FFI on this platform: callers then lock in another way.
  }
  return flock;
}

/** Whether files can be locked on this platform. */
export function canLock(): boolean {
  return load() !== null;
}

/**
 * Locks the open file `file` for this process alone, without waiting; returns whether it did. The kernel releases the lock
 * when the process ends, however it ends. Source: flock(2).
 */
export function tryLock(file: number): boolean {
  return load()?.(file, LOCK_EX | LOCK_NB) === 0;
}

/** Releases a lock. Source: flock(2). */
export function unlock(file: number): void {
  load()?.(file, LOCK_UN);
}
