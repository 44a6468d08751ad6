/** Recordings drawn at random: runs well and ill, of which some parts were not measured. */
import { join } from 'node:path';
import type { Batch } from '../../src/model/metric.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { SIM_RUN, SIM_THREAD } from '../../src/model/schemas/sim.ts';
import {
  batchOf,
  framesOf,
  NOON,
  placeOf,
  rawStats,
  recordingOf,
  type Values,
  writeFolder,
} from '../query/support/recording.ts';

/** Times by activity. */
const TIMES = [
  ...['network_read_time', 'network_other_time', 'gvt_time', 'fossil_collect_time'],
  ...['events_aborted_time', 'events_processed_time', 'priority_queue_time', 'rollback_time'],
  'cancel_q_time',
];

export class Draws {
  private state: number;

  constructor(seed: number) {
    this.state = Math.imul(seed + 1, 0x9e3779b9) | 1;
  }

  /** 0 to 1. */
  next(): number {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.state = x;
    return (x >>> 0) / 2 ** 32;
  }

  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  one<T>(all: readonly T[]): T {
    return all[this.whole(0, all.length - 1)];
  }

  is(chance: number): boolean {
    return this.next() < chance;
  }
}

function samples(draws: Draws, pes: number, moments: readonly number[], mode: string): Batch {
  // What most runs are like, and what one PE is like.
  const usual = { undone: draws.one([0, 0.05, 0.3, 0.7]), rate: draws.one([200, 5000, 1e5]) };
  const shares = TIMES.map(() => draws.next() ** 3);
  const all = shares.reduce((sum, one) => sum + one, 0) / draws.one([0.2, 0.7, 0.95]);
  const odd = draws.whole(0, pes);
  const withTimes = draws.is(0.8);
  const noted = TIMES.map(() => draws.is(0.95));
  const gvts = draws.one([1, 20, 1000]);
  return batchOf(
    ROSS_PE,
    moments.flatMap((real_time, k) =>
      Array.from({ length: pes }, (_, pe_id): Values => {
        const seconds = real_time - (moments[k - 1] ?? 0);
        const isOdd = pe_id === odd;
        const events_processed = Math.round(
          usual.rate * seconds * (isOdd ? 0.3 : 1) * (0.8 + 0.4 * draws.next()),
        );
        const undone = Math.min(1, usual.undone * (isOdd ? 1.5 : 1));
        const events_rolled_back = Math.floor(events_processed * undone * draws.next());
        const total_rollbacks = Math.ceil(events_rolled_back / draws.whole(1, 20));
        const times = TIMES.flatMap((key, n) =>
          withTimes && noted[n] ? [[key, (seconds * shares[n]) / all] as const] : [],
        );
        return {
          ...{ pe_id, mode, real_time, virtual_time: k + 1, gvt: k + 1, gvt_index: k },
          ...{ events_processed, events_rolled_back, total_rollbacks },
          secondary_rollbacks: Math.floor(total_rollbacks * draws.next()),
          ...{ num_gvts: gvts * (k + 1), priority_queue_size: draws.whole(0, 5000) },
          ...{ network_sends: draws.whole(0, events_processed), network_receives: 10 * k },
          ...Object.fromEntries(times),
        };
      }),
    ),
  );
}

function threads(draws: Draws, pes: number, moments: readonly number[]): Batch {
  const waits = draws.one([0, 0.02, 0.4]);
  return batchOf(
    SIM_THREAD,
    moments.flatMap((real_time) =>
      Array.from({ length: pes }, (_, pe_id): Values => {
        const ns = (share: number) => BigInt(Math.round(real_time * share * 1e9));
        return {
          ...{ pe_id, real_time, cpu_time: ns(0.9 - waits), run_queue_wait: ns(waits) },
          timeslices: 1n,
        };
      }),
    ),
  );
}

function settings(draws: Draws, pes: number, end: number): Batch {
  return batchOf(SIM_RUN, [
    {
      ...{ real_time: end, model: 'phold', synchroniser: 'optimistic', pes, wall: end },
      ...{ cpus: draws.whole(1, 4), lps: 64 * pes, nkp: draws.one([1, 16, 64]) },
      ...{ batch: draws.one([1, 16, 512]), gvt_interval: draws.one([1, 16, 1024]) },
      ...{ end: 100, lookahead: draws.one([0, 0.1]), max_memory: 2 ** 28, event_bytes: 80 },
      ...(draws.is(0.3) && { max_opt_lookahead: draws.one([0.01, 1000]) }),
      gvts: 1000,
    },
  ]);
}

function cpus(draws: Draws, pes: number, end: number): string {
  const shares = [draws.next(), draws.next() / 5, draws.next() / 3];
  const groups = Array.from({ length: draws.whole(2, 6) }, (_, k) => ({
    time: NOON + ((k + 1) * end) / 6,
    cpus: Array.from({ length: pes }, () => {
      const cs = (k + 1) * 100 * (end / 6);
      const [user, system, steal] = shares.map((share) => Math.round((cs * share) / 2));
      return { user, system, steal, idle: Math.max(0, Math.round(cs) - user - system - steal) };
    }),
  }));
  return rawStats('h1', groups);
}

/** Writes the recording of a seed below `folder`; returns its path. */
export function randomRecording(folder: string, seed: number): string {
  const draws = new Draws(seed);
  const pes = draws.whole(1, 4);
  const end = draws.one([0.4, 6, 40]);
  const count = draws.whole(2, 40);
  const moments = Array.from({ length: count }, () => draws.next() * end).sort((a, b) => a - b);
  const batches = [
    samples(draws, pes, moments, 'gvt'),
    ...(draws.is(0.3) ? [samples(draws, pes, moments.slice(0, -1), 'rt')] : []),
    ...(draws.is(0.7) ? [threads(draws, pes, moments)] : []),
    ...(draws.is(0.7) ? [settings(draws, pes, end)] : []),
  ];
  const raw: Record<string, string> = draws.is(0.5) ? { 'raw/h1/1': cpus(draws, pes, end) } : {};
  const sim = recordingOf().sources;
  return writeFolder(join(folder, `random-${seed}.tri`), {
    'recording.json': recordingOf({
      sources: [
        ...sim,
        ...Object.keys(raw).map((path) => ({
          ...{ name: 'node', files: [{ path, format: 'tacc' }] },
          ...{ zero: sim[0].zero, droppedBytes: 0 },
        })),
      ],
      pes: Array.from({ length: pes }, (_, pe) => placeOf({ pe, cpu: pe })),
    }),
    'extra.frames': framesOf(...batches),
    ...raw,
  });
}
