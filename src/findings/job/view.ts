/** A job as its metrics see it. Each key that a metric reads is noted as its input; a missing key ends the metric. */
import { rowsFor } from './align.ts';
import type { HostJob } from './host-job.ts';
import type { Job } from './job.ts';
import { inUnit, type TypeTable, type Verdicts } from './type-table.ts';

/**
 * A metric cannot be computed because its input is missing. The message completes “lacks …”. This is not an `Error`: most jobs lack
 * dozens of inputs, and the stack traces would take longer than all metrics.
 */
export class MissingInput {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

const LATER_GROUP = 'a second record group, of a later time';

export interface Input {
  /** `type.key`. */
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** One number per aligned time, or per interval between two, of a host. */
export type HostSeries = ReadonlyMap<string, Float64Array>;

/** Facts of the whole job are computed once, and shared by the views of all metrics. */
export class JobRows {
  readonly job: Job;
  private readonly rows = new Map<TypeTable, Int32Array>();

  constructor(job: Job) {
    this.job = job;
  }

  of(table: TypeTable): Int32Array {
    const known = this.rows.get(table);
    if (known !== undefined) return known;
    const rows = rowsFor(this.job.times, table.times);
    this.rows.set(table, rows);
    return rows;
  }
}

export class JobView {
  readonly job: Job;
  private readonly rows: JobRows;
  private readonly _inputs = new Map<string, Input>();
  private readonly _asked = new Set<string>();
  private readonly _doubts = new Set<string>();
  /** Among the counters that were read, the one with the largest share of differences that are only lower bounds. */
  private _doubt: { readonly key: string; readonly share: number } = { key: '', share: 0 };
  /** The number of hosts that had the keys; all of them must be the same hosts for an average per host. */
  private askedHosts: number;

  constructor(rows: JobRows) {
    this.job = rows.job;
    this.rows = rows;
    this.askedHosts = rows.job.hosts.length;
  }

  get inputs(): readonly Input[] {
    return [...this._inputs.values()];
  }

  /** The keys that were read and found: `type.key`. */
  get asked(): readonly string[] {
    return [...this._asked];
  }

  /** Notes why the value is doubtful. */
  doubts(why: string): void {
    this._doubts.add(why);
  }

  /** The reasons that `doubts` noted. */
  get noted(): readonly string[] {
    return [...this._doubts];
  }

  /** The least certain input, and the share of its differences that are only lower bounds, 0 to 1. */
  get doubt(): { readonly key: string; readonly share: number } {
    return this._doubt;
  }

  /** Hosts without any of the keys do not count as zeros: averages are over the other hosts. */
  get hostCount(): number {
    return this.askedHosts;
  }

  /** Seconds from the first to the last time. */
  get seconds(): number {
    const { times } = this.job;
    if (times.length < 2) throw new MissingInput(LATER_GROUP);
    return times[times.length - 1] - times[0];
  }

  /** Aligned times, seconds since 1970. */
  get times(): Float64Array {
    return this.job.times;
  }

  has(type: string, key?: string): boolean {
    return this.job.hosts.some(({ types }) => {
      const table = types.get(type);
      return table !== undefined && (key === undefined || table.keys.has(key));
    });
  }

  /** The first of these types that any host has. */
  type(names: readonly string[], what: string): string {
    const found = names.find((name) => this.has(name));
    if (found === undefined) throw new MissingInput(what);
    return found;
  }

  private _having(type: string, key: string): { host: HostJob; table: TypeTable }[] {
    const found: { host: HostJob; table: TypeTable }[] = [];
    for (const host of this.job.hosts) {
      const table = host.types.get(type);
      if (table?.keys.has(key)) found.push({ host, table });
    }
    if (found.length === 0) {
      throw new MissingInput(this.has(type) ? `${type}.${key}` : `type ${type}`);
    }
    this.askedHosts = Math.min(this.askedHosts, found.length);
    const name = `${type}.${key}`;
    this._asked.add(name);
    const share = boundShare(found.map(({ table }) => table.keys.get(key)?.verdicts));
    if (share > this._doubt.share) this._doubt = { key: name, share };
    return found;
  }

  /** The amount counted during the job by all devices of all hosts, in the keys' unit. Exact until the conversion to a number. */
  total(type: string, ...keys: readonly string[]): number {
    let sum = 0;
    for (const name of keys) {
      let total = 0n;
      let unit = '';
      let times = 1;
      for (const { table } of this._having(type, name)) {
        const key = table.keys.get(name);
        if (key === undefined) continue;
        total += key.total;
        ({ unit, times } = key);
      }
      const value = inUnit({ times }, total);
      this.note(`${type}.${name}`, value, unit);
      sum += value;
    }
    return sum;
  }

  /** The unit of a key, as `total` has it. */
  unit(type: string, name: string): string {
    return this._having(type, name)[0].table.keys.get(name)?.unit ?? '';
  }

  /** For each host, sums over devices and keys at the aligned times. */
  series(type: string, ...keys: readonly string[]): HostSeries {
    const found = new Map<string, Float64Array>();
    for (const name of keys) {
      for (const { host, table } of this._having(type, name)) {
        const key = table.keys.get(name);
        if (key === undefined) continue;
        const rows = this.rows.of(table);
        const sum = found.get(host.host) ?? new Float64Array(rows.length);
        for (let k = 0; k < rows.length; k++) sum[k] += key.rows[rows[k]];
        found.set(host.host, sum);
      }
    }
    return found;
  }

  /** Seconds of the intervals between aligned times. @throws MissingInput if there is none */
  spans(): Float64Array {
    const { times } = this;
    if (times.length < 2) throw new MissingInput(LATER_GROUP);
    return times.subarray(1).map((time, k) => time - times[k]);
  }

  /** For each host, counts per second in these intervals. */
  rates(type: string, ...keys: readonly string[]): HostSeries {
    const spans = this.spans();
    const found = new Map<string, Float64Array>();
    for (const [host, sums] of this.series(type, ...keys)) {
      found.set(
        host,
        spans.map((seconds, k) => (sums[k + 1] - sums[k]) / seconds),
      );
    }
    for (const name of keys) this.total(type, name);
    return found;
  }

  /** The amounts counted by each device of each host. */
  deviceTotals(type: string, name: string): ReadonlyMap<string, ReadonlyMap<string, number>> {
    this.total(type, name);
    return new Map(
      this._having(type, name).map(({ host, table }) => {
        const key = table.keys.get(name);
        const devices = [...(key?.devices ?? [])];
        return [
          host.host,
          new Map(
            devices.map(([device, { total }]) => [device, inUnit(key ?? { times: 1 }, total)]),
          ),
        ];
      }),
    );
  }

  /**
   * The amount counted by one device of each host, the first of these that it has, in the key's unit. Averages are over the hosts
   * that have one. Only the counts of these devices are listed as inputs.
   * @throws MissingInput if no host has one
   */
  oneDevice(type: string, name: string, devices: readonly string[]): number {
    let total = 0n;
    let unit = { unit: '', times: 1 };
    let hosts = 0;
    const chosen = new Set<string>();
    for (const { table } of this._having(type, name)) {
      const key = table.keys.get(name);
      const device = devices.find((one) => key?.devices.has(one));
      if (key === undefined || device === undefined) continue;
      total += key.devices.get(device)?.total ?? 0n;
      unit = key;
      hosts++;
      chosen.add(device);
    }
    if (hosts === 0) throw new MissingInput(`${type} records of ${devices.join(' or ')}`);
    this.askedHosts = Math.min(this.askedHosts, hosts);
    const sum = inUnit(unit, total);
    this.note(`${type}.${name} of ${[...chosen].sort().join(', ')}`, sum, unit.unit);
    return sum;
  }

  /** Hosts that have the key, each with its table. @throws MissingInput if no host has it */
  having(
    type: string,
    key: string,
  ): readonly { readonly host: HostJob; readonly table: TypeTable }[] {
    return this._having(type, key);
  }

  /** Adds a value to the inputs. */
  note(name: string, value: number, unit: string): void {
    this._inputs.set(name, { name, value, unit });
  }
}

/** The share of differences whose counts are not known except for a lower bound. */
function boundShare(verdicts: readonly (Verdicts | undefined)[]): number {
  let bounds = 0;
  let all = 0;
  for (const of of verdicts) {
    if (of === undefined) continue;
    bounds += of.reset + of.suspect;
    all += of.ok + of.wrapped + of.dip + of.reset + of.suspect;
  }
  return all === 0 ? 0 : bounds / all;
}

/** The largest value of all hosts, without missing ones; NaN if there is none. */
export function highest(series: HostSeries): number {
  let most = Number.NaN;
  for (const values of series.values()) {
    for (const value of values) if (!(value <= most) && !Number.isNaN(value)) most = value;
  }
  return most;
}

/** Sums over hosts, value by value. */
export function summed(series: HostSeries): Float64Array {
  const all = [...series.values()];
  const sum = new Float64Array(all[0]?.length ?? 0);
  for (const values of all) for (let k = 0; k < sum.length; k++) sum[k] += values[k];
  return sum;
}
