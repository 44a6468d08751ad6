/** One device's counters as differences per second, record by record: by the rule of `model/counter.ts`. */

import type { RawOrigin } from '../formats/part.ts';
import { DeviceRepair, type RepairPlan, wasRestarted } from '../formats/tacc/index.ts';
import { isExact } from '../model/counter.ts';

/** A record's values by key, and the same memory as words, low half first. */
export interface RecordValues {
  readonly values: BigUint64Array;
  readonly words: Uint32Array;
}

/** Receives the counts up to each record. */
export interface RatePlace {
  /** Beginnings of intervals, s since 1970; the record's row is set where it ends one. */
  readonly since: Float64Array;
  /** By counter. */
  readonly rates: readonly Float64Array[];
}

const WORD = 2 ** 32;

/** One device's records so far. */
export class DeviceRates {
  private readonly repair: DeviceRepair;
  private readonly origin: RawOrigin;
  private readonly counters: readonly number[];
  /** By counter: counted since `#since`, NaN where that is not known. */
  private readonly counted: Float64Array;
  /** What counting goes on from, and the same memory as words. */
  private readonly base: BigUint64Array;
  private readonly baseWords: Uint32Array;
  private readonly told = new Set<number>();
  private last: number;
  private since: number;
  private boot: number | null;

  constructor(plan: RepairPlan, counters: readonly number[], origin: RawOrigin, seconds: number) {
    this.repair = new DeviceRepair(plan);
    this.origin = origin;
    this.counters = counters;
    this.counted = new Float64Array(counters.length);
    this.base = new BigUint64Array(counters.length);
    this.baseWords = new Uint32Array(this.base.buffer);
    this.since = seconds;
    this.last = seconds;
    this.boot = origin.boot;
  }

  /** Whether records of `origin` go on where these ended. */
  goesOn(origin: RawOrigin): boolean {
    return origin.scaledEnergy === this.origin.scaledEnergy;
  }

  begin(seconds: number, values: BigUint64Array): void {
    this.repair.step(seconds, values, () => {});
    for (const [n, k] of this.counters.entries()) this.base[n] = values[k];
  }

  take(
    seconds: number,
    { since, rates }: RatePlace,
    row: number,
    { values, words }: RecordValues,
    { boot }: RawOrigin,
  ): void {
    const rebooted = wasRestarted(this.boot, this.last, boot);
    this.told.clear();
    this.repair.step(
      seconds,
      values,
      (k, repaired) => {
        const n = this.counters.indexOf(k);
        this.told.add(n);
        this.counted[n] += isExact(repaired) ? Number(repaired.delta) : Number.NaN;
        this.base[n] = repaired.base;
      },
      { rebooted },
    );
    // Nearly all records take this path. It works on words, since bigints would be objects.
    const base = this.baseWords;
    for (let n = 0; n < this.counters.length; n++) {
      if (this.told.size > 0 && this.told.has(n)) continue;
      const k = 2 * this.counters[n];
      this.counted[n] += (words[k + 1] - base[2 * n + 1]) * WORD + (words[k] - base[2 * n]);
      base[2 * n] = words[k];
      base[2 * n + 1] = words[k + 1];
    }
    this.boot = boot ?? this.boot;
    this.last = Math.max(this.last, seconds);
    // Of records of the same moment the counts go into the next interval.
    if (!(seconds > this.since)) return;
    since[row] = this.since;
    for (let n = 0; n < this.counters.length; n++) {
      rates[n][row] = this.counted[n] / (seconds - this.since);
      this.counted[n] = 0;
    }
    this.since = seconds;
  }
}
