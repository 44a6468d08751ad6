/** What each PE spent its time on. Runs in the server and in the page. */
import { ACTIVITIES, inputsOf, scatter } from '../../model/measures/index.ts';
import { PER_CENT } from '../../model/units.ts';
import type { SeriesStore } from '../series/store.ts';
import type { Steps } from '../steps.ts';
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

/** Stretches of the window, whose scatter gives the error of an estimate. */
const STRETCHES = 16;

/** By PE. */
type PeSeconds = readonly {
  readonly pe: number;
  readonly measured: number;
  readonly spent: number;
  readonly course: readonly number[];
}[];

/** Seconds by PE that a column counted in [from, to); null where it was not measured. */
function* secondsOf(
  samples: SeriesStore,
  column: string,
  from: number,
  to: number,
): Steps<PeSeconds | null> {
  const ask = { level: 'pe', metric: column, within: '', from, to, bins: STRETCHES } as const;
  if (samples.table('ross_pe')?.keys.includes(column) !== true) return null;
  const heat = yield* heatOf(samples, ask);
  if (heat === null) return null;
  return heat.rows.map((row, k) => ({
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
export function* breakdownOf(
  samples: SeriesStore,
  from: number,
  to: number,
): Steps<Breakdown | null> {
  if (samples.clock !== 'real') return null;
  const found: { key: string; parts: PeSeconds[]; isEstimate: boolean }[] = [];
  for (const activity of ACTIVITIES) {
    const parts: PeSeconds[] = [];
    const inputs = inputsOf(activity);
    for (const column of inputs) {
      const part = yield* secondsOf(samples, column, from, to);
      if (part !== null) parts.push(part);
    }
    // ROSS times every event; this simulator times a sample of them.
    const isEstimate = activity.estimate === true && samples.estimates;
    // An activity that was measured only in part is left out.
    if (parts.length === inputs.length) found.push({ key: activity.key, parts, isEstimate });
  }
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
