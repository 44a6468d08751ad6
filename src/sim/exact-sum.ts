/**
 * Sums of doubles that do not depend on the order of their terms, because LPs may be on other PEs in other runs.
 *
 * A sum is held as doubles that do not overlap, smallest first, and is exact (J. R. Shewchuk, Adaptive precision
 * floating-point arithmetic, 1997); it is rounded once, when it is read.
 */

/** A sum: its terms add up to it exactly or, beyond the range of doubles, are one infinity or NaN. */
export type ExactSum = number[];

/** Adds `value`. */
export function addTo(sum: ExactSum, value: number): void {
  let x = value;
  let kept = 0;
  for (let k = 0; k < sum.length; k++) {
    let y = sum[k];
    if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
    const high = x + y;
    const low = y - (high - x);
    if (low !== 0) sum[kept++] = low;
    x = high;
  }
  sum.length = kept;
  sum.push(x);
  if (!Number.isFinite(x)) sum.splice(0, sum.length, x);
}

/** The double that is nearest to the sum, of two equally near ones the even one. */
export function rounded(sum: ExactSum): number {
  let n = sum.length;
  if (n === 0) return 0;
  let high = sum[--n];
  let low = 0;
  while (n > 0 && low === 0) {
    const y = sum[--n];
    const x = high;
    high = x + y;
    low = y - (high - x);
  }
  // At half-way, the lower terms decide.
  if (n > 0 && Math.sign(low) === Math.sign(sum[n - 1])) {
    const twice = low * 2;
    const up = high + twice;
    if (up - high === twice) high = up;
  }
  return high;
}
