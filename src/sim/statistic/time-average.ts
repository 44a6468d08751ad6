/** Statistics of a value that lasts until the next one: lengths of lines, busy servers. */
import type { Cells, CellsField } from '../../model/cells.ts';
import { sealed } from '../../model/struct-class.ts';
import { type ExactSum, rounded } from '../exact-sum.ts';
import { addAll, type GatheredSlices, gatherSlices, mergeSlices, steadyOf } from './merge.ts';
import { expectSlices, type StatisticOptions } from './options.ts';
import { Slices } from './slices.ts';
import type { SteadyMean } from './steady.ts';

const VALUE = 0;
const SINCE = 1;
const AREA = 2;
const MIN = 3;
const MAX = 4;
/** Whether MIN and MAX hold anything. */
const SEEN = 5;
const SLICES = 6;

/** A time average of one LP, read in a handler. */
export interface ReadonlyTimeAverage {
  /** The present value; 0 at the start. */
  readonly value: number;
  /** Average over virtual time from `--warmup` to now, in the value's unit; NaN where no time has passed. */
  readonly mean: number;
  /** Least value since `--warmup`. */
  readonly min: number;
  /** Greatest value since `--warmup`. */
  readonly max: number;
}

/** The average of a value over virtual time; a change is undone when the event that made it is rolled back. */
export interface TimeAverage extends ReadonlyTimeAverage {
  /** Changes the value to `value` at the present virtual time. */
  set(value: number): void;
  /** Changes the value by `difference`, which may be negative, at the present virtual time. */
  add(difference: number): void;
}

/** The time averages of all LPs under one name, together. */
export interface TimeAverageResult {
  /** Which statistic it is. */
  readonly kind: 'timeAverage';
  /** How many LPs have it. */
  readonly lps: number;
  /** Virtual time over which each LP's value was averaged. */
  readonly time: number;
  /** Average over virtual time and LPs, in the value's unit; null where no time passed. */
  readonly mean: number | null;
  /** Least value of any LP. */
  readonly min: number;
  /** Greatest value of any LP. */
  readonly max: number;
  /** The mean without the warm-up, with its confidence interval; null without `slices`, or where the run is too short. */
  readonly steady: SteadyMean | null;
}

/** Plain data: it crosses threads. */
export interface GatheredTimeAverage {
  readonly kind: 'timeAverage';
  lps: number;
  readonly time: number;
  min: number;
  max: number;
  readonly area: ExactSum;
  slices: GatheredSlices | null;
}

class LpTimeAverage implements TimeAverage {
  private readonly cells: Cells;
  private readonly slices: Slices | null;

  constructor(cells: Cells, slices: number) {
    this.cells = cells;
    this.slices = slices === 0 ? null : new Slices(cells, SLICES, slices, 1);
  }

  set(value: number): void {
    const { cells, slices } = this;
    cells.expectNumber('set', value);
    const { now, warmup } = cells.host;
    const before = cells.get(VALUE);
    const since = Math.max(cells.get(SINCE), warmup);
    if (now > since) {
      cells.set(AREA, cells.get(AREA) + before * (now - since));
      if (slices !== null && before !== 0) slices.fill(since, now, before);
    }
    cells.set(VALUE, value);
    cells.set(SINCE, now);
    if (now < warmup) return;
    if (cells.get(SEEN) === 0) {
      // The value until now counts from the warm-up on.
      cells.set(SEEN, 1);
      const first = now > warmup ? before : value;
      cells.set(MIN, Math.min(first, value));
      cells.set(MAX, Math.max(first, value));
    } else if (value < cells.get(MIN)) cells.set(MIN, value);
    else if (value > cells.get(MAX)) cells.set(MAX, value);
  }

  add(difference: number): void {
    this.cells.expectNumber('add', difference);
    this.set(this.cells.get(VALUE) + difference);
  }

  get value(): number {
    return this.cells.get(VALUE);
  }

  /** Value times time, up to now. */
  private area(): number {
    const { cells } = this;
    const { now, warmup } = cells.host;
    const since = Math.max(cells.get(SINCE), warmup);
    return cells.get(AREA) + (now > since ? cells.get(VALUE) * (now - since) : 0);
  }

  get mean(): number {
    const { now, warmup } = this.cells.host;
    return now > warmup ? this.area() / (now - warmup) : Number.NaN;
  }

  get min(): number {
    return this.cells.get(SEEN) === 0 ? this.value : this.cells.get(MIN);
  }

  get max(): number {
    return this.cells.get(SEEN) === 0 ? this.value : this.cells.get(MAX);
  }

  gather(): GatheredTimeAverage {
    const { cells } = this;
    const { now, warmup } = cells.host;
    return {
      kind: 'timeAverage',
      lps: 1,
      time: Math.max(0, now - warmup),
      min: this.min,
      max: this.max,
      area: [this.area()],
      slices: this.slices === null ? null : this.upToNow(this.slices),
    };
  }

  /** Sums by slice with the present value up to now. */
  private upToNow(slices: Slices): GatheredSlices {
    const { cells } = this;
    const { now, warmup } = cells.host;
    const sums = slices.read(now);
    const value = cells.get(VALUE);
    const since = Math.max(cells.get(SINCE), warmup);
    for (let k = 0; value !== 0 && k < sums.columns[0].length; k++) {
      const begin = sums.from + k * sums.length;
      const overlap = Math.min(now, begin + sums.length) - Math.max(since, begin);
      if (overlap > 0) sums.columns[0][k] += value * overlap;
    }
    return gatherSlices(sums);
  }

  toJSON(): object {
    const { value, min, max } = this;
    return { value, since: this.cells.get(SINCE), area: this.cells.get(AREA), min, max };
  }
}
sealed(LpTimeAverage, 'a time average', ['cells', 'slices']);

export function mergeTimeAverages(into: GatheredTimeAverage, from: GatheredTimeAverage): void {
  into.lps += from.lps;
  into.min = Math.min(into.min, from.min);
  into.max = Math.max(into.max, from.max);
  addAll(into.area, from.area);
  into.slices = mergeSlices(into.slices, from.slices);
}

export function timeAverageResult(all: GatheredTimeAverage): TimeAverageResult {
  const { lps, time, min, max } = all;
  const steady = steadyOf(all.slices);
  return {
    kind: 'timeAverage',
    lps,
    time,
    mean: time > 0 ? rounded(all.area) / (time * lps) : null,
    min,
    max,
    steady: steady && {
      ...steady,
      mean: steady.mean / lps,
      low: steady.low / lps,
      high: steady.high / lps,
    },
  };
}

/**
 * A field of an LP's state whose value lasts until it is set anew, and whose average over virtual time is part of the run's
 * results, over all LPs, under the field's name.
 * @throws RangeError for an invalid number of slices
 * @example
 * ```ts
 * import { defineModel, timeAverage } from 'triscope/sim';
 *
 * export default defineModel({
 *   name: 'switch',
 *   lps: () => 10,
 *   end: 1000,
 *   state: { on: timeAverage() },
 *   message: {},
 *   init: (lp) => void lp.send(lp.id, 1),
 *   forward(lp) {
 *     lp.state.on.set(1 - lp.state.on.value);
 *     lp.send(lp.id, lp.exponential(lp.state.on.value === 1 ? 1 : 3)); // on for a quarter of the time
 *   },
 * });
 * ```
 */
export function timeAverage(
  options: StatisticOptions = {},
): CellsField<TimeAverage, ReadonlyTimeAverage> {
  const slices = expectSlices('timeAverage', options);
  return {
    kind: 'cells',
    cells: SLICES + Slices.size(slices, 1),
    view: (cells) => new LpTimeAverage(cells, slices),
  };
}
