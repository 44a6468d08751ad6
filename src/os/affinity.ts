/** Threads and CPUs on Linux, through libc: which thread this is, where it may run. Elsewhere: nothing. */
import { readFileSync } from 'node:fs';
import { koffi } from './koffi.ts';

interface LibC {
  gettid(): number;
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
      gettid: lib.func('int gettid()'),
      sched_setaffinity: lib.func('int sched_setaffinity(int, size_t, const uint8_t *)'),
    };
  } catch {
    // No FFI on this platform: the run goes on, unpinned.
  }
  return libc;
}

/** CPUs that the calling thread may run on, ascending; empty where that cannot be told. Source: proc(5). */
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

/** Kernel id of the calling thread; null where that cannot be told. Source: gettid(2). */
export function threadId(): number | null {
  return load()?.gettid() ?? null;
}

/** Binds the calling thread to one CPU; whether that worked. Source: sched_setaffinity(2). */
export function pinThread(cpu: number): boolean {
  const mask = new Uint8Array(Math.max(128, (cpu >> 3) + 1));
  mask[cpu >> 3] = 1 << (cpu & 7);
  return load()?.sched_setaffinity(0, mask.length, mask) === 0;
}
