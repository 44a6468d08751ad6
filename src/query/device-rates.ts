/** One device's counters of raw stats as differences per second, record by record: by the rule of `formats/tacc/repair.ts`. */
import { DeviceRepair, type RepairPlan, wasRestarted } from '../formats/tacc/index.ts';
import type { RawOrigin } from './part.ts';

/** Where what was counted up to a record goes. */
export interface RatePlace {
  /** Beginnings of intervals, s since 1970; the record's row is set where it ends one. */
  readonly since: Float64Array;
  /** By counter. */
  readonly rates: readonly Float64Array[];
}

/** One device's records so far. */
export class DeviceRates {
  readonly #repair: DeviceRepair;
  readonly #origin: RawOrigin;
  readonly #counters: readonly number[];
  /** By counter: counted since `#since`, NaN where that is not known. */
  readonly #counted: Float64Array;
  readonly #base: bigint[];
  readonly #told = new Set<number>();
  #last: number;
  #since: number;
  #boot: number | null;

  constructor(plan: RepairPlan, counters: readonly number[], origin: RawOrigin, seconds: number) {
    this.#repair = new DeviceRepair(plan);
    this.#origin = origin;
    this.#counters = counters;
    this.#counted = new Float64Array(counters.length);
    this.#base = new Array<bigint>(counters.length).fill(0n);
    this.#since = seconds;
    this.#last = seconds;
    this.#boot = origin.boot;
  }

  /** Whether records of `origin` go on where these ended. */
  goesOn(origin: RawOrigin): boolean {
    return origin.scaledEnergy === this.#origin.scaledEnergy;
  }

  begin(seconds: number, values: BigUint64Array): void {
    this.#repair.step(seconds, values, () => {});
    for (const [n, k] of this.#counters.entries()) this.#base[n] = values[k];
  }

  take(
    seconds: number,
    { since, rates }: RatePlace,
    row: number,
    values: BigUint64Array,
    { boot }: RawOrigin,
  ): void {
    const rebooted = wasRestarted(this.#boot, this.#last, boot);
    this.#told.clear();
    this.#repair.step(
      seconds,
      values,
      (k, { verdict, delta, base }) => {
        const n = this.#counters.indexOf(k);
        this.#told.add(n);
        const isKnown = verdict !== 'reset' && verdict !== 'suspect';
        this.#counted[n] += isKnown ? Number(delta) : Number.NaN;
        this.#base[n] = base;
      },
      { rebooted },
    );
    for (const [n, k] of this.#counters.entries()) {
      if (this.#told.has(n)) continue;
      this.#counted[n] += Number(values[k] - this.#base[n]);
      this.#base[n] = values[k];
    }
    this.#boot = boot ?? this.#boot;
    this.#last = Math.max(this.#last, seconds);
    // Of records of the same moment the counts go into the next interval.
    if (!(seconds > this.#since)) return;
    since[row] = this.#since;
    for (let n = 0; n < this.#counters.length; n++) {
      rates[n][row] = this.#counted[n] / (seconds - this.#since);
      this.#counted[n] = 0;
    }
    this.#since = seconds;
  }
}
