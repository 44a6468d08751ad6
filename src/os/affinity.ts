/** Threads and CPUs on Linux: which thread this is, where it may run. Elsewhere: nothing. */
import { readFileSync, readlinkSync } from 'node:fs';
import { koffi } from './koffi.ts';

interface LibC {
  sched_setaffinity(pid: number, size: number, mask: Uint8Array): number;
}

let libc: LibC | null | undefined;

function load(): LibC | null {
  if (libc !== undefined) return libc;
  libc = null;
  if (process.platform !== 'linux') return libc;
  try {
    const ffi = koffi();
    const lib = ffi.load(null);
    libc = {
      sched_setaffinity: lib.func('int sched_setaffinity(int, size_t, const uint8_t *)'),
    };
  } catch {
    // No FFI on this platform: the run continues, unpinned.
  }
  return libc;
}

/** CPUs on which the calling thread may run, ascending; empty if not known. Source: proc(5). */
export function allowedCpus(): number[] {
  let status: string;
  try {
    status = readFileSync('/proc/thread-self/status', 'utf8');
  } catch {
    return [];
  }
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? '';
  return list.split(',').flatMap((part) => {
    const [from, to] = part.split('-').map(Number);
    return Array.from({ length: (to ?? from) - from + 1 }, (_, k) => from + k);
  });
}

/** Kernel id of the calling thread; null if not known. Source: proc(5). Avoids foreign functions, which take 10 ms to load. */
export function threadId(): number | null {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').pop());
  } catch {
    return null;
  }
}

/** Binds a thread of this process, the calling one where none is named, to one CPU; whether that worked. Source: sched_setaffinity(2). */
export function pinThread(cpu: number, thread = 0): boolean {
  const mask = new Uint8Array(Math.max(128, (cpu >> 3) + 1));
  mask[cpu >> 3] = 1 << (cpu & 7);
  return load()?.sched_setaffinity(thread, mask.length, mask) === 0;
}
