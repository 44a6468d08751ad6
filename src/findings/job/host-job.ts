/** One host's part of a job: the records of its files that belong to the job, repaired and added up. */
import {
  type RawGroup,
  type RawProblem,
  type RawSchema,
  type RawVisitor,
  type RepairPlan,
  readRaw,
  repairPlan,
  scalesEnergy,
} from '../../formats/tacc/index.ts';
import type { ArchiveFile } from './archive.ts';
import { DeviceRecords, type Slot } from './device-records.ts';
import { nameKeys } from './events/names.ts';
import { shortName } from './host-list.ts';
import { ALL_JOBS, isJob, noteMark, ofJob } from './marks.ts';
import { Processes } from './processes.ts';
import { TypeTable } from './type-table.ts';

/** What was strange, and where; none of it changed a number silently. */
export interface Oddity {
  readonly host: string;
  /** `path`, or `path: line N`. */
  readonly place: string;
  readonly what: string;
  /** Seconds since 1970 of the record group; null where it is about a file or a host. */
  readonly time: number | null;
}

export interface HostJob {
  readonly host: string;
  readonly files: readonly string[];
  /** Seconds since 1970 of the job's record groups, in file order. */
  readonly times: readonly number[];
  /** When the marks `begin JOB` and `end JOB` were set; null where there is none. */
  readonly begin: number | null;
  readonly end: number | null;
  /** Other jobs that ran at the same time. */
  readonly others: readonly string[];
  readonly reboots: number;
  /** Whether its collector archives energies in mJ, not as counted. */
  readonly scaledEnergy: boolean;
  readonly types: ReadonlyMap<string, TypeTable>;
  readonly processes: Processes;
  readonly oddities: readonly Oddity[];
  /** All job ids of the files, for who looks for one that is not there. */
  readonly seen: ReadonlySet<string>;
}

export interface HostOptions {
  readonly job: string;
  /** Only records of this time, seconds since 1970, ends included. */
  readonly from: number;
  readonly to: number;
  /** Take files that another host wrote, too. */
  readonly foreign: boolean;
}

const MOST_ODDITIES = 1000;
/** The types whose devices come and go are listed, not added up. */
const LISTED = new Set(['proc']);

interface TypeState {
  readonly text: string;
  readonly plan: RepairPlan;
  readonly devices: Map<string, DeviceRecords>;
}

class HostReader implements RawVisitor {
  readonly host: string;
  readonly #options: HostOptions;
  readonly times: number[] = [];
  readonly files = new Set<string>();
  readonly others = new Set<string>();
  readonly seen = new Set<string>();
  readonly oddities: Oddity[] = [];
  types = new Map<string, TypeTable>();
  processes = new Processes();
  begin: number | null = null;
  end: number | null = null;
  boots = 0;
  scaledEnergy = false;
  #path = '';
  #properties: Record<string, string> = {};
  #foreign = false;
  #lastTime = Number.NEGATIVE_INFINITY;
  #devices: DeviceRecords[] = [];
  readonly #states = new Map<string, TypeState>();
  /** The group that is being read, and whether its records are the job's; null until its marks are known. */
  #group: RawGroup | null = null;
  #marks: string[] = [];
  #takes: boolean | null = null;

  constructor(host: string, options: HostOptions) {
    this.host = host;
    this.#options = options;
  }

  odd(what: string, line?: number): void {
    const place = line === undefined ? this.#path : `${this.#path}: line ${line}`;
    if (this.oddities.length >= MOST_ODDITIES) return;
    const time = line === undefined ? null : (this.#group?.seconds ?? null);
    this.oddities.push({ host: this.host, place, what, time });
  }

  open(path: string): void {
    this.#path = path;
    this.#properties = {};
    this.#foreign = false;
  }

  close(): void {
    this.#endGroup();
    this.#group = null;
  }

  property(name: string, value: string): void {
    this.#properties[name] = value.trim();
    if (name === 'hostname') this.#foreign = this.#isForeign(value.trim());
  }

  #isForeign(host: string): boolean {
    return host !== '' && host !== '-' && shortName(host) !== shortName(this.host);
  }

  schema(raw: RawSchema): void {
    const text = raw.keys.map(({ name, kind, bits }) => `${name},${kind},${bits}`).join(' ');
    const known = this.#states.get(raw.type);
    if (known !== undefined && known.text === text) return;
    if (known !== undefined && known.devices.size > 0) {
      this.odd(
        `schema of ${raw.type} changed: what it counted since the record before is not known`,
      );
    }
    const plan = repairPlan(raw, scalesEnergy(this.#properties));
    this.#states.set(raw.type, { text, plan, devices: new Map() });
  }

  group(group: RawGroup): void {
    this.#endGroup();
    this.#group = group;
    if (!this.#foreign) this.#watchForReboot(group);
    for (const id of group.jobIds) if (isJob(id)) this.seen.add(id);
    this.#marks = [];
    this.#takes = null;
  }

  /** A file whose host was started after the last record: it was started again. */
  #watchForReboot(group: RawGroup): void {
    if (group.boot !== null && group.boot > this.#lastTime && this.times.length > 0) {
      this.boots++;
      this.odd('the host was started again during the job: counters began anew', group.line);
    }
    this.#lastTime = Math.max(this.#lastTime, group.seconds);
  }

  mark(text: string): void {
    this.#marks.push(text);
  }

  problem({ line, reason, text }: RawProblem): void {
    const group = this.#group;
    if (group === null) return;
    this.#takes ??= this.#decide(group);
    if (this.#takes) this.odd(`${reason}: ${text}`, line);
  }

  /** Decides at the group's first record, when its marks are known. */
  #decide(group: RawGroup): boolean {
    const { job, from, to, foreign } = this.#options;
    const own = ofJob(job, group.jobIds, this.#marks);
    if (!own || group.seconds < from || group.seconds > to) return false;
    if (this.#foreign || (group.host !== null && this.#isForeign(group.host))) {
      const whose = group.host ?? this.#properties.hostname;
      this.odd(
        `a record group of host ${whose}${foreign ? '' : ': left out'} in the folder of ${this.host}`,
        group.line,
      );
      if (!foreign) return false;
    }
    const mark = noteMark(job, this.#marks);
    if (this.end !== null) {
      const what =
        mark === 'begin'
          ? `job ${job} begins again after its end: left out; --from ${group.seconds} reads that part`
          : `a record group of job ${job} after its end mark: left out`;
      this.odd(what, group.line);
      return false;
    }
    if (mark === 'begin') this.#begins(group);
    if (mark === 'end') this.end = group.seconds;
    for (const other of group.jobIds) {
      if (job !== ALL_JOBS && other !== job && isJob(other)) this.others.add(other);
    }
    this.scaledEnergy = scalesEnergy(this.#properties);
    this.times.push(group.seconds);
    this.files.add(this.#path);
    return true;
  }

  #begins(group: RawGroup): void {
    if (this.begin !== null) {
      this.odd(`job ${this.#options.job} begins a second time; both parts are taken`, group.line);
      return;
    }
    if (this.times.length > 0) {
      const count = this.times.length;
      this.odd(`${count} record group${count === 1 ? '' : 's'} before the begin mark: left out`);
      this.times.length = 0;
      this.types = new Map();
      this.processes = new Processes();
      for (const { devices } of this.#states.values()) devices.clear();
      this.#devices = [];
    }
    this.begin = group.seconds;
  }

  record(schema: RawSchema, device: string, values: BigUint64Array): void {
    const group = this.#group;
    if (group === null) return;
    this.#takes ??= this.#decide(group);
    if (!this.#takes) return;
    if (LISTED.has(schema.type)) {
      this.processes.add(schema, device, values, group.seconds);
      return;
    }
    const state = this.#states.get(schema.type);
    if (state === undefined) return;
    const known = state.devices.get(device) ?? this.#device(state, schema, device, values);
    known.take(group.seconds, values, this.boots);
  }

  #device(
    state: TypeState,
    schema: RawSchema,
    name: string,
    values: BigUint64Array,
  ): DeviceRecords {
    let named = false;
    const naming = (record: BigUint64Array) => {
      if (named) {
        this.odd(
          `control registers of ${schema.type} ${name} changed: it counts other events since`,
        );
      }
      named = true;
      return this.#slots(schema, name, record);
    };
    const device = new DeviceRecords(name, state.plan, naming, values, this.boots);
    state.devices.set(name, device);
    this.#devices.push(device);
    return device;
  }

  #slots(schema: RawSchema, device: string, values: BigUint64Array): readonly Slot[] {
    return nameKeys(schema, device, values).map((named) => {
      if (named === null) return null;
      const table = this.types.get(named.type) ?? new TypeTable(named.type);
      this.types.set(named.type, table);
      return { table, key: table.key(named) };
    });
  }

  /** Adds totals up: after the last file. */
  finish(): void {
    for (const device of this.#devices) device.finish();
  }

  #endGroup(): void {
    const group = this.#group;
    if (group === null) return;
    // A group without records has marks all the same.
    this.#takes ??= this.#decide(group);
    if (this.#takes) for (const table of this.types.values()) table.endRow(group.seconds);
  }
}

/** Reads a host's files for a job, in the order given. Files that cannot be read are oddities. */
export async function readHostJob(
  host: string,
  files: readonly ArchiveFile[],
  options: HostOptions,
): Promise<HostJob> {
  const reader = new HostReader(host, options);
  for (const { path } of files) {
    reader.open(path);
    try {
      await readRaw(path, reader);
    } catch (error) {
      if ((error as Error).name !== 'TaccError') throw error;
      reader.odd((error as Error).message.replace(`${path}: `, ''));
    }
    reader.close();
  }
  reader.finish();
  const { times, begin, end, types, processes, oddities, seen } = reader;
  return {
    ...{ host, times, begin, end, types, processes, oddities, seen },
    files: [...reader.files],
    others: [...reader.others].sort(),
    reboots: reader.boots,
    scaledEnergy: reader.scaledEnergy,
  };
}
