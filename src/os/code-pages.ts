/** Pages of programs' code that only the start of a process needed (Linux, through libc). Elsewhere: nothing. */
import { readFileSync } from 'node:fs';
import { koffi } from './koffi.ts';

const MADV_DONTNEED = 4;

/** Stretches of code in files that this process has not changed, as /proc/self/smaps tells them: where, and how long. */
export function* codeOf(smaps: string): Generator<readonly [bigint, bigint]> {
  for (const block of smaps.split(/\n(?=[\da-f]+-[\da-f]+ )/)) {
    const found = /^([\da-f]+)-([\da-f]+) r-xp \S+ \S+ [1-9]\d* /.exec(block);
    // What was changed is nowhere else.
    if (found === null || !/^Private_Dirty:\s+0 kB$/m.test(block)) continue;
    const [from, to] = [BigInt(`0x${found[1]}`), BigInt(`0x${found[2]}`)];
    yield [from, to - from];
  }
}

/**
 * Lets go of the code that lies in memory: what is needed comes back from the files as it is run. A third of what a process of Node that
 * mostly waits has resident is code that compiles and starts. Source: madvise(2).
 */
export function releaseCode(): void {
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
}
