/** What each PE spent its time on. Runs in the server and in the page. */
import type { SeriesStore } from '../series/store.ts';
import { heatOf } from './heat.ts';

export interface Phase {
  readonly key: string;
  readonly label: string;
  readonly help: string;
  /** Time columns of `ross_pe` that it is the sum of. */
  readonly columns: readonly string[];
}

/** Parts of a PE's time that do not overlap, from useful to lost. */
export const PHASES: readonly Phase[] = [
  {
    key: 'handlers',
    label: 'event handlers',
    help: 'in the model’s event handlers (estimate from sampled turns)',
    columns: ['events_processed_time'],
  },
  {
    key: 'queue',
    label: 'queue',
    help: 'in the queue of pending events (estimate)',
    columns: ['priority_queue_time'],
  },
  {
    key: 'rollback',
    label: 'rollback',
    help: 'undoing events and cancelling what they sent (estimate)',
    columns: ['rollback_time', 'cancel_q_time', 'events_aborted_time'],
  },
  { key: 'gvt', label: 'GVT', help: 'computing GVT', columns: ['gvt_time'] },
  {
    key: 'fossil',
    label: 'fossil collection',
    help: 'committing events and reclaiming their memory',
    columns: ['fossil_collect_time'],
  },
  {
    key: 'read',
    label: 'network read',
    help: 'taking events from other PEs',
    columns: ['network_read_time'],
  },
  {
    key: 'other',
    label: 'network other',
    help: 'handing events to other PEs',
    columns: ['network_other_time'],
  },
];

export interface PeTime {
  readonly pe: number;
  /** Seconds of the window that were measured. */
  readonly seconds: number;
  /** By phase, in the order of `Breakdown.phases`: seconds. */
  readonly parts: readonly number[];
  /** Waiting, and what is not timed: never below 0, though estimates may sum to more than there was. */
  readonly rest: number;
}

export interface Breakdown {
  /** Keys of the phases that were measured. */
  readonly phases: readonly string[];
  readonly pes: readonly PeTime[];
}

const PER_CENT = 100;

/** Seconds by PE that a column counted in [from, to); null where it was not measured. */
function secondsOf(samples: SeriesStore, column: string, from: number, to: number) {
  const ask = { level: 'pe', metric: column, within: '', from, to, bins: 1 } as const;
  const heat = samples.table('ross_pe')?.keys.includes(column) ? heatOf(samples, ask) : null;
  return heat === null
    ? null
    : heat.rows.map((row, k) => ({
        pe: Number(row),
        measured: heat.seconds[k],
        spent: (heat.totals[k] / PER_CENT) * heat.seconds[k],
      }));
}

/** Null where no times of PEs were recorded. */
export function breakdownOf(samples: SeriesStore, from: number, to: number): Breakdown | null {
  const found = PHASES.flatMap(({ key, columns }) => {
    const parts = columns.flatMap((column) => {
      const one = secondsOf(samples, column, from, to);
      return one === null ? [] : [one];
    });
    return parts.length === 0 ? [] : [{ key, parts }];
  });
  if (found.length === 0) return null;
  const pes = found[0].parts[0].flatMap(({ pe, measured }, k): PeTime[] => {
    if (!(measured > 0)) return [];
    const parts = found.map(({ parts: all }) => all.reduce((sum, one) => sum + one[k].spent, 0));
    const timed = parts.reduce((sum, part) => sum + part, 0);
    return [{ pe, seconds: measured, parts, rest: Math.max(0, measured - timed) }];
  });
  return { phases: found.map(({ key }) => key), pes };
}
