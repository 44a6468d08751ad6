/**
 * Estimates from few samples per bin: a timed turn stands for many, so one bin gets the time of several, and
 * the bins before it none. Bins are joined until none exceeds what is possible.
 */
import { PER_CENT } from '../units.ts';

/**
 * Shares of time by activity and bin, per cent; NaN where nothing was measured. If those of a bin sum to more than
 * 100, it is averaged with the bins before it (at the start with those after it). The total of the measured time stays
 * the same; if that exceeds the total time, the last bin still exceeds 100.
 */
export function pooled(parts: readonly Float64Array[]): Float64Array[] {
  const bins = parts[0]?.length ?? 0;
  interface Pool {
    first: number;
    last: number;
    count: number;
    sums: number[];
  }
  const isTooMuch = ({ count, sums }: Pool) =>
    sums.reduce((all, one) => all + one, 0) > PER_CENT * count * (1 + 1e-9);
  const joined = (a: Pool, b: Pool): Pool => ({
    first: a.first,
    last: b.last,
    count: a.count + b.count,
    sums: a.sums.map((sum, k) => sum + b.sums[k]),
  });
  const pools: Pool[] = [];
  for (let bin = 0; bin < bins; bin++) {
    if (parts.every((part) => Number.isNaN(part[bin]))) continue;
    const sums = parts.map((part) => part[bin] || 0);
    pools.push({ first: bin, last: bin, count: 1, sums });
    while (pools.length > 1 && isTooMuch(pools[pools.length - 1])) {
      const last = pools.pop() as Pool;
      pools.push(joined(pools.pop() as Pool, last));
    }
    // An excess at the start is averaged with the bins after it.
    while (pools.length > 1 && isTooMuch(pools[pools.length - 2])) {
      const last = pools.pop() as Pool;
      pools.push(joined(pools.pop() as Pool, last));
    }
  }
  const made = parts.map((part) => Float64Array.from(part));
  for (const { first, last, count, sums } of pools) {
    for (const [k, part] of made.entries()) {
      for (let bin = first; bin <= last; bin++) {
        if (!Number.isNaN(part[bin])) part[bin] = sums[k] / count;
      }
    }
  }
  return made;
}

/** Of a 95 % interval. */
const TWO_SIDED = 1.96;

/**
 * Half the width of the 95 % interval of the sum of `counts`, from their scatter about their ratio to `spans`: `counts`
 * are the counts per interval, `spans` the intervals' lengths. Null for fewer than two intervals with data.
 */
export function scatter(counts: readonly number[], spans: readonly number[]): number | null {
  const there = counts.flatMap((count, k) => (spans[k] > 0 && !Number.isNaN(count) ? [k] : []));
  if (there.length < 2) return null;
  const sum = (of: (k: number) => number) => there.reduce((all, k) => all + of(k), 0);
  const ratio = sum((k) => counts[k]) / sum((k) => spans[k]);
  const squares = sum((k) => (counts[k] - ratio * spans[k]) ** 2);
  return TWO_SIDED * Math.sqrt((there.length / (there.length - 1)) * squares);
}
