/**
 * Confidence intervals of means by Student's t, for the values of independent replications. Each is a sum or a mean
 * of many events, and so nearly normally distributed.
 */
import { studentQuantile } from '../../model/student.ts';

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
  const t = known.get(key) ?? studentQuantile(n - 1, 1 - confidence);
  known.set(key, t);
  const half = (t * sd) / Math.sqrt(n);
  return { n, mean, sd, low: mean - half, high: mean + half };
}

/** Half of the interval's width, relative to the mean; infinite if there is no interval, 0 if all values are equal. */
export function relativeWidth({ mean, sd, high }: MeanInterval): number {
  if (high === null) return Infinity;
  return sd === 0 ? 0 : Math.abs((high - mean) / mean);
}
