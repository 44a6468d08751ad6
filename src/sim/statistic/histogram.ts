/** How often values fall into bins of equal width. */
import type { Cells, CellsField } from '../../model/cells.ts';
import { sealed } from '../../model/struct-class.ts';

/** The bins of a histogram: so many of equal width, from `from` up to `to`. */
export interface HistogramOptions {
  /** Where the first bin begins, in the unit of the values. */
  readonly from: number;
  /** Where the last bin ends, in the unit of the values. */
  readonly to: number;
  /** How many bins there are. */
  readonly bins: number;
}

/** A histogram of one LP, read in a handler. */
export interface ReadonlyHistogram {
  /** How many values were added. */
  readonly count: number;
  /** How many of them are below the first bin. */
  readonly below: number;
  /** How many of them are at or above the end of the last bin. */
  readonly above: number;
  /** How many values bin `k` holds. */
  bin(k: number): number;
}

/** A histogram of values; a value is removed when the event that added it is rolled back. */
export interface Histogram extends ReadonlyHistogram {
  /** Counts `value`, unless virtual time is before `--warmup`. */
  add(value: number): void;
}

/** The sum of all LPs' histograms of one name. With n bins, bin k begins at from + k (to - from) / n. */
export interface HistogramResult {
  /** Which statistic it is. */
  readonly kind: 'histogram';
  /** How many values were added. */
  readonly count: number;
  /** Where the first bin begins, in the unit of the values. */
  readonly from: number;
  /** Where the last bin ends, in the unit of the values. */
  readonly to: number;
  /** How many values are below the first bin. */
  readonly below: number;
  /** How many values are at or above the end of the last bin. */
  readonly above: number;
  /** How many values each bin holds. */
  readonly bins: readonly number[];
}

/** Plain data: it crosses threads. */
export interface GatheredHistogram {
  readonly kind: 'histogram';
  readonly from: number;
  readonly to: number;
  readonly bins: number[];
}

/** Halves of cells: values below, values above, then the bins. */
const BELOW = 0;
const ABOVE = 1;
const BINS = 2;

class LpHistogram implements Histogram {
  private readonly cells: Cells;
  private readonly of: HistogramOptions;

  constructor(cells: Cells, of: HistogramOptions) {
    this.cells = cells;
    this.of = of;
  }

  add(value: number): void {
    const { cells, of } = this;
    cells.expectNumber('add', value);
    const { now, warmup } = cells.host;
    if (now < warmup) return;
    const k = Math.floor(((value - of.from) / (of.to - of.from)) * of.bins);
    cells.countHalf(
      value < of.from ? BELOW : value >= of.to ? ABOVE : BINS + Math.min(k, of.bins - 1),
    );
  }

  get count(): number {
    let all = this.below + this.above;
    for (let k = 0; k < this.of.bins; k++) all += this.cells.half(BINS + k);
    return all;
  }

  get below(): number {
    return this.cells.half(BELOW);
  }

  get above(): number {
    return this.cells.half(ABOVE);
  }

  bin(k: number): number {
    if (!Number.isInteger(k) || k < 0 || k >= this.of.bins)
      throw new RangeError(`${this.cells.where}.bin(${k}): bins are 0 to ${this.of.bins - 1}`);
    return this.cells.half(BINS + k);
  }

  gather(): GatheredHistogram {
    const { from, to, bins } = this.of;
    const counts = Array.from({ length: bins + BINS }, (_, k) => this.cells.half(k));
    return { kind: 'histogram', from, to, bins: counts };
  }

  toJSON(): object {
    return histogramResult(this.gather());
  }
}
sealed(LpHistogram, 'a histogram', ['cells', 'of']);

export function mergeHistograms(into: GatheredHistogram, from: GatheredHistogram): void {
  from.bins.forEach((count, k) => {
    into.bins[k] += count;
  });
}

export function histogramResult({ from, to, bins: counts }: GatheredHistogram): HistogramResult {
  const [below, above, ...bins] = counts;
  const count = counts.reduce((sum, n) => sum + n, 0);
  return { kind: 'histogram', count, from, to, below, above, bins };
}

/**
 * A field of an LP's state that counts values by bins of equal width; its counts are part of the run's results, over all
 * LPs, under the field's name.
 * @throws RangeError for bins that cannot be
 * @example
 * ```ts
 * import { defineModel, histogram } from 'triscope/sim';
 *
 * export default defineModel({
 *   name: 'dice',
 *   lps: () => 10,
 *   end: 1000,
 *   state: { sum: histogram({ from: 2, to: 13, bins: 11 }) },
 *   message: {},
 *   init: (lp) => void lp.send(lp.id, 1),
 *   forward(lp) {
 *     lp.state.sum.add(lp.integer(1, 6) + lp.integer(1, 6));
 *     lp.send(lp.id, 1);
 *   },
 * });
 * ```
 */
export function histogram(of: HistogramOptions): CellsField<Histogram, ReadonlyHistogram> {
  const { from, to, bins } = of;
  if (!(Number.isFinite(from) && Number.isFinite(to) && to > from))
    throw new RangeError(
      `histogram({ from: ${from}, to: ${to} }): from must be less than to, and both finite`,
    );
  if (!Number.isInteger(bins) || bins < 1 || bins > 1 << 20)
    throw new RangeError(
      `histogram({ bins: ${bins} }): bins must be a whole number from 1 to ${1 << 20}`,
    );
  return {
    kind: 'cells',
    cells: Math.ceil((BINS + bins) / 2),
    view: (cells) => new LpHistogram(cells, of),
  };
}
