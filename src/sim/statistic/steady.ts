/**
 * The mean of a steady state from one run: values of the warm-up are left out, and the others are divided into batches,
 * whose means are nearly independent.
 *
 * Warm-up: MSER (K. P. White, "An effective truncation heuristic for bias reduction in simulation output", 1997; with
 * means of slices in the place of MSER-5's means of five values). Interval: batch means with Student's t; of values that
 * come at irregular times, the ratio of sums.
 */
import { studentQuantile } from '../../model/student.ts';
import type { SliceSums } from './slices.ts';

/** A mean without the warm-up, and its confidence interval. */
export interface SteadyMean {
  /** The mean, in the unit of the values. */
  readonly mean: number;
  /** Lower end of the interval that covers the true mean with probability `confidence`, in the unit of the values. */
  readonly low: number;
  /** Upper end of the interval, in the unit of the values. */
  readonly high: number;
  /** Probability with which the interval covers the true mean; 0.95. */
  readonly confidence: number;
  /** Virtual time up to which values were left out. */
  readonly from: number;
  /** Number of batches from which the interval is computed. */
  readonly batches: number;
  /** Correlation of each batch's mean with the next, -1 to 1: far above 0, the run is too short for the interval to hold. */
  readonly correlation: number;
}

/** Batches of one interval: more would be shorter, and less independent (B. Schmeiser, 1982: 10 to 30). */
const BATCHES = 10;
const CONFIDENCE = 0.95;
/** Minimum number of slices: each batch needs some, and half of them may be warm-up. */
const FEWEST = 3 * BATCHES;

/** How many of the first values MSER leaves out: at most half of them. */
export function mser(values: readonly number[]): number {
  const n = values.length;
  let sum = 0;
  let squares = 0;
  let best = 0;
  let least = Infinity;
  // From the end on, so that each sum follows from the one before; about the last value, for accuracy.
  const about = values[n - 1] ?? 0;
  for (let d = n - 1; d >= 0; d--) {
    const value = values[d] - about;
    sum += value;
    squares += value * value;
    const kept = n - d;
    if (d > n / 2) continue;
    const error = (squares - (sum * sum) / kept) / kept ** 2;
    if (error <= least) {
      least = error;
      best = d;
    }
  }
  return best;
}

/**
 * The steady mean of sums by slice; of `weights` (how many values, or how long) in the second column, else the slices' length.
 * Null where the run has too few whole slices.
 */
export function steadyMean({ from, length, whole, columns }: SliceSums): SteadyMean | null {
  if (whole < FEWEST) return null;
  const sums = columns[0];
  const weight = (k: number) => (columns.length > 1 ? columns[1][k] : length);
  const slices = Array.from({ length: whole }, (_, k) => k);
  const filled = slices.filter((k) => weight(k) > 0);
  if (filled.length < FEWEST) return null;
  const skipped = mser(filled.map((k) => sums[k] / weight(k)));
  const first = filled[skipped];
  // Whole batches of equal length: what does not fill them is left out at the front.
  const size = Math.floor((whole - first) / BATCHES);
  const begin = whole - size * BATCHES;
  const batches = Array.from({ length: BATCHES }, (_, b) => {
    let [sum, of] = [0, 0];
    for (let k = begin + b * size; k < begin + (b + 1) * size; k++) {
      sum += sums[k];
      of += weight(k);
    }
    return { sum, of };
  });
  const total = batches.reduce((all, { of }) => all + of, 0);
  if (size === 0 || !(total > 0)) return null;
  const mean = batches.reduce((all, { sum }) => all + sum, 0) / total;
  const off = batches.map(({ sum, of }) => sum - mean * of);
  const squares = off.reduce((all, x) => all + x * x, 0);
  const error = Math.sqrt(squares / (BATCHES * (BATCHES - 1))) / (total / BATCHES);
  const half = studentQuantile(BATCHES - 1, 1 - CONFIDENCE) * error;
  let products = 0;
  for (let b = 1; b < BATCHES; b++) products += off[b - 1] * off[b];
  return {
    mean,
    low: mean - half,
    high: mean + half,
    confidence: CONFIDENCE,
    from: from + begin * length,
    batches: BATCHES,
    correlation: squares > 0 ? products / squares : 0,
  };
}
