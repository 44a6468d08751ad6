/** The whole run in one low strip: what to draw in it. */
import type { Page } from '../page.svelte.ts';

const BINS = 400;

/** The first of these that a recording has: what all its entities do together. */
const SHOWN: readonly { table: string; keys: readonly string[]; title: string }[] = [
  { table: 'ross_pe', keys: ['events_processed'], title: 'events handled by all PEs' },
  { table: 'node_cpu', keys: ['user', 'nice', 'system'], title: 'CPU time used on all hosts' },
];

export interface Whole {
  readonly from: number;
  readonly to: number;
  /** 0 … 1 of the highest value; NaN where nothing was measured. */
  readonly heights: Float64Array;
  readonly title: string;
}

export async function wholeOf({ source, extent, has }: Pick<Page, 'source' | 'extent' | 'has'>) {
  if (source === null || extent === null) return null;
  const [from, to] = extent;
  const shown = SHOWN.find(({ table }) => has(table));
  const heights = new Float64Array(BINS).fill(Number.NaN);
  if (shown === undefined) return { from, to, heights, title: 'nothing to sum' } satisfies Whole;
  const series = await source.series(shown.table, shown.keys, from, to, BINS);
  let most = 0;
  for (const { mean } of series) {
    for (let k = 0; k < BINS; k++) {
      if (Number.isNaN(mean[k])) continue;
      heights[k] = (Number.isNaN(heights[k]) ? 0 : heights[k]) + mean[k];
    }
  }
  for (const height of heights) if (height > most) most = height;
  if (most > 0) for (let k = 0; k < BINS; k++) heights[k] /= most;
  return { from, to, heights, title: shown.title } satisfies Whole;
}
