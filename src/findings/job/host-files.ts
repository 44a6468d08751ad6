/** A host's files, read once for all jobs that are looked for: each record group goes to the jobs that it names. */
import { FormatError } from '../../formats/format.ts';
import {
  type RawGroup,
  type RawProblem,
  type RawSchema,
  type RawVisitor,
  readRaw,
  repairPlan,
  scalesEnergy,
} from '../../formats/tacc/index.ts';
import type { ArchiveFile } from './archive.ts';
import {
  type HostJob,
  type HostStart,
  type HostState,
  JobReader,
  type Oddity,
  type TypeState,
  type WantedJob,
} from './host-job.ts';
import { shortName } from './host-list.ts';
import { ALL_JOBS, isJob, jobsOf } from './marks.ts';

/** What was read to get at the jobs: it grows with the files, not with the jobs times the files. */
export interface Work {
  /** Lines of files. */
  lines: number;
  /** Records that were handed to jobs. */
  records: number;
}

export interface HostFiles {
  /** What could not be read of the files. */
  readonly oddities: readonly Oddity[];
  /** All job ids of the files, for who looks for one that is not there. */
  readonly seen: ReadonlySet<string>;
}

interface HostOptions {
  readonly jobs: readonly WantedJob[];
  /** Take record groups that another host wrote, too. */
  readonly foreign: boolean;
  /** Told each job of which nothing more comes; not in the order of `jobs`. */
  readonly done: (id: string, part: HostJob) => void;
  readonly work?: Work;
  /** Ends the reading: its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

class HostReader implements RawVisitor, HostState {
  readonly host: string;
  readonly oddities: Oddity[] = [];
  readonly seen = new Set<string>();
  readonly types = new Map<string, TypeState>();
  readonly starts: HostStart[] = [];
  private readonly options: HostOptions;
  private readonly jobs: Map<string, JobReader>;
  private readonly work: Work;
  path = '';
  private properties: Record<string, string> = {};
  private foreign = false;
  private lastTime = Number.NEGATIVE_INFINITY;
  private _group: RawGroup | null = null;
  private marks: string[] = [];
  /** The jobs that the group names; null until its marks are known. */
  private named: readonly JobReader[] | null = null;
  /** Those of them whose its records are. */
  private taking: readonly JobReader[] = [];

  constructor(host: string, options: HostOptions) {
    this.host = host;
    this.options = options;
    this.work = options.work ?? { lines: 0, records: 0 };
    this.jobs = new Map(options.jobs.map((job) => [job.id, new JobReader(job, this)]));
  }

  get scaledEnergy(): boolean {
    return scalesEnergy(this.properties);
  }

  async read(path: string): Promise<void> {
    this.path = path;
    this.properties = {};
    this.foreign = false;
    try {
      this.work.lines += (await readRaw(path, this, { signal: this.options.signal })).lines;
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      const what = error.message.replace(`${path}: `, '');
      this.oddities.push({ host: this.host, place: path, what, time: null });
    }
    this.endGroup();
  }

  property(name: string, value: string): void {
    this.properties[name] = value.trim();
    if (name === 'hostname') this.foreign = this.isForeign(value.trim());
  }

  private isForeign(host: string): boolean {
    return host !== '' && host !== '-' && shortName(host) !== shortName(this.host);
  }

  schema(raw: RawSchema): void {
    const keys = raw.keys.map(({ name, kind, bits }) => `${name},${kind},${bits}`).join(' ');
    const text = `${keys}${this.scaledEnergy ? ' mJ' : ''}`;
    if (this.types.get(raw.type)?.text === text) return;
    this.types.set(raw.type, { text, plan: repairPlan(raw, this.scaledEnergy) });
  }

  group(group: RawGroup): void {
    this.endGroup();
    this._group = group;
    this.marks = [];
    if (!this.foreign) this.watchForStart(group);
    for (const id of group.jobIds) if (isJob(id)) this.seen.add(id);
  }

  /** A file whose host was started after the last record: it was started again. */
  private watchForStart({ boot, seconds, line }: RawGroup): void {
    if (boot !== null && boot > this.lastTime && this.lastTime !== Number.NEGATIVE_INFINITY) {
      this.starts.push({ place: `${this.path}: line ${line}`, time: seconds });
    }
    this.lastTime = Math.max(this.lastTime, seconds);
  }

  mark(text: string): void {
    this.marks.push(text);
  }

  problem({ line, reason, text }: RawProblem): void {
    const group = this._group;
    if (group === null) return;
    this.decide(group);
    for (const job of this.taking) job.odd(`${reason}: ${text}`, group, line);
  }

  record(schema: RawSchema, device: string, values: BigUint64Array): void {
    const group = this._group;
    if (group === null) return;
    if (this.named === null) this.decide(group);
    for (const job of this.taking) {
      this.work.records++;
      job.record(schema, device, values, group.seconds);
    }
  }

  /** Decides at the group's first record, when its marks are known. */
  private decide(group: RawGroup): void {
    if (this.named !== null) return;
    const all = this.jobs.get(ALL_JOBS);
    const named: JobReader[] = all === undefined ? [] : [all];
    for (const id of all === undefined ? jobsOf(group.jobIds, this.marks) : []) {
      const job = this.jobs.get(id);
      if (job !== undefined) named.push(job);
    }
    this.named = named;
    const whose = group.host !== null && this.isForeign(group.host) ? group.host : null;
    const host = whose ?? (this.foreign ? this.properties.hostname : null);
    const strange = host === null ? null : { host, taken: this.options.foreign };
    this.taking = named.filter((job) => job.takes(group, this.marks, strange));
  }

  private endGroup(): void {
    const group = this._group;
    if (group === null) return;
    // A group without records has marks all the same.
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

  /** After the last file. */
  finish(): void {
    for (const job of [...this.jobs.values()]) this.done(job);
  }
}

/** Reads a host's files for jobs, in the order given. Files that cannot be read are oddities. */
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
