/** Statistics of single values: waiting times, sizes. */
import type { Cells, CellsField } from '../../model/cells.ts';
import { sealed } from '../../model/struct-class.ts';
import { type ExactSum, rounded } from '../exact-sum.ts';
import {
  addAll,
  addScaled,
  type GatheredSlices,
  gatherSlices,
  mergeSlices,
  steadyOf,
} from './merge.ts';
import { expectSlices, type StatisticOptions } from './options.ts';
import { Slices } from './slices.ts';
import type { SteadyMean } from './steady.ts';

const N = 0;
const MEAN = 1;
/** Sum of squared distances from the mean (B. P. Welford, 1962). */
const SQUARES = 2;
const MIN = 3;
const MAX = 4;
const SLICES = 5;

/** A tally of one LP, read in a handler. Without a value, `mean`, `sd`, `min` and `max` are NaN. */
export interface ReadonlyTally {
  /** How many values were added. */
  readonly count: number;
  /** Sum of the values, in their unit. */
  readonly sum: number;
  /** Mean of the values, in their unit. */
  readonly mean: number;
  /** Standard deviation in the values' unit, dividing by count - 1; NaN for less than two values. */
  readonly sd: number;
  /** Least value. */
  readonly min: number;
  /** Greatest value. */
  readonly max: number;
}

/** A tally of values; a value is removed when the event that added it is rolled back. */
export interface Tally extends ReadonlyTally {
  /** Adds `value`, unless virtual time is before `--warmup`. */
  add(value: number): void;
}

/** The tally of the values of all LPs under one name, in the unit of the values; null where no value was added. */
export interface TallyResult {
  /** Which statistic it is. */
  readonly kind: 'tally';
  /** How many values were added. */
  readonly count: number;
  /** Mean of the values. */
  readonly mean: number | null;
  /** Standard deviation of the values, dividing by count - 1; null for less than two. */
  readonly sd: number | null;
  /** Least value. */
  readonly min: number | null;
  /** Greatest value. */
  readonly max: number | null;
  /** The mean without the warm-up, with its confidence interval; null without `slices`, or where the run is too short. */
  readonly steady: SteadyMean | null;
}

/** Plain data: it crosses threads. */
export interface GatheredTally {
  readonly kind: 'tally';
  count: number;
  min: number;
  max: number;
  /** Exact sums: of the values, of each LP's squares about its own mean, and of n mean² of each LP. */
  readonly sum: ExactSum;
  readonly within: ExactSum;
  readonly between: ExactSum;
  slices: GatheredSlices | null;
}

class LpTally implements Tally {
  private readonly cells: Cells;
  private readonly slices: Slices | null;

  constructor(cells: Cells, slices: number) {
    this.cells = cells;
    this.slices = slices === 0 ? null : new Slices(cells, SLICES, slices, 2);
  }

  add(value: number): void {
    const { cells } = this;
    cells.expectNumber('add', value);
    const { now, warmup } = cells.host;
    if (now < warmup) return;
    const n = cells.get(N) + 1;
    const before = cells.get(MEAN);
    const off = value - before;
    const mean = before + off / n;
    cells.set(N, n);
    cells.set(MEAN, mean);
    if (n > 1) cells.set(SQUARES, cells.get(SQUARES) + off * (value - mean));
    if (n === 1 || value < cells.get(MIN)) cells.set(MIN, value);
    if (n === 1 || value > cells.get(MAX)) cells.set(MAX, value);
    if (this.slices !== null) this.slices.count(now, value, 1);
  }

  get count(): number {
    return this.cells.get(N);
  }

  get sum(): number {
    return this.cells.get(N) * this.cells.get(MEAN);
  }

  get mean(): number {
    return this.count === 0 ? Number.NaN : this.cells.get(MEAN);
  }

  get sd(): number {
    const n = this.count;
    return n < 2 ? Number.NaN : Math.sqrt(this.cells.get(SQUARES) / (n - 1));
  }

  get min(): number {
    return this.count === 0 ? Number.NaN : this.cells.get(MIN);
  }

  get max(): number {
    return this.count === 0 ? Number.NaN : this.cells.get(MAX);
  }

  gather(): GatheredTally {
    const { cells, slices } = this;
    const n = cells.get(N);
    const mean = cells.get(MEAN);
    const sum: ExactSum = [];
    const between: ExactSum = [];
    addScaled(sum, [n], mean);
    addScaled(between, sum, mean);
    return {
      kind: 'tally',
      count: n,
      min: n === 0 ? Infinity : cells.get(MIN),
      max: n === 0 ? -Infinity : cells.get(MAX),
      sum,
      within: [cells.get(SQUARES)],
      between,
      slices: slices === null ? null : gatherSlices(slices.read(cells.host.now)),
    };
  }

  toJSON(): object {
    const { count, mean, sd, min, max } = this;
    return { count, mean, sd, min, max };
  }
}
sealed(LpTally, 'a tally', ['cells', 'slices']);

export function mergeTallies(into: GatheredTally, from: GatheredTally): void {
  into.count += from.count;
  into.min = Math.min(into.min, from.min);
  into.max = Math.max(into.max, from.max);
  addAll(into.sum, from.sum);
  addAll(into.within, from.within);
  addAll(into.between, from.between);
  into.slices = mergeSlices(into.slices, from.slices);
}

export function tallyResult(all: GatheredTally): TallyResult {
  const { count: n, sum, within, between } = all;
  const mean = n === 0 ? null : rounded(sum) / n;
  // Σ n (mean of an LP - m)² = between - 2 m sum + N m², each exact: no digits are lost to a large mean.
  const squares: ExactSum = [];
  if (mean !== null) {
    addAll(squares, within);
    addAll(squares, between);
    addScaled(squares, sum, -2 * mean);
    const square: ExactSum = [];
    addScaled(square, [mean], mean);
    addScaled(squares, square, n);
  }
  return {
    kind: 'tally',
    count: n,
    mean,
    sd: n < 2 ? null : Math.sqrt(Math.max(0, rounded(squares)) / (n - 1)),
    min: n === 0 ? null : all.min,
    max: n === 0 ? null : all.max,
    steady: steadyOf(all.slices),
  };
}

/**
 * A field of an LP's state that takes values one by one, and gives their count, mean, standard deviation, minimum and maximum.
 * Its results are part of the run's, over all LPs, under the field's name.
 * @throws RangeError for an invalid number of slices
 * @example
 * ```ts
 * import { defineModel, tally } from 'triscope/sim';
 *
 * export default defineModel({
 *   name: 'steps',
 *   lps: () => 10,
 *   end: 1000,
 *   state: { pause: tally({ slices: 128 }) },
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
export function tally(options: StatisticOptions = {}): CellsField<Tally, ReadonlyTally> {
  const slices = expectSlices('tally', options);
  return {
    kind: 'cells',
    cells: SLICES + Slices.size(slices, 2),
    view: (cells) => new LpTally(cells, slices),
  };
}
