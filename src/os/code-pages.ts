/** Gives memory back to the system: freed heap, and what only the start of a process needed (Linux, through libc). Elsewhere: nothing. */
import { readFileSync } from 'node:fs';
import { koffi } from './koffi.ts';

const MADV_DONTNEED = 4;

/** Address and length of code and constants of files that this process has not changed, from /proc/self/smaps. */
export function* codeOf(smaps: string): Generator<readonly [bigint, bigint]> {
  for (const block of smaps.split(/\n(?=[\da-f]+-[\da-f]+ )/)) {
    const found = /^([\da-f]+)-([\da-f]+) r-[x-]p \S+ \S+ [1-9]\d* /.exec(block);
    // Changed pages exist nowhere else.
    if (found === null || !/^Private_Dirty:\s+0 kB$/m.test(block)) continue;
    const [from, to] = [BigInt(`0x${found[1]}`), BigInt(`0x${found[2]}`)];
    yield [from, to - from];
  }
}

/**
 * Drops the code and the constants from memory; they are read again from the files when needed. They are half of the resident memory of a Node process that
 * mostly waits. It also returns freed heap: V8 needs up to 30 MB
 * to compile a large script. Source: madvise(2).
 */
export function releaseStart(): void {
  if (process.platform !== 'linux') return;
  try {
    const libc = koffi().load(null);
    const madvise = libc.func('int madvise(uintptr_t, size_t, int)');
    for (const [from, length] of codeOf(readFileSync('/proc/self/smaps', 'latin1'))) {
      madvise(from, length, MADV_DONTNEED);
    }
  } catch {
    // Without FFI, or /proc: it stays.
  }
  releaseFreed();
}

/** Returns heap to the kernel that the C library keeps after it was freed; a few milliseconds. Source: malloc_trim(3). */
export function releaseFreed(): void {
  if (process.platform !== 'linux') return;
  try {
    // Of glibc alone.
    koffi().load(null).func('int malloc_trim(size_t)')(0);
  } catch {
    // Without FFI, or another C library: it stays.
  }
}
