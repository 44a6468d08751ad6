/**
 * Estimates from few samples by bin: a turn that was timed stands for many, so that one bin has the time of several, and
 * the bins before it none. Bins are widened until nothing exceeds what there was.
 */

const PER_CENT = 100;

/**
 * Shares of time by activity and bin, per cent; NaN where nothing was measured. Where those of a bin sum to more than
 * 100, it and the bins before it (at the start those after it) become one of their mean. What was measured in all stays
 * the same; where that is more than there was, the last bin still says so.
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
    // What stands at the start takes in what comes after it.
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
 * Half the width of the 95 % interval of the sum of `counts`, from how they scatter about their ratio to `spans`: what was
 * counted in each stretch, and how long it was. Null where fewer than two tell.
 */
export function scatter(counts: readonly number[], spans: readonly number[]): number | null {
  const there = counts.flatMap((count, k) => (spans[k] > 0 && !Number.isNaN(count) ? [k] : []));
  if (there.length < 2) return null;
  const sum = (of: (k: number) => number) => there.reduce((all, k) => all + of(k), 0);
  const ratio = sum((k) => counts[k]) / sum((k) => spans[k]);
  const squares = sum((k) => (counts[k] - ratio * spans[k]) ** 2);
  return TWO_SIDED * Math.sqrt((there.length / (there.length - 1)) * squares);
}
