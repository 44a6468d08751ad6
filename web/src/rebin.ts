/** Bins of one width as bins of another: a saved page answers so for the windows that it is zoomed to. */
import type { EntityBins } from '../../src/view/series/table.ts';

/** Bins of equal width, and their seconds. */
export interface Binned {
  readonly from: number;
  readonly to: number;
  readonly series: readonly EntityBins[];
}

/**
 * [from, to) seconds in `bins`: the mean of the bins below each by their share of it, the least and the most of them. NaN where
 * nothing was measured, and outside.
 */
export function rebinned(known: Binned, from: number, to: number, bins: number): EntityBins[] {
  return known.series.map(({ entity, min, max, mean }) => {
    const of = () => new Float32Array(bins).fill(Number.NaN);
    const made = { entity, min: of(), max: of(), mean: of() };
    const per = mean.length / (known.to - known.from);
    const place = (edge: number) => (from + (edge * (to - from)) / bins - known.from) * per;
    for (let bin = 0; bin < bins; bin++) {
      const [begin, end] = [place(bin), place(bin + 1)];
      let [sum, weight, least, most] = [0, 0, Infinity, -Infinity];
      const last = Math.min(mean.length, Math.ceil(end));
      for (let k = Math.max(0, Math.floor(begin)); k < last; k++) {
        const part = Math.min(k + 1, end) - Math.max(k, begin);
        if (!(part > 0) || Number.isNaN(mean[k])) continue;
        sum += part * mean[k];
        weight += part;
        least = Math.min(least, min[k]);
        most = Math.max(most, max[k]);
      }
      if (weight > 0) [made.mean[bin], made.min[bin], made.max[bin]] = [sum / weight, least, most];
    }
    return made;
  });
}
