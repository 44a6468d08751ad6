/**
 * Confidence intervals of means by Student's t, for the values of independent replications. Each is a sum or a mean
 * of many events, and so nearly normally distributed.
 */

/** A mean of values with its confidence interval, all in the unit of the values. */
export interface MeanInterval {
  /** Number of values. */
  readonly n: number;
  /** Mean of the values. */
  readonly mean: number;
  /** Standard deviation of the values, dividing by n - 1; null for one value. */
  readonly sd: number | null;
  /** Lower end of the interval; null for one value. */
  readonly low: number | null;
  /** Upper end of the interval; null for one value. */
  readonly high: number | null;
}

/** ln Γ(x) for x > 0 (C. Lanczos, 1964; g = 7, n = 9): 15 digits. */
function logGamma(x: number): number {
  const C = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
    -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
    1.5056327351493116e-7,
  ];
  const t = x + 6.5;
  const sum = C.reduce((total, c, k) => (k === 0 ? c : total + c / (x - 1 + k)), 0);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** The regularised incomplete beta function I_x(a, b), by its continued fraction (modified Lentz). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const TINY = 1e-300;
  const near = (v: number) => (Math.abs(v) < TINY ? TINY : v);
  let c = 1;
  let d = 1 / near(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / near(1 + even * d);
    c = near(1 + even / c);
    fraction *= c * d;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / near(1 + odd * d);
    c = near(1 + odd / c);
    const step = c * d;
    fraction *= step;
    if (Math.abs(step - 1) < 1e-15) break;
  }
  const front = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  return (Math.exp(front) * fraction) / a;
}

/** Student's t: the value that a draw with `df` degrees of freedom exceeds in size with probability 1 - `confidence`. */
export function studentQuantile(confidence: number, df: number): number {
  const outside = (t: number) => incompleteBeta(df / (df + t * t), df / 2, 0.5);
  let high = 1;
  while (outside(high) > 1 - confidence) high *= 2;
  let low = 0;
  for (let k = 0; k < 200 && high - low > high * 1e-14; k++) {
    const middle = (low + high) / 2;
    if (outside(middle) > 1 - confidence) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

const known = new Map<string, number>();

/**
 * The mean of independent values, with the interval that covers the true one with probability `confidence`.
 * @example
 * ```ts
 * import { meanInterval } from 'triscope/sim';
 *
 * const { mean, low, high } = meanInterval([9.8, 10.1, 10.4, 9.9], 0.95);
 * console.log(mean, low, high);
 * ```
 */
export function meanInterval(values: readonly number[], confidence = 0.95): MeanInterval {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n < 2) return { n, mean, sd: null, low: null, high: null };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const sd = Math.sqrt(squares / (n - 1));
  const key = `${confidence} ${n}`;
  const t = known.get(key) ?? studentQuantile(confidence, n - 1);
  known.set(key, t);
  const half = (t * sd) / Math.sqrt(n);
  return { n, mean, sd, low: mean - half, high: mean + half };
}

/** Half of the interval's width, relative to the mean; infinite if there is no interval, 0 if all values are equal. */
export function relativeWidth({ mean, sd, high }: MeanInterval): number {
  if (high === null) return Infinity;
  return sd === 0 ? 0 : Math.abs((high - mean) / mean);
}
