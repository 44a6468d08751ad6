/**
 * Takes one device's records in order, repairs its counters and adds them to its type's rows. A counter that behaves normally
 * costs two subtractions of 32 bits; totals are converted to 64-bit integers at the end.
 */
import { DeviceRepair, type Repaired, type RepairPlan } from '../../formats/tacc/index.ts';
import { type DeviceTotals, MOST_ODD, type OpenKey, type TypeTable } from './type-table.ts';

/** Where a value is added; null for control registers, which only name other values. */
export type Slot = { readonly table: TypeTable; readonly key: OpenKey } | null;

/** Returns the slots for a record, from its control registers. */
export type Naming = (values: BigUint64Array) => readonly Slot[];

const WORD = 2 ** 32;
const REGISTER = /^(CTL|PERFEVTSEL)\d+$/;

export class DeviceRecords {
  private slots: readonly Slot[];
  private readonly name: string;
  private readonly naming: Naming;
  /** Indices of the registers that say what the counters count. */
  private readonly registers: readonly number[];
  private readonly registerValues: BigUint64Array;
  private readonly repair: DeviceRepair;
  private totals: readonly (DeviceTotals | null)[];
  /** By key: the counter's value when it last began to count normally. */
  private readonly start: BigUint64Array;
  private readonly startWords: Uint32Array;
  /** By key: the value with which the next record is compared. */
  private readonly base: BigUint64Array;
  private readonly baseWords: Uint32Array;
  /** By key: the amount counted before `start`, exact and as a double. */
  private readonly before: bigint[];
  private readonly beforeNumber: Float64Array;
  /** By key: the amount counted up to the last record. */
  private readonly counted: Float64Array;
  private readonly tell: (key: number, repaired: Repaired) => void;
  private records = 0;
  /** Seconds since 1970 of the current record. */
  private now = 0;
  /** By key: the number of records before those of its present name. */
  private readonly since: Float64Array;
  /** How many starts of the host it has seen. */
  private boots: number;
  /** Keys whose verdict on this record has been noted. */
  private readonly told: Uint8Array;

  constructor(
    name: string,
    plan: RepairPlan,
    naming: Naming,
    values: BigUint64Array,
    boots: number,
  ) {
    const { keys } = plan.schema;
    const { length } = keys;
    this.name = name;
    this.naming = naming;
    this.slots = naming(values);
    this.totals = this.places();
    this.registers = keys.flatMap((key, k) => (REGISTER.test(key.name) ? [k] : []));
    this.registerValues = new BigUint64Array(values);
    this.repair = new DeviceRepair(plan);
    this.start = new BigUint64Array(length);
    this.startWords = new Uint32Array(this.start.buffer);
    this.base = new BigUint64Array(length);
    this.baseWords = new Uint32Array(this.base.buffer);
    this.before = new Array<bigint>(length).fill(0n);
    this.beforeNumber = new Float64Array(length);
    this.counted = new Float64Array(length);
    this.told = new Uint8Array(length);
    this.since = new Float64Array(length).fill(1);
    this.boots = boots;
    this.tell = (key, repaired) => this.odd(key, repaired);
  }

  /** The totals that it adds to. */
  private places(): readonly (DeviceTotals | null)[] {
    return this.slots.map((slot) => {
      if (slot === null) return null;
      // Two counters of one device may count the same event: they share one total.
      let place = slot.key.devices.get(this.name);
      if (place !== undefined) return place;
      const none = Number.NaN;
      place = { total: 0n, first: none, last: none, least: none, most: none };
      slot.key.devices.set(this.name, place);
      return place;
    });
  }

  /** Where a register changed, its counter's further counts go to another key. */
  private rename(values: BigUint64Array): void {
    const old = this.slots;
    const next = this.naming(values);
    for (let k = 0; k < old.length; k++) {
      if (old[k]?.key === next[k]?.key) continue;
      this.finishKey(k);
      this.start[k] = values[k];
      this.base[k] = values[k];
      this.before[k] = 0n;
      this.beforeNumber[k] = 0;
      this.counted[k] = 0;
      this.since[k] = this.records;
    }
    this.slots = next;
    this.totals = this.places();
    this.registerValues.set(values);
  }

  private hasChanged(values: BigUint64Array): boolean {
    for (const k of this.registers) if (values[k] !== this.registerValues[k]) return true;
    return false;
  }

  /** Takes the next record. `boots`: starts of the host so far. */
  take(seconds: number, values: BigUint64Array, boots: number): void {
    const first = this.records === 0;
    const words = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
    this.told.fill(0);
    if (first) {
      this.start.set(values);
      this.base.set(values);
    }
    this.now = seconds;
    if (!first && this.hasChanged(values)) this.rename(values);
    this.repair.step(seconds, values, this.tell, { rebooted: boots > this.boots });
    this.boots = boots;
    this.records++;
    for (let k = 0; k < this.slots.length; k++) {
      const slot = this.slots[k];
      if (slot === null) continue;
      slot.table.touched = true;
      if (slot.key.kind === 'event') this.count(k, slot.key, words);
      else this.gauge(k, slot.key, words[2 * k + 1] * WORD + words[2 * k]);
    }
  }

  private count(k: number, key: OpenKey, words: Uint32Array): void {
    const base = this.baseWords;
    if (this.told[k] === 0) {
      base[2 * k] = words[2 * k];
      base[2 * k + 1] = words[2 * k + 1];
    }
    const start = this.startWords;
    const since = (base[2 * k + 1] - start[2 * k + 1]) * WORD + (base[2 * k] - start[2 * k]);
    const counted = this.beforeNumber[k] + since;
    key.sum += counted - this.counted[k];
    this.counted[k] = counted;
  }

  private gauge(k: number, key: OpenKey, value: number): void {
    key.sum += value;
    key.seen = true;
    const of = this.totals[k];
    if (of === null) return;
    if (Number.isNaN(of.first)) {
      of.first = value;
      of.least = value;
      of.most = value;
    }
    of.last = value;
    if (value < of.least) of.least = value;
    if (value > of.most) of.most = value;
  }

  /** For a verdict other than ok: keeps what was counted so far, and begins to count anew. */
  private odd(k: number, { delta, verdict, base }: Repaired): void {
    const slot = this.slots[k];
    if (slot === null) return;
    slot.key.verdicts[verdict]++;
    // It was counted among the ok ones in `finish`.
    slot.key.verdicts.ok--;
    if (verdict !== 'ok' && slot.key.odd.length < MOST_ODD) {
      slot.key.odd.push({ device: this.name, verdict, time: this.now });
    }
    this.told[k] = 1;
    this.before[k] += this.base[k] - this.start[k] + delta;
    this.beforeNumber[k] = Number(this.before[k]);
    this.start[k] = base;
    this.base[k] = base;
  }

  /** Adds up its exact totals. To be called once, after the last record. */
  finish(): void {
    for (let k = 0; k < this.slots.length; k++) this.finishKey(k);
  }

  private finishKey(k: number): void {
    const slot = this.slots[k];
    const of = this.totals[k];
    if (slot === null || of === null || slot.key.kind !== 'event') return;
    const total = this.before[k] + this.base[k] - this.start[k];
    of.total += total;
    slot.key.total += total;
    slot.key.verdicts.ok += Math.max(0, this.records - this.since[k]);
  }
}
