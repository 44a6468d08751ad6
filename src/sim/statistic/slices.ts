/**
 * Sums of a statistic over equal slices of virtual time, from which its warm-up and its confidence interval are computed.
 *
 *     warm-up |--0--|--1--|--2--| … |--n-1--|      n full: pairs are merged into slices twice as long
 *
 * The finest slices are 2^-16 of an n-th of the run, so that a run which ends early has between n/2 and n full ones, too;
 * all LPs' slices have common edges.
 */
import type { Cells, FieldHost } from '../../model/cells.ts';

/** The shortest slice is so many times, in powers of two, shorter than the longest. */
const LEVELS = 16;

/** Length of the finest of `n` slices; a power of two of it is that of any other. */
function finest(n: number, { end, warmup }: FieldHost): number {
  const span = Number.isFinite(end) && end > warmup ? end - warmup : 1;
  return span / n / 2 ** LEVELS;
}

/** The level at which `n` slices reach to `time`: their length is the finest times 2^level. */
function levelFor(n: number, units: number): number {
  let level = 0;
  while (units > n * 2 ** level) level++;
  return level;
}

/** Sums by slice, plain data. */
export interface SliceSums {
  /** Virtual time of the first slice's begin, and how long each is. */
  readonly from: number;
  readonly length: number;
  /** How many slices ended before the run did. */
  readonly whole: number;
  /** One array per column. */
  readonly columns: readonly Float64Array[];
}

/** In cells: the level, then `columns` sums of each slice. */
export class Slices {
  readonly n: number;
  private readonly columns: number;
  private readonly cells: Cells;
  private readonly at: number;

  /** How many cells this takes. */
  static size(n: number, columns: number): number {
    return n === 0 ? 0 : 1 + n * columns;
  }

  constructor(cells: Cells, at: number, n: number, columns: number) {
    this.cells = cells;
    this.at = at;
    this.n = n;
    this.columns = columns;
  }

  /** Adds `values`, one per column, at `now`. */
  count(now: number, first: number, second: number): void {
    const { cells, columns } = this;
    const at = this.at + 1 + this.sliceOf(now) * columns;
    cells.set(at, cells.get(at) + first);
    if (columns > 1) cells.set(at + 1, cells.get(at + 1) + second);
  }

  /** Adds to the first column `value` times the length of each slice's part of `from` … `to`. */
  fill(from: number, to: number, value: number): void {
    const { cells, columns } = this;
    const { host } = cells;
    // First for the later end, because it needs the coarser slices.
    const last = this.sliceOf(to);
    const length = this.length();
    let slice = Math.min(this.sliceOf(from), last);
    let begin = from;
    for (; slice < last; slice++) {
      const end = host.warmup + (slice + 1) * length;
      const at = this.at + 1 + slice * columns;
      cells.set(at, cells.get(at) + value * (end - begin));
      begin = end;
    }
    const at = this.at + 1 + last * columns;
    cells.set(at, cells.get(at) + value * (to - begin));
  }

  /** All sums as if the value had been set again at `now`: in all LPs the same slices. */
  read(now: number): SliceSums {
    const { cells, columns, n } = this;
    const { host } = cells;
    const unit = finest(n, host);
    const units = (now - host.warmup) / unit;
    const level = Math.max(levelFor(n, units), cells.get(this.at));
    const shift = level - cells.get(this.at);
    const sums = Array.from({ length: columns }, () => new Float64Array(n));
    for (let k = 0; k < n; k++) {
      for (let c = 0; c < columns; c++)
        sums[c][k >> shift] += cells.get(this.at + 1 + k * columns + c);
    }
    const length = unit * 2 ** level;
    const whole = Math.max(0, Math.min(n, Math.floor(units / 2 ** level)));
    return { from: host.warmup, length, whole, columns: sums };
  }

  private length(): number {
    return finest(this.n, this.cells.host) * 2 ** this.cells.get(this.at);
  }

  /** The slice of time `now`, after making room for it. */
  private sliceOf(now: number): number {
    const { cells, n } = this;
    const units = (now - cells.host.warmup) / finest(n, cells.host);
    let level = cells.get(this.at);
    while (units >= n * 2 ** level) {
      this.halve();
      level++;
    }
    return Math.floor(units / 2 ** level);
  }

  private halve(): void {
    const { cells, columns, n, at } = this;
    for (let k = 0; k < n; k++) {
      for (let c = 0; c < columns; c++) {
        const of = (slice: number) => (slice < n ? cells.get(at + 1 + slice * columns + c) : 0);
        const sum = of(2 * k) + of(2 * k + 1);
        const to = at + 1 + k * columns + c;
        if (cells.get(to) !== sum) cells.set(to, sum);
      }
    }
    cells.set(at, cells.get(at) + 1);
  }
}
