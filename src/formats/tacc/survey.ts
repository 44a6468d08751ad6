/**
 * The survey of a raw stats file: its contents, suspect spots and, on request, the verdicts on counters.
 */

import type { CounterVerdict } from '../../model/counter.ts';
import { scalesEnergy } from '../../model/counter-rules.ts';
import type { Damage, Detection, FileInfo, FileSource } from '../format.ts';
import { visible } from '../visible.ts';
import { DeviceRepair, type RepairPlan, repairPlan } from './device-repair.ts';
import { foreignFolder } from './foreign.ts';
import { wasRestarted } from './header-watch.ts';
import { ODDITIES, type OddityKind } from './oddities.ts';
import type { RawSchema } from './schema.ts';
import type { RawGroup, RawProblem, RawSummary, RawVisitor } from './visitor.ts';

/** Places listed of each kind; all are counted. */
const LISTED = 1000;
/** Devices whose counters are followed, and values kept for them. */
const MOST_DEVICES = 100_000;
const MOST_VALUES = 4_000_000;
/** Null for a device without counters. */
type Followed = DeviceRepair | null;

type Suspect = { where: string; what: string; kind: string };

export class RawSurvey implements RawVisitor {
  private readonly properties: Record<string, string> = {};
  private readonly hosts = new Set<string>();
  private readonly jobs = new Set<string>();
  private readonly suspects: Suspect[] = [];
  private readonly repairs: Partial<Record<CounterVerdict, number>> = {};
  private marks = 0;
  private from: RawGroup | null = null;
  private to: RawGroup | null = null;
  private notFollowed = 0;
  private readonly listed = new Map<string, number>();
  /** What is followed, by schema and device. */
  private readonly followed = new Map<
    RawSchema,
    { plan: RepairPlan; devices: Map<string, Followed> }
  >();
  private devices = 0;
  private values = 0;
  private _group: RawGroup | null = null;
  /** The group before this one belongs to the same start of the host. */
  private rebooted = false;
  private readonly source: FileSource;
  private readonly counters: boolean;
  detection: Detection | null = null;
  private unreadable = false;

  /** @param counters whether the development of running totals is checked */
  constructor(source: FileSource, counters: boolean) {
    this.source = source;
    this.counters = counters;
  }

  property(name: string, value: string): void {
    this.properties[name] = value.trim();
    if (name === 'hostname') this.hosts.add(value.trim());
  }

  group(group: RawGroup): void {
    const before = this._group;
    this.rebooted = before !== null && wasRestarted(before.boot, before.seconds, group.boot);
    this._group = group;
    if (this.from === null || group.seconds < this.from.seconds) this.from = group;
    if (this.to === null || group.seconds >= this.to.seconds) this.to = group;
    if (group.host !== null) this.hosts.add(group.host);
    for (const job of group.jobIds) if (job !== '-' && job !== '0') this.jobs.add(job);
  }

  mark(): void {
    this.marks++;
  }

  /** Follows running totals. */
  record(schema: RawSchema, device: string, values: BigUint64Array, line: number): void {
    const repair = this.repairOf(schema, device);
    repair?.step(
      this._group?.seconds ?? 0,
      values,
      (key, { verdict, reason }) => {
        this.repairs[verdict] = (this.repairs[verdict] ?? 0) + 1;
        // A counter that rolled over is read exactly: no reason for doubt.
        if (verdict === 'wrapped') return;
        const { name } = schema.keys[key];
        this.list(verdict, `line ${line}`, `${schema.type} ${device} ${name}: ${reason}`);
      },
      { rebooted: this.rebooted },
    );
  }

  problem({ kind, line, reason, text }: RawProblem): void {
    this.list(kind, `line ${line}`, text === '' ? reason : `${reason}: ${text}`);
  }

  oddity({ kind, line, reason, text }: RawProblem): void {
    this.list(kind, `line ${line}`, text === '' ? reason : `${reason}: ${text}`);
  }

  /** Reading ended at damage. */
  damaged({ what }: Damage, lines: number): void {
    this.unreadable = true;
    this.list('unreadable', `line ${lines}`, what);
  }

  /** All suspect spots; for kinds with more places than are listed, the number of the others. */
  get suspect(): readonly Suspect[] {
    const more: Suspect[] = [];
    const { hostname } = this.properties;
    const foreign = foreignFolder(this.source.path, hostname);
    if (foreign !== null) {
      const what = visible(`$hostname is ${hostname}, the folder ${foreign}`);
      more.push({ where: 'file', what, kind: 'foreign_file' });
    }
    for (const [kind, count] of this.listed) {
      if (count <= LISTED) continue;
      const name = ODDITIES[kind as OddityKind] ?? kind;
      more.push({ where: 'file', what: `${count - LISTED} more: ${name}`, kind });
    }
    if (this.notFollowed > 0) {
      const what = `counters of ${this.notFollowed} records were not followed: too many devices`;
      more.push({ where: 'file', what, kind: 'not_followed' });
    }
    return [...this.suspects, ...more];
  }

  private list(kind: string, where: string, what: string): void {
    const count = (this.listed.get(kind) ?? 0) + 1;
    this.listed.set(kind, count);
    if (count <= LISTED) this.suspects.push({ where, what: visible(what), kind });
  }

  private repairOf(schema: RawSchema, device: string): Followed {
    let of = this.followed.get(schema);
    if (of === undefined) {
      of = { plan: repairPlan(schema, scalesEnergy(this.properties)), devices: new Map() };
      this.followed.set(schema, of);
    }
    const known = of.devices.get(device);
    if (known !== undefined) return known;
    if (this.devices >= MOST_DEVICES || this.values >= MOST_VALUES) {
      this.notFollowed++;
      return null;
    }
    const repair = of.plan.rules.some((rule) => rule !== null) ? new DeviceRepair(of.plan) : null;
    if (repair !== null) this.values += schema.keys.length;
    this.devices++;
    of.devices.set(device, repair);
    return repair;
  }

  info({ groups, oddities }: RawSummary, records: FileInfo['records']): FileInfo {
    const { hostname, tacc_stats, hpcperfstats, uname, uptime } = this.properties;
    const { suspect } = this;
    const isForeign = suspect.some(({ kind }) => kind === 'foreign_file');
    const counts = {
      ...oddities,
      ...(isForeign && { foreign_file: 1 }),
      ...(this.unreadable && { unreadable: 1 }),
    };
    const version = tacc_stats ?? hpcperfstats;
    return {
      path: this.source.path,
      format: 'tacc',
      era: this.detection?.era ?? 'tacc_stats',
      because: this.detection?.because ?? 'its lines have the shapes of a raw stats file',
      bytes: this.source.size,
      records,
      entities: {
        hosts: this.hosts.size,
        jobs: this.jobs.size,
        ...(this.counters && { devices: this.devices }),
      },
      from: this.from && { time: this.from.time },
      to: this.to && { time: this.to.time },
      suspect,
      more: {
        ...(version !== undefined && { version }),
        ...(hostname !== undefined && { hostname }),
        ...(uname !== undefined && { uname }),
        ...(uptime !== undefined && { uptime }),
        groups,
        marks: this.marks,
        jobs: [...this.jobs],
        oddities: counts,
        ...(this.counters && { counters: this.repairs }),
      },
      damaged: this.unreadable || oddities.cut !== undefined || oddities.not_text !== undefined,
    };
  }
}
