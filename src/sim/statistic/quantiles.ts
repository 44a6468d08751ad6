/**
 * Quantiles of values, each within a declared relative error: counts by buckets that are wider the larger the values, in
 * equal parts of every power of two (as G. Tene's HdrHistogram, 2012). A bucket is found in the bits of the value, without
 * a logarithm: the same on every machine.
 */
import type { Cells, CellsField } from '../../model/cells.ts';
import { sealed } from '../../model/struct-class.ts';

/** The range of the values, and how far a quantile may be off. */
export interface QuantileOptions {
  /** Smallest value that is distinguished from others, above 0, in the unit of the values; smaller ones are counted as below. */
  readonly from: number;
  /** Largest value that is distinguished from others, in the unit of the values; larger ones are counted as above. */
  readonly to: number;
  /** Largest relative error of a quantile in this range, a ratio; 0.01 by default. */
  readonly error?: number;
}

/** Quantiles of one LP, read in a handler. */
export interface ReadonlyQuantiles {
  /** How many values were added. */
  readonly count: number;
  /** The value that a share `p` of all values does not exceed; NaN without a value. */
  quantile(p: number): number;
}

/** A sketch of quantiles; a value is removed when the event that added it is rolled back. */
export interface Quantiles extends ReadonlyQuantiles {
  /** Adds `value`, unless virtual time is before `--warmup`. */
  add(value: number): void;
}

/** Quantiles of the values of all LPs under one name, in the unit of the values; null where no value was added. */
export interface QuantilesResult {
  /** Which statistic it is. */
  readonly kind: 'quantiles';
  /** How many values were added. */
  readonly count: number;
  /** Greatest relative error of quantiles between `from` and `to`, a ratio. */
  readonly error: number;
  /** Smallest value that is distinguished from others, in the unit of the values. */
  readonly from: number;
  /** Largest value that is distinguished from others, in the unit of the values. */
  readonly to: number;
  /** How many values are below `from`. */
  readonly below: number;
  /** How many values are above `to`. */
  readonly above: number;
  /** Least value, exactly. */
  readonly min: number | null;
  /** Median: the value that half of the values do not exceed. */
  readonly p50: number | null;
  /** The value that 90 % of the values do not exceed. */
  readonly p90: number | null;
  /** The value that 95 % of the values do not exceed. */
  readonly p95: number | null;
  /** The value that 99 % of the values do not exceed. */
  readonly p99: number | null;
  /** The value that 99.9 % of the values do not exceed. */
  readonly p999: number | null;
  /** Greatest value, exactly. */
  readonly max: number | null;
}

/** How a sketch is laid out. */
interface Sketch {
  readonly from: number;
  readonly to: number;
  readonly error: number;
  /** A power of two has 2^bits buckets. */
  readonly bits: number;
  readonly first: number;
  readonly buckets: number;
}

/** Plain data: it crosses threads. */
export interface GatheredQuantiles {
  readonly kind: 'quantiles';
  readonly sketch: Sketch;
  min: number;
  max: number;
  /** Values below, above, and by bucket. */
  readonly counts: number[];
}

const F = new Float64Array(1);
const U = new Uint32Array(F.buffer);
/** Bits of a double's fraction in its upper word. */
const FRACTION = 20;

/** The bucket of a value above 0 of all that doubles have. */
function bucketOf(value: number, bits: number): number {
  F[0] = value;
  return U[1] >>> (FRACTION - bits);
}

/** Where bucket `k` begins. */
function edge(k: number, bits: number): number {
  U[1] = k << (FRACTION - bits);
  U[0] = 0;
  return F[0];
}

const MIN = 0;
const MAX = 1;
const N = 2;
/** Halves of cells from here on: values below, above, in each bucket. */
const HALVES = 6;
const BELOW = 0;
const ABOVE = 1;
const BUCKETS = 2;

/** The value of rank p n, rounded up, of all values, by the middle of its bucket. */
function quantileOf(
  { from, to, bits, first, buckets }: Sketch,
  p: number,
  n: number,
  range: readonly [min: number, max: number],
  countOf: (k: number) => number,
): number {
  const rank = Math.max(1, Math.ceil(p * n - 1e-9));
  const clamp = (value: number) => Math.min(range[1], Math.max(range[0], value));
  let seen = countOf(BELOW);
  if (rank <= seen) return clamp(rank === 1 ? range[0] : from);
  for (let k = 0; k < buckets; k++) {
    seen += countOf(BUCKETS + k);
    if (rank <= seen) return clamp((edge(first + k, bits) + edge(first + k + 1, bits)) / 2);
  }
  return rank === n ? range[1] : clamp(to);
}

class LpQuantiles implements Quantiles {
  private readonly cells: Cells;
  private readonly sketch: Sketch;

  constructor(cells: Cells, sketch: Sketch) {
    this.cells = cells;
    this.sketch = sketch;
  }

  add(value: number): void {
    const { cells, sketch } = this;
    cells.expectNumber('add', value);
    const { now, warmup } = cells.host;
    if (now < warmup) return;
    const n = cells.get(N) + 1;
    cells.set(N, n);
    if (n === 1 || value < cells.get(MIN)) cells.set(MIN, value);
    if (n === 1 || value > cells.get(MAX)) cells.set(MAX, value);
    if (value < sketch.from) cells.countHalf(HALVES + BELOW);
    else if (value > sketch.to) cells.countHalf(HALVES + ABOVE);
    else cells.countHalf(HALVES + BUCKETS + bucketOf(value, sketch.bits) - sketch.first);
  }

  get count(): number {
    return this.cells.get(N);
  }

  quantile(p: number): number {
    const { cells, sketch } = this;
    if (!(p >= 0 && p <= 1))
      throw new RangeError(`${cells.where}.quantile(${p}): must be a share from 0 to 1`);
    const n = this.count;
    if (n === 0) return Number.NaN;
    const range = [cells.get(MIN), cells.get(MAX)] as const;
    return quantileOf(sketch, p, n, range, (k) => cells.half(HALVES + k));
  }

  gather(): GatheredQuantiles {
    const { cells, sketch } = this;
    const counts = Array.from({ length: BUCKETS + sketch.buckets }, (_, k) =>
      cells.half(HALVES + k),
    );
    const none = this.count === 0;
    return {
      kind: 'quantiles',
      sketch,
      min: none ? Infinity : cells.get(MIN),
      max: none ? -Infinity : cells.get(MAX),
      counts,
    };
  }

  toJSON(): object {
    return quantilesResult(this.gather());
  }
}
sealed(LpQuantiles, 'quantiles', ['cells', 'sketch']);

export function mergeQuantiles(into: GatheredQuantiles, from: GatheredQuantiles): void {
  into.min = Math.min(into.min, from.min);
  into.max = Math.max(into.max, from.max);
  from.counts.forEach((count, k) => {
    into.counts[k] += count;
  });
}

export function quantilesResult({ sketch, min, max, counts }: GatheredQuantiles): QuantilesResult {
  const n = counts.reduce((sum, count) => sum + count, 0);
  const at = (p: number) =>
    n === 0 ? null : quantileOf(sketch, p, n, [min, max], (k) => counts[k]);
  const { from, to, error } = sketch;
  return {
    kind: 'quantiles',
    count: n,
    error,
    from,
    to,
    below: counts[BELOW],
    above: counts[ABOVE],
    min: n === 0 ? null : min,
    p50: at(0.5),
    p90: at(0.9),
    p95: at(0.95),
    p99: at(0.99),
    p999: at(0.999),
    max: n === 0 ? null : max,
  };
}

/**
 * A field of an LP's state that keeps quantiles of values: the 99th percentile of waiting times, within a declared
 * relative error. They are part of the run's results, over all LPs, under the field's name.
 * @throws RangeError for an invalid range or error
 * @example
 * ```ts
 * import { defineModel, quantiles } from 'triscope/sim';
 *
 * export default defineModel({
 *   name: 'pauses',
 *   lps: () => 10,
 *   end: 1000,
 *   state: { pause: quantiles({ from: 0.001, to: 100, error: 0.01 }) },
 *   message: {},
 *   init: (lp) => void lp.send(lp.id, 1),
 *   forward(lp) {
 *     const pause = lp.exponential(2);
 *     lp.state.pause.add(pause);
 *     lp.send(lp.id, pause);
 *   },
 * });
 * ```
 */
export function quantiles(options: QuantileOptions): CellsField<Quantiles, ReadonlyQuantiles> {
  const { from, to, error = 0.01 } = options;
  if (!(from >= 2 ** -1000 && to > from && to <= 2 ** 1000))
    throw new RangeError(
      `quantiles({ from: ${from}, to: ${to} }): from must be less than to, and both above 0`,
    );
  if (!(error >= 1e-5 && error <= 0.25))
    throw new RangeError(`quantiles({ error: ${error} }): must be a share from 0.00001 to 0.25`);
  const bits = Math.max(0, Math.ceil(Math.log2(1 / (2 * error))));
  const first = bucketOf(from, bits);
  const buckets = bucketOf(to, bits) - first + 1;
  const sketch = { from, to, error, bits, first, buckets };
  return {
    kind: 'cells',
    cells: HALVES / 2 + Math.ceil((BUCKETS + buckets) / 2),
    view: (cells) => new LpQuantiles(cells, sketch),
  };
}
