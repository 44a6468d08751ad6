/**
 * One entity's samples in time, and their bins. Runs in the server and in the page.
 *
 * A sample at t covers the time since the entity's previous sample: ( t', t ]. A counter's amount in it, over its
 * length, is a rate; a gauge holds its value through it. Bins are means over time, so they do not depend on how
 * often samples were taken, and the sum of rate × width is the number counted.
 */

/** Min, max and mean of each bin; NaN where nothing was measured. */
export interface Bins {
  readonly min: Float32Array;
  readonly max: Float32Array;
  readonly mean: Float32Array;
}

/** Rows that a track may hold. Tracks of one table share theirs. */
export interface RowLimit {
  rows: number;
}

const START = 16;

/** Sums of one track's bins: used anew for each, as a live page makes those of hundreds many times a second. */
const scratch = { sums: new Float64Array(0), spans: new Float64Array(0) };
function scratchOf(count: number): typeof scratch {
  if (scratch.sums.length < count) {
    scratch.sums = new Float64Array(count);
    scratch.spans = new Float64Array(count);
  } else {
    scratch.sums.fill(0, 0, count);
    scratch.spans.fill(0, 0, count);
  }
  return scratch;
}

/** Bins of `tracks` tracks in one piece of memory, NaN all. */
export function emptyBins(tracks: number, count: number): Bins[] {
  const all = new Float32Array(3 * tracks * count).fill(Number.NaN);
  const part = (k: number) => all.subarray(k * count, (k + 1) * count);
  return Array.from({ length: tracks }, (_, k) => {
    const [min, max, mean] = [part(3 * k), part(3 * k + 1), part(3 * k + 2)];
    return { min, max, mean };
  });
}

export class Track {
  /** Rows in use. */
  length = 0;
  private _times = new Float64Array(START);
  /** Where each row's interval begins. */
  private _froms = new Float64Array(START);
  private readonly columns: Float32Array[];
  /** When there are this many rows, the older half is dropped. */
  private readonly limit: RowLimit;

  constructor(columns: number, limit: RowLimit = { rows: Infinity }) {
    this.columns = Array.from({ length: columns }, () => new Float32Array(START));
    this.limit = limit;
  }

  /** Time of the last row; -Infinity without one. */
  get last(): number {
    return this.length === 0 ? Number.NEGATIVE_INFINITY : this._times[this.length - 1];
  }

  /** Where the first row's interval begins. */
  get first(): number {
    return this.length === 0 ? Number.POSITIVE_INFINITY : this._froms[0];
  }

  /** End of each row's interval; rows in use are the first `length`. */
  get times(): Float64Array {
    return this._times;
  }

  /** Where each row's interval begins. */
  get froms(): Float64Array {
    return this._froms;
  }

  column(k: number): Float32Array {
    return this.columns[k];
  }

  /** Adds a row for ( from, time ]. Its values follow by `set`. */
  add(from: number, time: number): void {
    if (this.length >= this.limit.rows) this.forget();
    if (this.length === this._times.length) this.grow();
    this._froms[this.length] = from;
    this._times[this.length++] = time;
  }

  /** The newest row's value in a column: an amount or a state; NaN where missing. */
  set(column: number, value: number): void {
    this.columns[column][this.length - 1] = value;
  }

  /** Bins of the sum of `columns`, over [from, to). `asRate`: amounts per second. */
  bins(columns: readonly number[], asRate: boolean, from: number, to: number, count: number): Bins {
    const [bins] = emptyBins(1, count);
    this.fill(bins, columns, asRate, from, to);
    return bins;
  }

  /** The same into bins that are all NaN. */
  fill(
    { min, max, mean }: Bins,
    columns: readonly number[],
    asRate: boolean,
    from: number,
    to: number,
  ): void {
    const count = mean.length;
    const { sums, spans } = scratchOf(count);
    const width = (to - from) / count;
    const [times, froms] = [this._times, this._froms];
    const [first, ...more] = columns.map((column) => this.columns[column]);
    // Rows come in the order of time: the bin in which a row begins never goes back.
    let begun = 0;
    let begunEnd = from + width;
    for (let row = this.firstAfter(from); row < this.length; row++) {
      const begin = froms[row];
      if (begin >= to) break;
      const end = times[row];
      const span = end - begin;
      let value = first[row];
      for (let k = 0; k < more.length; k++) value += more[k][row];
      if (asRate) value /= span;
      // Also where a value is missing.
      if (!(span > 0) || Number.isNaN(value)) continue;
      while (begin >= begunEnd && begun < count - 1) begunEnd = from + (++begun + 1) * width;
      for (let bin = begun, binEnd = begunEnd; bin < count; binEnd = from + (++bin + 1) * width) {
        const overlap = Math.min(end, binEnd) - Math.max(begin, binEnd - width);
        if (overlap > 0) {
          sums[bin] += value * overlap;
          spans[bin] += overlap;
          if (!(min[bin] <= value)) min[bin] = value;
          if (!(max[bin] >= value)) max[bin] = value;
        }
        if (end <= binEnd) break;
      }
    }
    for (let bin = 0; bin < count; bin++) if (spans[bin] > 0) mean[bin] = sums[bin] / spans[bin];
  }

  /** The first row that ends after `time`. */
  firstAfter(time: number): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this._times[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  private grow(): void {
    const wider = <T extends Float64Array | Float32Array>(old: T, made: T): T => {
      made.set(old);
      return made;
    };
    const size = 2 * this._times.length;
    this._times = wider(this._times, new Float64Array(size));
    this._froms = wider(this._froms, new Float64Array(size));
    this.columns.forEach((column, k) => {
      this.columns[k] = wider(column, new Float32Array(size));
    });
  }

  private forget(): void {
    const keep = this.length >> 1;
    const from = this.length - keep;
    for (const array of [this._times, this._froms, ...this.columns]) {
      array.copyWithin(0, from, this.length);
    }
    this.length = keep;
  }
}
