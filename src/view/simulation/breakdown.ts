/** What each PE spent its time on. Runs in the server and in the page. */
import { ACTIVITIES, inputsOf, scatter } from '../../model/measures/index.ts';
import type { SeriesStore } from '../series/store.ts';
import { heatOf } from './heat.ts';

interface PeTime {
  readonly pe: number;
  /** Seconds of the window that were measured. */
  readonly seconds: number;
  /** By activity, in the order of `Breakdown.activities`: seconds. */
  readonly parts: readonly number[];
  /** Half the width of the 95 % interval of each, seconds; null where it was timed in full, or too little is known. */
  readonly bounds: readonly (number | null)[];
  /** Waiting, and what is not timed: never below 0, though estimates may sum to more than there was. */
  readonly rest: number;
}

export interface Breakdown {
  /** Keys of the activities that were measured. */
  readonly activities: readonly string[];
  readonly pes: readonly PeTime[];
}

const PER_CENT = 100;
/** Stretches of the window, from how which scatter follows how far off an estimate is. */
const STRETCHES = 16;

/** Seconds by PE that a column counted in [from, to); null where it was not measured. */
function secondsOf(samples: SeriesStore, column: string, from: number, to: number) {
  const ask = { level: 'pe', metric: column, within: '', from, to, bins: STRETCHES } as const;
  const heat = samples.table('ross_pe')?.keys.includes(column) ? heatOf(samples, ask) : null;
  return heat === null
    ? null
    : heat.rows.map((row, k) => ({
        pe: Number(row),
        measured: heat.seconds[k],
        spent: (heat.totals[k] / PER_CENT) * heat.seconds[k],
        course: Array.from(
          heat.values.subarray(k * STRETCHES, (k + 1) * STRETCHES),
          (share) => ((share / PER_CENT) * (to - from)) / STRETCHES,
        ),
      }));
}

/** Null where no times of PEs were recorded. */
export function breakdownOf(samples: SeriesStore, from: number, to: number): Breakdown | null {
  if (samples.clock !== 'real') return null;
  const found = ACTIVITIES.flatMap((activity) => {
    const parts = inputsOf(activity).map((column) => secondsOf(samples, column, from, to));
    // Of an activity that was measured in part nothing is told.
    const { key } = activity;
    // Whole files of ROSS time each event; this simulator one turn of many.
    const isEstimate = activity.estimate === true && samples.anchored;
    return parts.every((part) => part !== null) ? [{ key, parts, isEstimate }] : [];
  });
  if (found.length === 0) return null;
  const pes = found[0].parts[0].flatMap(({ pe, measured }, k): PeTime[] => {
    if (!(measured > 0)) return [];
    const parts = found.map(({ parts: all }) => all.reduce((sum, one) => sum + one[k].spent, 0));
    const stretches = new Array<number>(STRETCHES).fill((to - from) / STRETCHES);
    const bounds = found.map(({ parts: all, isEstimate }) => {
      const course = stretches.map((_, bin) =>
        all.reduce((sum, one) => sum + one[k].course[bin], 0),
      );
      return isEstimate ? scatter(course, stretches) : null;
    });
    const timed = parts.reduce((sum, part) => sum + part, 0);
    return [{ pe, seconds: measured, parts, bounds, rest: Math.max(0, measured - timed) }];
  });
  return { activities: found.map(({ key }) => key), pes };
}
