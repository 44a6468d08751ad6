/** What `triscope info` says of a raw stats file: what is in it, what is strange, and what counters did. */

import type { Verdict } from '../../model/counter.ts';
import { scalesEnergy } from '../../model/counter-rules.ts';
import { type FileInfo, type FileSource, FormatError } from '../format.ts';
import { blocksOf } from './blocks.ts';
import { detectRaw } from './detect.ts';
import { DeviceRepair, type RepairPlan, repairPlan } from './device-repair.ts';
import { foreignFolder } from './foreign.ts';
import { wasRestarted } from './header-watch.ts';
import type { OddityKind } from './oddities.ts';
import { RawParser } from './parser.ts';
import type { RawSchema } from './schema.ts';
import type { RawGroup, RawProblem, RawVisitor } from './visitor.ts';

/** Places listed of each kind; all are counted. */
const LISTED = 1000;
/** Devices whose counters are followed, and values kept for them. */
const MOST_DEVICES = 100_000;
const MOST_VALUES = 4_000_000;
const HEAD_BYTES = 1 << 16;
/** Null for a device without counters. */
type Followed = DeviceRepair | null;

type Suspect = { where: string; what: string; kind: string };

class Survey implements RawVisitor {
  readonly properties: Record<string, string> = {};
  readonly records: Record<string, number> = {};
  readonly hosts = new Set<string>();
  readonly jobs = new Set<string>();
  readonly suspects: Suspect[] = [];
  readonly repairs: Partial<Record<Verdict, number>> = {};
  marks = 0;
  from: RawGroup | null = null;
  to: RawGroup | null = null;
  notFollowed = 0;
  readonly #listed = new Map<string, number>();
  /** What is followed, by schema and device. */
  readonly #followed = new Map<RawSchema, { plan: RepairPlan; devices: Map<string, Followed> }>();
  #devices = 0;
  #values = 0;
  #group: RawGroup | null = null;
  /** The group before this one was of the same start of the host. */
  #rebooted = false;

  property(name: string, value: string): void {
    this.properties[name] = value.trim();
    if (name === 'hostname') this.hosts.add(value.trim());
  }

  group(group: RawGroup): void {
    const before = this.#group;
    this.#rebooted = before !== null && wasRestarted(before.boot, before.seconds, group.boot);
    this.#group = group;
    if (this.from === null || group.seconds < this.from.seconds) this.from = group;
    if (this.to === null || group.seconds >= this.to.seconds) this.to = group;
    if (group.host !== null) this.hosts.add(group.host);
    for (const job of group.jobIds) if (job !== '-' && job !== '0') this.jobs.add(job);
  }

  mark(): void {
    this.marks++;
  }

  record(schema: RawSchema, device: string, values: BigUint64Array, line: number): void {
    this.records[schema.type] = (this.records[schema.type] ?? 0) + 1;
    const repair = this.#repairOf(schema, device);
    repair?.step(
      this.#group?.seconds ?? 0,
      values,
      (key, { verdict, reason }) => {
        this.repairs[verdict] = (this.repairs[verdict] ?? 0) + 1;
        const { name } = schema.keys[key];
        this.#list(verdict, `line ${line}`, `${schema.type} ${device} ${name}: ${reason}`);
      },
      { rebooted: this.#rebooted },
    );
  }

  problem({ kind, line, reason, text }: RawProblem): void {
    this.#list(kind, `line ${line}`, text === '' ? reason : `${reason}: ${text}`);
  }

  oddity({ kind, line, reason, text }: RawProblem): void {
    this.#list(kind, `line ${line}`, text === '' ? reason : `${reason}: ${text}`);
  }

  suspect(kind: OddityKind, where: string, what: string): void {
    this.#list(kind, where, what);
  }

  /** Devices seen, up to `MOST_DEVICES`. */
  get devices(): number {
    return this.#devices;
  }

  /** Says of kinds with more places than are listed how many more there are. */
  end(): void {
    for (const [kind, count] of this.#listed) {
      if (count <= LISTED) continue;
      this.suspects.push({ where: 'file', what: `${count - LISTED} more: ${kind}`, kind });
    }
    if (this.notFollowed > 0) {
      const what = `counters of ${this.notFollowed} records were not followed: too many devices`;
      this.suspects.push({ where: 'file', what, kind: 'not_followed' });
    }
  }

  #list(kind: string, where: string, what: string): void {
    const count = (this.#listed.get(kind) ?? 0) + 1;
    this.#listed.set(kind, count);
    if (count <= LISTED) this.suspects.push({ where, what, kind });
  }

  #repairOf(schema: RawSchema, device: string): Followed {
    let of = this.#followed.get(schema);
    if (of === undefined) {
      of = { plan: repairPlan(schema, scalesEnergy(this.properties)), devices: new Map() };
      this.#followed.set(schema, of);
    }
    const known = of.devices.get(device);
    if (known !== undefined) return known;
    if (this.#devices >= MOST_DEVICES || this.#values >= MOST_VALUES) {
      this.notFollowed++;
      return null;
    }
    const repair = of.plan.rules.some((rule) => rule !== null) ? new DeviceRepair(of.plan) : null;
    if (repair !== null) this.#values += schema.keys.length;
    this.#devices++;
    of.devices.set(device, repair);
    return repair;
  }
}

/** Reads the whole file. */
export function surveyRaw(source: FileSource): FileInfo {
  const head = new Uint8Array(Math.min(source.size, HEAD_BYTES));
  const detection = detectRaw(head.subarray(0, source.read(0, head)));
  const survey = new Survey();
  const parser = new RawParser(survey);
  let unreadable = false;
  try {
    for (const block of blocksOf(source)) parser.push(block);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    unreadable = true;
    const { lines } = parser.summary;
    survey.suspect('unreadable', `line ${lines}`, error.damage.what);
  }
  const { groups, oddities } = parser.end();
  const { hostname, tacc_stats, hpcperfstats, uname, uptime } = survey.properties;
  const foreign = foreignFolder(source.path, hostname);
  if (foreign !== null) {
    survey.suspect('foreign_file', 'file', `$hostname is ${hostname}, the folder ${foreign}`);
  }
  survey.end();
  const counts = {
    ...oddities,
    ...(foreign !== null && { foreign_file: 1 }),
    ...(unreadable && { unreadable: 1 }),
  };
  const version = tacc_stats ?? hpcperfstats;
  return {
    path: source.path,
    format: 'tacc',
    era: detection?.era ?? 'tacc_stats',
    because: detection?.because ?? 'its lines have the shapes of a raw stats file',
    bytes: source.size,
    records: survey.records,
    entities: {
      hosts: survey.hosts.size,
      jobs: survey.jobs.size,
      devices: survey.devices,
    },
    from: survey.from && { time: survey.from.time },
    to: survey.to && { time: survey.to.time },
    suspect: survey.suspects,
    more: {
      ...(version !== undefined && { version }),
      ...(hostname !== undefined && { hostname }),
      ...(uname !== undefined && { uname }),
      ...(uptime !== undefined && { uptime }),
      groups,
      marks: survey.marks,
      jobs: [...survey.jobs],
      oddities: counts,
      counters: survey.repairs,
    },
    damaged: unreadable || oddities.cut !== undefined || oddities.not_text !== undefined,
  };
}
