/**
 * Attribution of samples: how much of each signal's change belongs to which region, to the epochs and to the
 * whole application. Source: geopm_report(7), "Attributing Signals to Regions".
 *
 * ```
 * sample      0           1           2           3
 * time        0 ───────── 2 ───────── 4 ───────── 6
 * region      -           A           A           -        in which all CPUs of the scope are when sampled
 * change        x1 - x0     x2 - x1     x3 - x2
 * goes to       unmarked    A           A                  the region at the interval's start
 * ```
 *
 * A monotone signal's change is summed; a variable signal's value at the interval's end is weighted with its length.
 * A signal's scope is the domain and index whose CPUs are asked for their region: signals of two
 * packages may differ in it. Nothing is allocated per sample.
 */
import { HASH_UNMARKED } from '../model/region-hash.ts';

export interface AttributedSignal {
  readonly behaviour: 'monotone' | 'variable';
  /** Index into the hashes of a sample. */
  readonly scope: number;
}

/** Bits: some process has reached an epoch; all processes have. */
export const EPOCH_SOME = 1;
export const EPOCH_ALL = 2;

/** Rows of totals before those of the regions. */
export const ROW = { application: 0, epoch: 1, epochOfAll: 2, unmarked: 3 } as const;

interface AttributionOptions {
  /** GEOPM weights the first value of a variable signal from time 0, not from the first sample. */
  readonly weighFromZero?: boolean;
}

export class Attribution {
  private readonly signals: readonly AttributedSignal[];
  private readonly rows = new Map<number, number>([[HASH_UNMARKED, ROW.unmarked]]);
  private readonly weighFromZero: boolean;
  /** Row r, signal s at r × signals + s: sums of changes, or of value × time; and of time. */
  private sums: Float64Array;
  private weights: Float64Array;
  /** Per signal: value, time, row and epoch bits of the interval's start. */
  private readonly last: Float64Array;
  private readonly lastTime: Float64Array;
  private readonly lastRow: Int32Array;
  private readonly lastEpoch: Uint8Array;
  private readonly _seen: Uint8Array;
  private begun = false;

  constructor(signals: readonly AttributedSignal[], options: AttributionOptions = {}) {
    const n = signals.length;
    this.signals = signals;
    this.weighFromZero = options.weighFromZero ?? false;
    this.sums = new Float64Array(16 * n);
    this.weights = new Float64Array(16 * n);
    this.last = new Float64Array(n).fill(Number.NaN);
    this.lastTime = new Float64Array(n);
    this.lastRow = new Int32Array(n);
    this.lastEpoch = new Uint8Array(n);
    this._seen = new Uint8Array(n);
  }

  /**
   * Takes a sample. The first one is only the start of the first interval.
   * @param time s since time zero
   * @param values of the signals; NaN where there is none
   * @param hashes of the scopes' regions
   * @param epoch EPOCH_*
   */
  update(time: number, values: Float64Array, hashes: Uint32Array, epoch: number): void {
    const signals = this.signals;
    for (let s = 0; s < signals.length; s++) {
      const value = values[s];
      const { behaviour, scope } = signals[s];
      const missing = Number.isNaN(value);
      if (!missing) this._seen[s] = 1;
      if (behaviour === 'monotone') {
        // The change over the gap goes to the region at the gap's start: it is known only when the signal is back.
        if (missing) continue;
        const last = this.last[s];
        if (this.begun && !Number.isNaN(last)) this.add(s, value - last, 0);
        this.last[s] = value;
      } else if (!missing && this.begun) {
        const span = time - this.lastTime[s];
        this.add(s, span * value, span);
      }
      if (this.begun || !this.weighFromZero) this.lastTime[s] = time;
      this.lastRow[s] = this._rowOf(hashes[scope]);
      this.lastEpoch[s] = epoch;
    }
    this.begun = true;
  }

  /**
   * Adds what changed before the first sample, as a change in no region.
   * @param from values at the beginning
   * @param first values of the first sample
   * @param span s between the two
   */
  before(from: Float64Array, first: Float64Array, span: number): void {
    const n = this.signals.length;
    for (const [s, { behaviour }] of this.signals.entries()) {
      const isTotal = behaviour === 'monotone';
      const amount = isTotal ? first[s] - from[s] : span * first[s];
      if (Number.isNaN(amount)) continue;
      for (const row of [ROW.application, ROW.unmarked]) {
        this.addTo(row * n + s, amount, isTotal ? 0 : span);
      }
    }
  }

  private add(s: number, amount: number, weight: number): void {
    const n = this.signals.length;
    const epoch = this.lastEpoch[s];
    this.addTo(s, amount, weight);
    if (epoch & EPOCH_SOME) this.addTo(n * ROW.epoch + s, amount, weight);
    if (epoch & EPOCH_ALL) this.addTo(n * ROW.epochOfAll + s, amount, weight);
    this.addTo(n * this.lastRow[s] + s, amount, weight);
  }

  private addTo(at: number, amount: number, weight: number): void {
    this.sums[at] += amount;
    this.weights[at] += weight;
  }

  private _rowOf(hash: number): number {
    const known = this.rows.get(hash);
    if (known !== undefined) return known;
    if (hash === 0) return ROW.unmarked;
    const row = ROW.unmarked + this.rows.size;
    this.rows.set(hash, row);
    const need = (row + 1) * this.signals.length;
    if (need > this.sums.length) {
      this.sums = grown(this.sums);
      this.weights = grown(this.weights);
    }
    return row;
  }

  /** Row of a region's totals; null where no sample found it. */
  rowOf(hash: number): number | null {
    return this.rows.get(hash) ?? (hash === 0 ? ROW.unmarked : null);
  }

  /** Whether any sample had this signal. */
  seen(signal: number): boolean {
    return this._seen[signal] === 1;
  }

  /**
   * A monotone signal's change, or a variable signal's time-weighted mean (NaN without any time). For a row that is
   * null, a region that no sample found: 0 and NaN.
   */
  total(row: number | null, signal: number): number {
    const at = row === null ? -1 : row * this.signals.length + signal;
    const sum = this.sums[at] ?? 0;
    if (this.signals[signal].behaviour === 'monotone') return sum;
    const weight = this.weights[at] ?? 0;
    return weight === 0 ? Number.NaN : sum / weight;
  }
}

function grown(values: Float64Array): Float64Array {
  const larger = new Float64Array(values.length * 2);
  larger.set(values);
  return larger;
}
