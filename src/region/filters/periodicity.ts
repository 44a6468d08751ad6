/**
 * The period of a sequence by edit distance: how far its latest part is from the part before it.
 * Source: GEOPM's record filter `edit_distance` (geopmlaunch(1), --geopm-record-filter).
 *
 * With n values seen, distance(m) is the edit distance (insert or delete 1, replace 2) between the n - m values after
 * m and the closest sequence among those that end at m. The m with the least distance, if at most half of the values come
 * after it, splits off the part that repeats; its smallest repeating unit is the period. Distances grow by
 * one row and column per value, in tables that remember as many values as the buffer holds.
 * A distance to values that are no longer remembered is FAR, as in GEOPM.
 */
export class Periodicity {
  private readonly size: number;
  /** Value k, from 1, is at k mod size. */
  private readonly history: Uint32Array;
  /** Least distance of values that end at i from the j values after m, at ((i mod size) · size + j mod size) · size + m mod size. */
  private readonly distance: Uint32Array;
  private _count = 0;
  private _period = 0;
  private _score = 0;

  /** @param buffer values that are remembered; memory is 4 · buffer³ bytes, time per value grows with buffer² */
  constructor(buffer: number) {
    this.size = buffer;
    this.history = new Uint32Array(buffer);
    this.distance = new Uint32Array(buffer ** 3);
  }

  /** Number of values seen. */
  get count(): number {
    return this._count;
  }

  /** Length of the period; 0 if it is not known. */
  get period(): number {
    return this._period;
  }

  /** Edit distance of the repetition that was recognised; 0 for an exact one. */
  get score(): number {
    return this._score;
  }

  private at(i: number, j: number, m: number): number {
    const size = this.size;
    return ((i % size) * size + (j % size)) * size + (m % size);
  }

  /** The distance at `at`; FAR if it concerns values that are no longer remembered. */
  private look(i: number, j: number, m: number): number {
    const { size, _count: n } = this;
    return n - i < size && j < size && n - m < size ? this.distance[this.at(i, j, m)] : FAR;
  }

  add(value: number): void {
    const { size, history, distance } = this;
    const n = ++this._count;
    history[n % size] = value;
    if (n < 2) return;
    const oldest = Math.max(1, n - size + 1);
    for (let i = oldest - 1; i < n; i++) distance[this.at(i, 0, n - 1)] = 0;
    for (let m = oldest; m < n; m++) distance[this.at(0, n - m, m)] = n - m;
    for (let m = oldest; m < n; m++) {
      const j = n - m;
      // Above, and diagonally: the distance of a sequence that is one value shorter.
      let above = this.look(oldest - 1, j, m);
      let aslant = this.look(oldest - 1, j - 1, m);
      for (let i = oldest; i <= m; i++) {
        const left = distance[this.at(i, j - 1, m)];
        const differ = history[i % size] === value ? 0 : 2;
        above = Math.min(above + 1, left + 1, aslant + differ);
        aslant = left;
        distance[this.at(i, j, m)] = above;
      }
    }
    this.choose(Math.max(Math.ceil(n / 2), n - size));
  }

  private choose(first: number): void {
    const n = this._count;
    let best = first;
    let least = this.look(first, n - first, first);
    for (let m = first + 1; m < n; m++) {
      const value = this.look(m, n - m, m);
      if (value >= least) continue;
      least = value;
      best = m;
    }
    this._score = least;
    this._period = this.unit(n - best);
  }

  /** The length of the shortest sequence whose repetition gives the last `length` values. */
  private unit(length: number): number {
    const size = this.size;
    const first = this._count - length + 1;
    for (let unit = 1; unit <= length / 2; unit++) {
      if (length % unit !== 0) continue;
      let same = true;
      for (let k = unit; k < length && same; k++) {
        same = this.history[(first + k) % size] === this.history[(first + k - unit) % size];
      }
      if (same) return unit;
    }
    return length;
  }
}

/** Larger than every distance; adding 1 does not overflow 32 bits. */
const FAR = 2 ** 31 - 1;
