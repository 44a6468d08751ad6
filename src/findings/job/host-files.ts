/** Reads a host's files once for all requested jobs: each record group goes to the jobs that it names. */
import type { Damage } from '../../formats/format.ts';
import { type RawTable, repairPlan } from '../../formats/tacc/index.ts';
import type { ArchiveFile } from './archive.ts';
import { GroupReader, type RecordGroup } from './groups.ts';
import {
  type HostJob,
  type HostOddity,
  type HostStart,
  type HostState,
  JobReader,
  type TypeState,
  type WantedJob,
} from './host-job.ts';
import { ALL_JOBS, isJob, jobsOf } from './marks.ts';

/** How much was read: it grows with the files, not with jobs times files. */
export interface Work {
  /** Lines of files. */
  lines: number;
  /** Records that were passed to jobs. */
  records: number;
}

export interface HostFiles {
  /** Problems in the files. */
  readonly oddities: readonly HostOddity[];
  /** All job ids of the files, for messages about a job that is not there. */
  readonly seen: ReadonlySet<string>;
}

interface HostOptions {
  readonly jobs: readonly WantedJob[];
  /** Whether to take record groups that another host wrote. */
  readonly foreign: boolean;
  /** Called for each job after its last record; not in the order of `jobs`. */
  readonly done: (id: string, part: HostJob) => void;
  readonly work?: Work;
  /** Aborts the reading, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

class HostReader extends GroupReader implements HostState {
  readonly oddities: HostOddity[] = [];
  readonly seen = new Set<string>();
  readonly types = new Map<string, TypeState>();
  readonly starts: HostStart[] = [];
  path = '';
  private readonly options: HostOptions;
  private readonly jobs: Map<string, JobReader>;
  private readonly work: Work;
  private lastTime = Number.NEGATIVE_INFINITY;
  private _group: RecordGroup | null = null;
  /** The file's table of each type. */
  private readonly parts = new Map<string, RawTable>();
  /** The jobs that the group names; null until its marks are known. */
  private named: readonly JobReader[] | null = null;
  /** The ones among them that take this group's records. */
  private taking: readonly JobReader[] = [];

  constructor(host: string, options: HostOptions) {
    super(host);
    this.options = options;
    this.work = options.work ?? { lines: 0, records: 0 };
    this.jobs = new Map(options.jobs.map((job) => [job.id, new JobReader(job, this)]));
  }

  async read(path: string): Promise<void> {
    this.path = path;
    const { signal } = this.options;
    const damage = (damage: Damage) => this.damage(damage);
    const { lines, problem } = await this.readFile(path, { damage, signal });
    this.work.lines += lines;
    if (problem === null) return;
    const what = problem.replace(`${path}: `, '');
    this.oddities.push({ host: this.host, place: path, what, time: null });
  }

  protected group(group: RecordGroup): void {
    this._group = group;
    if (!this.isForeign(group)) this.watchForStart(group);
    for (const id of group.jobIds) if (isJob(id)) this.seen.add(id);
  }

  /** Notices that the host was started again: the file says that it started after the last record. */
  private watchForStart({ boot, seconds, line }: RecordGroup): void {
    if (boot > this.lastTime && this.lastTime !== Number.NEGATIVE_INFINITY) {
      this.starts.push({ place: `${this.path}: line ${line}`, time: seconds });
    }
    this.lastTime = Math.max(this.lastTime, seconds);
  }

  private damage({ line, what }: Damage): void {
    const group = this._group;
    if (group === null) return;
    this.decide(group);
    for (const job of this.taking) job.odd(what, group, line);
  }

  protected override record(part: RawTable, device: string): void {
    const group = this._group;
    const { type, values } = part;
    if (group === null || type === null) return;
    if (this.parts.get(type.type) !== part) this.describe(part, type);
    if (this.named === null) this.decide(group);
    for (const job of this.taking) {
      this.work.records++;
      job.record(type, device, values, group.seconds);
    }
  }

  /** Called at a type's first record in a file, and when its keys change. */
  private describe(part: RawTable, type: NonNullable<RawTable['type']>): void {
    this.parts.set(type.type, part);
    const { scaledEnergy } = part.raw;
    const keys = type.keys.map(({ name, kind, bits }) => `${name},${kind},${bits}`).join(' ');
    const text = `${keys}${scaledEnergy ? ' mJ' : ''}`;
    if (this.types.get(type.type)?.text === text) return;
    this.types.set(type.type, { text, plan: repairPlan(type, scaledEnergy) });
  }

  /** Called at the group's first record, when its marks are known. */
  private decide(group: RecordGroup): void {
    if (this.named !== null) return;
    const all = this.jobs.get(ALL_JOBS);
    const named: JobReader[] = all === undefined ? [] : [all];
    for (const id of all === undefined ? jobsOf(group.jobIds, this.marks) : []) {
      const job = this.jobs.get(id);
      if (job !== undefined) named.push(job);
    }
    this.named = named;
    const { foreign: taken } = this.options;
    const strange = this.isForeign(group) ? { host: group.host, taken } : null;
    this.taking = named.filter((job) => job.takes(group, this.marks, strange));
  }

  endGroup(): void {
    const group = this._group;
    if (group === null) return;
    // A group without records may still have marks.
    this.decide(group);
    for (const job of this.taking) job.endGroup(group.seconds);
    for (const job of this.named ?? []) if (job.isComplete) this.done(job);
    this._group = null;
    this.named = null;
    this.taking = [];
  }

  private done(job: JobReader): void {
    const { id } = job.wanted;
    this.jobs.delete(id);
    this.options.done(id, job.finish());
  }

  /** Called after the last file. */
  finish(): void {
    for (const job of [...this.jobs.values()]) this.done(job);
  }
}

/** Reads a host's files for jobs, in the given order. Files that cannot be read are listed as oddities. */
export async function readHostFiles(
  host: string,
  files: Iterable<ArchiveFile>,
  options: HostOptions,
): Promise<HostFiles> {
  const reader = new HostReader(host, options);
  for (const { path } of files) await reader.read(path);
  reader.finish();
  return { oddities: reader.oddities, seen: reader.seen };
}
