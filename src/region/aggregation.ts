/**
 * How values of several parts of a domain become one. All of them leave out NaN, and give NaN where nothing is left,
 * except `select_first`. Source: GEOPM's Agg manual page; `region_hash` and `region_hint` from its report's.
 */
import { HASH_UNMARKED } from '../model/region-hash.ts';

/** `values[0, count)`; the array may be reordered. */
export type Aggregate = (values: Float64Array, count: number) => number;

/** Hint of parts that disagree. */
const UNKNOWN_HINT = 1;

/** Moves the numbers to the front. Returns how many there are. */
function compact(values: Float64Array, count: number): number {
  let kept = 0;
  for (let k = 0; k < count; k++) {
    const value = values[k];
    if (!Number.isNaN(value)) values[kept++] = value;
  }
  return kept;
}

/** `of` without NaN. */
const without =
  (of: Aggregate): Aggregate =>
  (values, count) => {
    const kept = compact(values, count);
    return kept === 0 ? Number.NaN : of(values, kept);
  };

function sum(values: Float64Array, count: number): number {
  let total = 0;
  for (let k = 0; k < count; k++) total += values[k];
  return total;
}

function median(values: Float64Array, count: number): number {
  const sorted = values.subarray(0, count).sort();
  const half = count >> 1;
  return count % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

function deviation(values: Float64Array, count: number): number {
  if (count === 1) return 0;
  const mean = sum(values, count) / count;
  let squares = 0;
  for (let k = 0; k < count; k++) squares += (values[k] - mean) ** 2;
  return Math.sqrt(squares / (count - 1));
}

/** The bitwise operation on whole numbers below 2^53, in two halves, because JavaScript's operators work on 32 bits. */
function bitwiseOr(values: Float64Array, count: number): number {
  let [high, low] = [0, 0];
  for (let k = 0; k < count; k++) {
    high |= Math.floor(values[k] / 2 ** 32);
    low |= values[k] % 2 ** 32;
  }
  return (high >>> 0) * 2 ** 32 + (low >>> 0);
}

/** The value that all agree on, otherwise `other`. */
const agreed =
  (other: number): Aggregate =>
  (values, count) => {
    for (let k = 1; k < count; k++) if (values[k] !== values[0]) return other;
    return values[0];
  };

function every(values: Float64Array, count: number): number {
  for (let k = 0; k < count; k++) if (values[k] === 0) return 0;
  return 1;
}

function some(values: Float64Array, count: number): number {
  for (let k = 0; k < count; k++) if (values[k] !== 0) return 1;
  return 0;
}

function least(values: Float64Array, count: number): number {
  let min = values[0];
  for (let k = 1; k < count; k++) if (values[k] < min) min = values[k];
  return min;
}

function most(values: Float64Array, count: number): number {
  let max = values[0];
  for (let k = 1; k < count; k++) if (values[k] > max) max = values[k];
  return max;
}

/** Aggregations by name, as in GEOPM: each makes one value of the values of a machine's parts. Missing ones (NaN) are left out. */
export const AGGREGATIONS = {
  sum: without(sum),
  average: without((values, count) => sum(values, count) / count),
  median: without(median),
  integer_bitwise_or: without(bitwiseOr),
  logical_and: without(every),
  logical_or: without(some),
  region_hash: without(agreed(HASH_UNMARKED)),
  region_hint: without(agreed(UNKNOWN_HINT)),
  min: without(least),
  max: without(most),
  stddev: without(deviation),
  select_first: (values, count) => (count === 0 ? 0 : values[0]),
  expect_same: without(agreed(Number.NaN)),
} as const satisfies Readonly<Record<string, Aggregate>>;

/** A key of `AGGREGATIONS`. */
export type AggregationName = keyof typeof AGGREGATIONS;
