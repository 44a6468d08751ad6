/** One host's data of one type in a job: exact totals by device, and their sum over devices in time. */
import type { CounterVerdict } from '../../formats/tacc/index.ts';
import type { NamedKey } from './events/names.ts';

export type Verdicts = Record<CounterVerdict, number>;

/** Totals of one key of a device. */
export interface DeviceTotals {
  /** Counted since its first record, in the file's unit, exact. 0 for gauges. */
  total: bigint;
  /** For gauges and controls, in the file's unit. */
  first: number;
  last: number;
  least: number;
  most: number;
}

/** A difference with a verdict other than `ok`; `time` is its end, in seconds since 1970. */
export interface OddDelta {
  readonly device: string;
  readonly verdict: Exclude<CounterVerdict, 'ok'>;
  readonly time: number;
}

/** At most so many such differences of a key are listed; all are counted. */
export const MOST_ODD = 1000;

/** A key of a type. */
export interface KeyTotals {
  readonly name: string;
  readonly kind: NamedKey['kind'];
  readonly times: number;
  readonly unit: string;
  /** Counted by all devices, in the file's unit, exact. 0 for gauges. */
  total: bigint;
  readonly verdicts: Verdicts;
  /** In the order of the records. */
  readonly odd: OddDelta[];
  /** By row: the amount counted so far, or the sum of the gauges; NaN if no device had the key. In `unit`. */
  readonly rows: number[];
  /** Devices that have the key. */
  readonly devices: Map<string, DeviceTotals>;
}

/** A key while its records are read. */
export interface OpenKey extends KeyTotals {
  /** The sum for the current row, in the file's unit. */
  sum: number;
  /** Whether this row has a value of the gauge. */
  seen: boolean;
}

/** Converts a total from the file's unit to a double in the key's unit: the last step after exact arithmetic. */
export const inUnit = ({ times }: { readonly times: number }, total: bigint): number =>
  Number(total * BigInt(times));

export class TypeTable {
  readonly type: string;
  readonly keys = new Map<string, OpenKey>();
  /** Seconds since 1970 of the rows. */
  readonly times: number[] = [];
  /** Whether the current row has any record. */
  touched = false;

  constructor(type: string) {
    this.type = type;
  }

  /** The key of this name; a new key has no values in the rows before. */
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

  /** Ends the current row, if it has any record. */
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
