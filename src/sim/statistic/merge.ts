/** Combines statistics of many LPs: counts and exact sums, so that the result does not depend on the LPs' order. */
import { addTo, type ExactSum, rounded } from '../exact-sum.ts';
import type { SliceSums } from './slices.ts';
import { type SteadyMean, steadyMean } from './steady.ts';

/** Sums by slice over LPs. Plain data. */
export interface GatheredSlices {
  readonly from: number;
  readonly length: number;
  readonly whole: number;
  readonly columns: ExactSum[][];
}

export function addAll(sum: ExactSum, terms: readonly number[]): void {
  for (const term of terms) addTo(sum, term);
}

/** a b as two doubles whose sum is exact (T. J. Dekker, 1971). */
function product(a: number, b: number): [high: number, low: number] {
  const high = a * b;
  const split = (x: number): [number, number] => {
    const c = 134217729 * x;
    const top = c - (c - x);
    return [top, x - top];
  };
  const [a1, a0] = split(a);
  const [b1, b0] = split(b);
  const low = a0 * b0 - (high - a1 * b1 - a0 * b1 - a1 * b0);
  return [high, Number.isFinite(low) ? low : 0];
}

/** Adds factor times the exact sum `terms` to `sum`. */
export function addScaled(sum: ExactSum, terms: readonly number[], factor: number): void {
  for (const term of terms) addAll(sum, product(term, factor));
}

export function gatherSlices(slices: SliceSums): GatheredSlices {
  const { from, length, whole, columns } = slices;
  const exact = (values: Float64Array) => Array.from(values, (x): ExactSum => (x === 0 ? [] : [x]));
  return { from, length, whole, columns: columns.map(exact) };
}

/** Merges pairs of slices until they are `length` long. */
function coarser(slices: GatheredSlices, length: number): GatheredSlices {
  if (slices.length >= length) return slices;
  const columns = slices.columns.map((sums) =>
    sums.map((_, k): ExactSum => {
      const both: ExactSum = [];
      addAll(both, sums[2 * k] ?? []);
      addAll(both, sums[2 * k + 1] ?? []);
      return both;
    }),
  );
  const twice = { ...slices, length: slices.length * 2, whole: slices.whole >> 1, columns };
  return coarser(twice, length);
}

export function mergeSlices(
  a: GatheredSlices | null,
  b: GatheredSlices | null,
): GatheredSlices | null {
  if (a === null || b === null) return a ?? b;
  const length = Math.max(a.length, b.length);
  const into = coarser(a, length);
  const other = coarser(b, length);
  into.columns.forEach((sums, c) => {
    sums.forEach((sum, k) => {
      addAll(sum, other.columns[c][k]);
    });
  });
  return into;
}

export function steadyOf(slices: GatheredSlices | null): SteadyMean | null {
  if (slices === null) return null;
  const columns = slices.columns.map((sums) => Float64Array.from(sums, rounded));
  return steadyMean({ ...slices, columns });
}
