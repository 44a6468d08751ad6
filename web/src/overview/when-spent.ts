/** Distributes time that the kernel counts when it ends over the time in which it was spent. Pure. */

/**
 * Time that is counted when it ends, by when it was spent: what does not fit into a bin was spent before it. What was spent before the
 * first bin is left out. @param most what fits into a bin
 */
export function whenSpent(counted: Float64Array, most: number): Float64Array {
  let rest = 0;
  for (let k = counted.length - 1; k >= 0; k--) {
    if (Number.isNaN(counted[k])) {
      rest = 0;
      continue;
    }
    const all = counted[k] + rest;
    counted[k] = Math.min(most, all);
    rest = all - counted[k];
  }
  return counted;
}
