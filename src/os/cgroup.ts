/**
 * CPU quotas and weights of control groups, version 1 and 2, and stalls for want of a resource. Source: the kernel's
 * Documentation/admin-guide/cgroup-v2, scheduler/sched-bwc, accounting/psi.
 */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { textOf as anyTextOf } from './proc-file.ts';
import { countOf } from './proc-lines.ts';

export interface Quota {
  readonly cgroup: string;
  /** CPUs that it may use. */
  readonly cpus: number;
  readonly periods: bigint;
  readonly throttledPeriods: bigint;
  /** Nanoseconds. */
  readonly throttled: bigint;
}

/** Folders below which control groups lie, by the controllers of a line of /proc/PID/cgroup. */
const FOLDERS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^$/, ['', 'unified']],
  [/(^|,)cpu(,|$)/, ['cpu', 'cpu,cpuacct']],
  [/^memory$/, ['memory']],
];

/** Files by which a folder of these controllers is known. */
const WITNESSES = ['cpu.stat', 'memory.stat'];

/** Files that were not there: version 1 and 2 have different ones, and to look for those of the other costs more than to read. */
const absent = new Set<string>();
const MOST_ABSENT = 10_000;

function textOf(path: string): string | null {
  if (absent.has(path)) return null;
  const text = anyTextOf(path);
  if (text === null && absent.size < MOST_ABSENT && existsSync(dirname(path))) absent.add(path);
  return text;
}

/** Folders of the control groups that may limit a process, its own first; none where it cannot be told. */
export function cgroupFolders(process: string, root: string): readonly string[] {
  const text = anyTextOf(join(process, 'cgroup')) ?? '';
  const key = `${root}\n${text}`;
  const known = foldersOf.get(key);
  if (known !== undefined) return known;
  if (foldersOf.size >= MOST_ABSENT) foldersOf.clear();
  const folders = foldersIn(text, root);
  foldersOf.set(key, folders);
  return folders;
}

/** By root and text: most processes of a command are in the same groups. */
const foldersOf = new Map<string, readonly string[]>();

function foldersIn(text: string, root: string): string[] {
  const found = new Set<string>();
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path === undefined || path.split('/').includes('..')) continue;
    const below = FOLDERS.find(([those]) => those.test(controllers))?.[1] ?? [];
    for (const folder of below) {
      const top = resolve(join(root, folder));
      for (let at = resolve(join(top, path)); at.startsWith(top); at = dirname(at)) {
        if (WITNESSES.some((file) => existsSync(join(at, file)))) found.add(at);
      }
    }
  }
  return [...found];
}

/** CPUs that it may use; null where there is no limit. */
function limitOf(folder: string): number | null {
  const both = /^(\d+) (\d+)/.exec(textOf(join(folder, 'cpu.max')) ?? '');
  if (both !== null) return Number(both[1]) / Number(both[2]);
  const quota = Number(textOf(join(folder, 'cpu.cfs_quota_us')) ?? -1);
  const period = Number(textOf(join(folder, 'cpu.cfs_period_us')) ?? 0);
  return quota > 0 && period > 0 ? quota / period : null;
}

/** What a control group's quota did; null where it has none, or the kernel does not count it. */
export function quotaOf(folder: string, root: string): Quota | null {
  const cpus = limitOf(folder);
  const text = textOf(join(folder, 'cpu.stat'));
  if (cpus === null || text === null) return null;
  const periods = countOf(text, 'nr_periods');
  const throttledPeriods = countOf(text, 'nr_throttled');
  const microseconds = countOf(text, 'throttled_usec');
  const throttled = microseconds === null ? countOf(text, 'throttled_time') : 1000n * microseconds;
  if (periods === null || throttledPeriods === null || throttled === null) return null;
  return { cgroup: folder.slice(root.length) || '/', cpus, periods, throttledPeriods, throttled };
}

export interface MemoryLimit {
  readonly cgroup: string;
  /** Bytes. */
  readonly limit: bigint;
  /** Bytes, without the page cache, which is dropped when memory is short. */
  readonly used: bigint;
  /** Bytes, with the page cache: pages are dropped when this reaches the limit. */
  readonly charged: bigint;
  /** Processes that the kernel killed because the limit was reached. */
  readonly killed: bigint;
  /** Pages read again after they had been dropped to make room; null if the kernel does not count them (before Linux 5.9). */
  readonly refaulted: bigint | null;
}

/** From here on a number in a limit’s file means that there is none (version 1: the largest multiple of a page). */
const UNLIMITED = 2n ** 60n;

/** How much memory a control group uses, and its limit; null where it has no limit. */
export function memoryLimitOf(folder: string, root: string): MemoryLimit | null {
  const number = (...names: readonly string[]) => {
    const texts = names.map((name) => /^\d+/.exec(textOf(join(folder, name)) ?? '')?.[0]);
    const digits = texts.find((text) => text !== undefined);
    return digits === undefined ? null : BigInt(digits);
  };
  const limit = number('memory.max', 'memory.limit_in_bytes');
  if (limit === null || limit >= UNLIMITED) return null;
  const all = number('memory.current', 'memory.usage_in_bytes');
  const stat = textOf(join(folder, 'memory.stat')) ?? '';
  const statOf = (key: string) => countOf(stat, `total_${key}`) ?? countOf(stat, key);
  const files = ['inactive_file', 'active_file'].map(statOf);
  const refaults = ['workingset_refault_anon', 'workingset_refault_file'].map(statOf);
  if (all === null || files[0] === null || files[1] === null) return null;
  const kept = files[0] + files[1];
  const events = ['memory.events', 'memory.oom_control'].map((name) => textOf(join(folder, name)));
  const killed = countOf(events.find((text) => text !== null) ?? '', 'oom_kill') ?? 0n;
  return {
    cgroup: folder.slice(root.length) || '/',
    limit,
    used: all > kept ? all - kept : 0n,
    charged: all,
    killed,
    refaulted: refaults[0] === null || refaults[1] === null ? null : refaults[0] + refaults[1],
  };
}

/** Weight of a control group by default, in the numbers of version 2. */
export const USUAL_WEIGHT = 100;
/** The same in `cpu.shares` of version 1. */
const USUAL_SHARES = 1024;

/** Its weight where several groups want the same CPUs, in the numbers of version 2; null where it cannot be read. */
export function weightOf(folder: string): number | null {
  const weight = /^\d+/.exec(textOf(join(folder, 'cpu.weight')) ?? '')?.[0];
  if (weight !== undefined) return Number(weight);
  const shares = /^\d+/.exec(textOf(join(folder, 'cpu.shares')) ?? '')?.[0];
  return shares === undefined ? null : (Number(shares) * USUAL_WEIGHT) / USUAL_SHARES;
}

/** Resources whose want the kernel tells. */
export const RESOURCES = ['cpu', 'memory', 'io'] as const;

/** Microseconds since the start in which some, and in which all, threads that wanted to run stood still because of a lack of a resource. */
export interface Stalls {
  readonly some: bigint;
  readonly full: bigint;
}

/** Of a file of `/proc/pressure`; null where the kernel does not tell. */
export function stallsOf(text: string | null): Stalls | null {
  const total = (which: string) =>
    new RegExp(`^${which} .*total=(\\d+)`, 'm').exec(text ?? '')?.[1] ?? null;
  const some = total('some');
  return some === null ? null : { some: BigInt(some), full: BigInt(total('full') ?? 0) };
}
