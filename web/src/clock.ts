/** The run's clocks: from the server for a recording; from the samples on the page for a run that goes on. */
import type { ClockFacts } from '../../src/view/facts/clock.ts';
import type { Clock } from './axis.ts';
import type { Page } from './page.svelte.ts';

const BINS = 2000;

/** Greatest value so far, if any: clocks never go back. */
function rising(values: ArrayLike<number>): number[] {
  let most = Number.NaN;
  return Array.from(values, (value) => {
    if (!(most >= value) && !Number.isNaN(value)) most = value;
    return most;
  });
}

/** Whether samples tell the virtual time. */
export const hasClock = ({ tables, facts }: Page): boolean =>
  facts?.clock === undefined &&
  tables.some(
    ({ name, metrics }) => name === 'ross_pe' && metrics.some(({ key }) => key === 'gvt'),
  );

/** Before the first sample, clocks rise from 0 at the start of what is shown. */
function begun(clock: Clock, start: number): Clock {
  if (!(clock.real[0] > start && clock.virtual[0] > 0)) return clock;
  return {
    real: [start, ...Array.from(clock.real)],
    virtual: [0, ...Array.from(clock.virtual)],
    gvt: [0, ...Array.from(clock.gvt)],
  };
}

/** Null if unknown. */
export async function clockOf({ source, live, extent, facts }: Page): Promise<Clock | null> {
  if (source === null || extent === null || facts?.clock !== undefined) return null;
  if (!live) {
    const clock = await source.json<ClockFacts>('clock');
    return clock.real.length > 1 ? begun(clock, extent[0]) : null;
  }
  const [from, to] = extent;
  const [gvt, index] = await Promise.all(
    ['gvt', 'gvt_index'].map((key) => source.series('ross_pe', [key], from, to, BINS)),
  );
  if (gvt.length === 0) return null;
  const virtual = rising(gvt[0].max);
  const count = index.length === 0 ? virtual.map((_, k) => k) : rising(index[0].max);
  // A bin's greatest value is the one at its end.
  const ends = virtual.map((_, k) => from + ((k + 1) * (to - from)) / BINS);
  const known = virtual.map((value, k) => !Number.isNaN(value) && !Number.isNaN(count[k]));
  const kept = (values: readonly number[]) => values.filter((_, k) => known[k]);
  const clock = { real: kept(ends), virtual: kept(virtual), gvt: kept(count) };
  return clock.real.length > 1 ? begun(clock, from) : null;
}
