/** Recordings of commands whose threads do so much, for three seconds at ten samples a second. */
import {
  PROCESS,
  PROCESS_IO,
  PROCESS_LIMIT,
  PROCESS_QUOTA,
  PROCESS_REFAULT,
  PROCESS_THREAD,
} from '../../../src/model/schemas/process.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  writeFolder,
} from '../../query/support/recording.ts';
import { newPath } from './findings.ts';

const HOST = 'h1';
const SECONDS = [0, 1, 2, 3];

export interface ThreadDoes {
  readonly rank?: number;
  /** Shares of its time. */
  readonly running?: number;
  readonly waiting?: number;
  /** Of 30 samples. */
  readonly blocked?: number;
  /** CPU at sample k. */
  readonly cpu?: (k: number) => number;
  /** A second. */
  readonly minor?: number;
  readonly major?: number;
}

export interface Machine {
  /** Samples at ten a second. */
  readonly samples?: number;
  /** Share of CPU 0 that a hypervisor steals. */
  readonly stolen?: number;
  /** Share of CPU 0 that is used. */
  readonly used?: number;
  /** Bytes that a control group has, with the page cache, of the 1000 that it may have. */
  readonly charged?: number;
  /** Bytes a second that process 100 reads from a device, and of these the pages that its control group had dropped before. */
  readonly reads?: { readonly bytes: number; readonly again: number };
  /** Throttled from second `from` on. */
  readonly quota?: { readonly throttled: number; readonly periods: number; readonly from?: number };
}

/** A second's total, `second` seconds after the first sample, as a counter has it. */
const total = (rate: number, second: number, unit: number) =>
  BigInt(Math.round(rate * second * unit));

export function command(all: readonly ThreadDoes[], machine: Machine = {}): string {
  const { samples = 31, stolen = 0, used = 0, quota, charged, reads } = machine;
  const times = Array.from({ length: samples }, (_, k) => k / 10);
  const threads = times.flatMap((t, k) =>
    all.map(
      ({ running = 0, waiting = 0, blocked = 0, cpu = () => 0, minor = 0, major = 0 }, n) => ({
        ...{ real_time: t, host: HOST, process_id: 100 + n, thread_id: 100 + n, name: `app${n}` },
        ...{ state: k > 0 && k <= blocked ? 'D' : 'R', cpu: cpu(k) },
        cpu_time: total(running, t, 1e9),
        run_queue_wait: total(waiting, t, 1e9),
        minor_faults: total(minor, t, 1),
        major_faults: total(major, t, 1),
      }),
    ),
  );
  const infos = all.map(({ rank }, n) => ({
    ...{ real_time: 0, host: HOST, process_id: 100 + n, name: `app${n}` },
    ...(rank !== undefined && { rank }),
  }));
  const quotas = SECONDS.map((t) => ({
    ...{
      real_time: t,
      host: HOST,
      cgroup: '/job',
      quota: 1.5,
      periods: Math.round((t * (quota?.periods ?? 0)) / 3),
    },
    throttled_periods: Math.round(
      (Math.max(0, t - (quota?.from ?? 0)) * (quota?.throttled ?? 0)) / (3 - (quota?.from ?? 0)),
    ),
    throttled_time: 1_000_000_000n * BigInt(t),
  }));
  const limits = SECONDS.map((t) => ({
    ...{ real_time: t, host: HOST, cgroup: '/job', limit: 1000n, used: 10n, killed: 0n },
    charged: BigInt(charged ?? 0),
  }));
  const refaults = SECONDS.map((t) => ({
    ...{ real_time: t, host: HOST, cgroup: '/job', refaulted: BigInt(t * (reads?.again ?? 0)) },
  }));
  const io = SECONDS.map((t) => ({
    real_time: t,
    host: HOST,
    process_id: 100,
    device_written: 3e6 * t,
    device_read: t * (reads?.bytes ?? 0),
  }));
  return writeFolder(newPath('.tri'), {
    'recording.json': recordingOf({ state: 'finished' }),
    'extra.frames': framesOf(
      batchOf(PROCESS, infos),
      batchOf(PROCESS_THREAD, threads),
      batchOf(PROCESS_IO, io),
      ...(quota === undefined ? [] : [batchOf(PROCESS_QUOTA, quotas)]),
      ...(charged === undefined && reads === undefined ? [] : [batchOf(PROCESS_LIMIT, limits)]),
      ...(reads === undefined ? [] : [batchOf(PROCESS_REFAULT, refaults)]),
    ),
    'node/h1/1': rawStats(
      HOST,
      SECONDS.map((s) => ({
        time: NOON + s,
        cpus: [
          {
            user: Math.round(100 * s * used),
            steal: Math.round(100 * s * stolen),
            idle: Math.round(100 * s * (1 - used - stolen)),
          },
          { idle: 100 * s },
        ],
      })),
    ),
  });
}

/** Every n-th sample on the other CPU than the one before. */
const every = (n: number) => (k: number) => Math.floor(k / n) % 2;

/** By rule: the recording beyond, and the one short. */
export const THREAD_PAIRS: readonly (readonly [string, () => string, () => string])[] = [
  [
    'waiting-threads',
    () => command([{ running: 0.5, waiting: 0.11 }]),
    () => command([{ running: 0.5, waiting: 0.09 }]),
  ],
  [
    'late-rank',
    () =>
      command([
        { rank: 0, waiting: 0.05 },
        { rank: 1, waiting: 0.11 },
      ]),
    () =>
      command([
        { rank: 0, waiting: 0.06 },
        { rank: 1, waiting: 0.11 },
      ]),
  ],
  [
    'cpu-quota',
    () => command([{}], { quota: { periods: 300, throttled: 18 } }),
    () => command([{}], { quota: { periods: 300, throttled: 12 } }),
  ],
  ['device-wait', () => command([{ blocked: 4 }]), () => command([{ blocked: 2 }])],
  [
    'migrating-threads',
    () => command([{ running: 0.6, cpu: every(4) }]),
    () => command([{ running: 0.6, cpu: every(6) }]),
  ],
  [
    'memory-stall',
    () => command([{ blocked: 4 }], { reads: { bytes: 40_960, again: 9 } }),
    () => command([{ blocked: 4 }], { reads: { bytes: 40_960, again: 7 } }),
  ],
  [
    'memory-stall',
    () => command([{ blocked: 10 }], { reads: { bytes: 40_960, again: 6 } }),
    () => command([{ blocked: 10 }], { reads: { bytes: 40_960, again: 4 } }),
  ],
  ['page-faults', () => command([{ minor: 101_000 }]), () => command([{ minor: 99_000 }])],
];
