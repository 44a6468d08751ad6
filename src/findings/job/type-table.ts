/** What a job's records of one type say about one host: exact totals by device, and their sum over devices in time. */
import type { Verdict } from '../../formats/tacc/index.ts';
import type { NamedKey } from './events/names.ts';

export type Verdicts = Record<Verdict, number>;

/** What a device's records say of one key. */
export interface DeviceTotals {
  /** Counted since its first record, in the file's unit: exact. Of gauges 0. */
  total: bigint;
  /** Of gauges and controls, in the file's unit. */
  first: number;
  last: number;
  least: number;
  most: number;
}

/** A difference that is not plain: the one that ends at `time`, seconds since 1970. */
export interface OddDelta {
  readonly device: string;
  readonly verdict: Exclude<Verdict, 'ok'>;
  readonly time: number;
}

/** Of a key's odd differences so many are listed; all are counted. */
export const MOST_ODD = 1000;

/** A key of a type. */
export interface KeyTotals {
  readonly name: string;
  readonly kind: NamedKey['kind'];
  readonly times: number;
  readonly unit: string;
  /** Counted by all devices, in the file's unit: exact. Of gauges 0. */
  total: bigint;
  readonly verdicts: Verdicts;
  /** In the order of the records. */
  readonly odd: OddDelta[];
  /** By row: counted until then, or the sum of the gauges; NaN where no device had it. In `unit`. */
  readonly rows: number[];
  /** Devices that have it. */
  readonly devices: Map<string, DeviceTotals>;
}

/** A key while records come. */
export interface OpenKey extends KeyTotals {
  /** The sum for the row that is being read, in the file's unit. */
  sum: number;
  /** Whether a gauge was seen in this row. */
  seen: boolean;
}

/** A total of the file's unit as a double of the key's: the last step of exact arithmetic. */
export const inUnit = ({ times }: { readonly times: number }, total: bigint): number =>
  Number(total * BigInt(times));

export class TypeTable {
  readonly type: string;
  readonly keys = new Map<string, OpenKey>();
  /** Seconds since 1970 of the rows. */
  readonly times: number[] = [];
  /** Whether the row that is being read has any record. */
  touched = false;

  constructor(type: string) {
    this.type = type;
  }

  /** The key of this name; one that was not there has nothing in the rows before. */
  key({ name, kind, times, unit }: NamedKey): OpenKey {
    const known = this.keys.get(name);
    if (known !== undefined) return known;
    const before = kind === 'event' ? 0 : Number.NaN;
    const key: OpenKey = {
      ...{ name, kind, times, unit, total: 0n, sum: 0, seen: false },
      verdicts: { ok: 0, wrapped: 0, dip: 0, reset: 0, suspect: 0 },
      rows: new Array<number>(this.times.length).fill(before),
      odd: [],
      devices: new Map(),
    };
    this.keys.set(name, key);
    return key;
  }

  /** Ends the row, if any record was in it. */
  endRow(time: number): void {
    if (!this.touched) return;
    this.touched = false;
    this.times.push(time);
    for (const key of this.keys.values()) {
      const there = key.kind === 'event' || key.seen;
      key.rows.push(there ? key.sum * key.times : Number.NaN);
      if (key.kind === 'event') continue;
      key.sum = 0;
      key.seen = false;
    }
  }
}
