/** One host's part of a job: those records of its files that belong to the job, repaired and added up. */
import type { RawSchema, RepairPlan } from '../../formats/tacc/index.ts';
import { DeviceRecords, type Slot } from './device-records.ts';
import { nameKeys } from './events/names.ts';
import type { RecordGroup } from './groups.ts';
import { ALL_JOBS, isJob, noteMark } from './marks.ts';
import { Processes } from './processes.ts';
import { TypeTable } from './type-table.ts';

/** A suspect spot and its place; none of them changed a number without being listed. */
export interface HostOddity {
  readonly host: string;
  /** `path`, or `path: line N`. */
  readonly place: string;
  readonly what: string;
  /** Seconds since 1970 of the record group; null if it is about a file or a host. */
  readonly time: number | null;
}

export interface HostJob {
  readonly host: string;
  readonly files: readonly string[];
  /** Seconds since 1970 of the job's record groups, in file order. */
  readonly times: readonly number[];
  /** When the marks `begin JOB` and `end JOB` were set; null without the mark. */
  readonly begin: number | null;
  readonly end: number | null;
  /** Other jobs that ran on the host at the same time. */
  readonly others: readonly string[];
  readonly reboots: number;
  /** Whether the host's collector archives energies in mJ instead of as counted. */
  readonly scaledEnergy: boolean;
  readonly types: ReadonlyMap<string, TypeTable>;
  readonly processes: Processes;
  readonly oddities: readonly HostOddity[];
}

/** A requested job. */
export interface WantedJob {
  readonly id: string;
  /** Only records of this time span, in seconds since 1970, both ends included. */
  readonly from: number;
  readonly to: number;
  /** How many of the host's record groups name the job: after that many, it is complete. Infinite if not known. */
  readonly groups: number;
}

/** A type's current schema in the host's files. */
export interface TypeState {
  /** Two states with equal texts count the same things. */
  readonly text: string;
  readonly plan: RepairPlan;
}

/** A start of the host that its files report. */
export interface HostStart {
  readonly place: string;
  readonly time: number;
}

/** State that all jobs of a host share while its files are read. */
export interface HostState {
  readonly host: string;
  readonly path: string;
  readonly types: ReadonlyMap<string, TypeState>;
  readonly starts: readonly HostStart[];
}

const MOST_ODDITIES = 1000;
/** The most other jobs that are listed. */
const MOST_OTHERS = 1000;
/** Types whose devices come and go: they are listed instead of added up. */
const LISTED = new Set(['proc']);

interface Devices extends TypeState {
  readonly devices: Map<string, DeviceRecords>;
}

/** Collects one job's record groups from one host. */
export class JobReader {
  readonly wanted: WantedJob;
  private readonly state: HostState;
  private readonly times: number[] = [];
  private readonly files = new Set<string>();
  private readonly others = new Set<string>();
  private readonly oddities: HostOddity[] = [];
  private readonly types = new Map<string, Devices>();
  private tables = new Map<string, TypeTable>();
  private processes = new Processes();
  private begin: number | null = null;
  private end: number | null = null;
  private boots = 0;
  /** How many starts of the host it has noted. */
  private starts = 0;
  private scaledEnergy = false;
  /** How many record groups have named it so far. */
  private named = 0;

  constructor(wanted: WantedJob, state: HostState) {
    this.wanted = wanted;
    this.state = state;
  }

  /** Whether all of the host's groups of this job were seen. */
  get isComplete(): boolean {
    return this.named >= this.wanted.groups;
  }

  odd(what: string, group: RecordGroup | null = null, line = group?.line): void {
    if (this.oddities.length >= MOST_ODDITIES) return;
    const { host, path } = this.state;
    const place = line === undefined ? path : `${path}: line ${line}`;
    this.oddities.push({ host, place, what, time: group?.seconds ?? null });
  }

  /**
   * Whether the job takes the records of a group that names it.
   * @param strange the name of the other host that wrote the group; null if it is this host's own
   */
  takes(
    group: RecordGroup,
    marks: readonly string[],
    strange: { readonly host: string; readonly taken: boolean } | null,
  ): boolean {
    const { id, from, to } = this.wanted;
    if (group.seconds < from || group.seconds > to) return false;
    if (strange !== null) {
      const left = strange.taken ? '' : ': left out';
      const where = `in the folder of ${this.state.host}`;
      this.odd(`a record group of host ${strange.host}${left} ${where}`, group);
      if (!strange.taken) return false;
    }
    this.named++;
    const mark = noteMark(id, marks);
    if (this.end !== null) {
      const what =
        mark === 'begin'
          ? `job ${id} begins again after its end and is left out; --from ${group.seconds} reads that part`
          : `a record group of job ${id} after its end mark: left out`;
      this.odd(what, group);
      return false;
    }
    this.noteStarts();
    if (mark === 'begin') this.begins(group);
    if (mark === 'end') this.end = group.seconds;
    if (id !== ALL_JOBS && this.others.size < MOST_OTHERS) {
      for (const other of group.jobIds) if (other !== id && isJob(other)) this.others.add(other);
    }
    this.scaledEnergy = group.scaledEnergy;
    this.times.push(group.seconds);
    this.files.add(this.state.path);
    return true;
  }

  /** Notes starts of the host between the job's record groups. */
  private noteStarts(): void {
    const { host, starts } = this.state;
    for (; this.starts < starts.length; this.starts++) {
      if (this.times.length === 0) continue;
      this.boots++;
      if (this.oddities.length >= MOST_ODDITIES) continue;
      const what = 'the host was restarted during the job: counters began again at 0';
      this.oddities.push({ host, what, ...starts[this.starts] });
    }
  }

  private begins(group: RecordGroup): void {
    if (this.begin !== null) {
      this.odd(`job ${this.wanted.id} begins a second time; both parts are taken`, group);
      return;
    }
    const count = this.times.length;
    if (count > 0) {
      this.odd(`${count} record group${count === 1 ? '' : 's'} before the begin mark: left out`);
      this.times.length = 0;
      this.tables = new Map();
      this.processes = new Processes();
      this.types.clear();
    }
    this.begin = group.seconds;
  }

  /** Adds a record of a group that it takes. */
  record(schema: RawSchema, device: string, values: BigUint64Array, seconds: number): void {
    if (LISTED.has(schema.type)) {
      this.processes.add(schema, device, values, seconds);
      return;
    }
    const type = this.type(schema.type);
    if (type === undefined) return;
    const known = type.devices.get(device) ?? this.device(type, schema, device, values);
    known.take(seconds, values, this.boots);
  }

  private type(name: string): Devices | undefined {
    const now = this.state.types.get(name);
    const known = this.types.get(name);
    if (now === undefined || known?.text === now.text) return known;
    if (known !== undefined) {
      this.odd(`schema of ${name} changed: its counts since the previous record are unknown`);
      for (const device of known.devices.values()) device.finish();
    }
    const type = { ...now, devices: new Map<string, DeviceRecords>() };
    this.types.set(name, type);
    return type;
  }

  private device(
    type: Devices,
    schema: RawSchema,
    name: string,
    values: BigUint64Array,
  ): DeviceRecords {
    let named = false;
    const naming = (record: BigUint64Array) => {
      if (named) {
        this.odd(
          `control registers of ${schema.type} ${name} changed: it has counted other events since`,
        );
      }
      named = true;
      return this.slots(schema, name, record);
    };
    const device = new DeviceRecords(name, type.plan, naming, values, this.boots);
    type.devices.set(name, device);
    return device;
  }

  private slots(schema: RawSchema, device: string, values: BigUint64Array): readonly Slot[] {
    return nameKeys(schema, device, values).map((named) => {
      if (named === null) return null;
      const table = this.tables.get(named.type) ?? new TypeTable(named.type);
      this.tables.set(named.type, table);
      return { table, key: table.key(named) };
    });
  }

  /** Ends a group that it takes. */
  endGroup(seconds: number): void {
    for (const table of this.tables.values()) table.endRow(seconds);
  }

  /** Returns the collected part, with exact totals. To be called once, after the last record. */
  finish(): HostJob {
    for (const { devices } of this.types.values()) {
      for (const device of devices.values()) device.finish();
    }
    return {
      host: this.state.host,
      files: [...this.files],
      times: this.times,
      begin: this.begin,
      end: this.end,
      others: [...this.others].sort(),
      reboots: this.boots,
      scaledEnergy: this.scaledEnergy,
      types: this.tables,
      processes: this.processes,
      oddities: this.oddities,
    };
  }
}
