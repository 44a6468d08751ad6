/** Memory that only the start of a process needed: pages of programs' code, and what was freed (Linux, through libc). Elsewhere: nothing. */
import { readFileSync } from 'node:fs';
import { koffi } from './koffi.ts';

const MADV_DONTNEED = 4;

/** Stretches of code and constants of files that this process has not changed, as /proc/self/smaps tells them: where, and how long. */
export function* codeOf(smaps: string): Generator<readonly [bigint, bigint]> {
  for (const block of smaps.split(/\n(?=[\da-f]+-[\da-f]+ )/)) {
    const found = /^([\da-f]+)-([\da-f]+) r-[x-]p \S+ \S+ [1-9]\d* /.exec(block);
    // What was changed is nowhere else.
    if (found === null || !/^Private_Dirty:\s+0 kB$/m.test(block)) continue;
    const [from, to] = [BigInt(`0x${found[1]}`), BigInt(`0x${found[2]}`)];
    yield [from, to - from];
  }
}

/**
 * Lets go of the code and the constants that lie in memory: what is needed comes back from the files as it is run. Half of what a process of Node that
 * mostly waits has resident is of its start. Gives back to the kernel what has been freed, too: V8 needs up to 30 MB
 * to compile a large script, which the C library keeps. Sources: madvise(2), malloc_trim(3).
 */
export function releaseStart(): void {
  if (process.platform !== 'linux') return;
  try {
    const libc = koffi().load(null);
    const madvise = libc.func('int madvise(uintptr_t, size_t, int)');
    for (const [from, length] of codeOf(readFileSync('/proc/self/smaps', 'latin1'))) {
      madvise(from, length, MADV_DONTNEED);
    }
    // Of glibc alone.
    libc.func('int malloc_trim(size_t)')(0);
  } catch {
    // Without FFI, or /proc: it stays.
  }
}
