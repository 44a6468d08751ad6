/** Which jobs an archive has, from the job ids and marks of its record groups. Records are not stored. */
import type { Archive, ArchiveFile } from './archive.ts';
import { mayHold } from './archive.ts';
import { GroupReader, type RecordGroup } from './groups.ts';
import type { Work } from './host-files.ts';
import { isJob, jobsOf } from './marks.ts';

/** What one host has of a job. */
interface ListedHost {
  /** Whether it has the marks. */
  begin: boolean;
  end: boolean;
  /** The number of its record groups whose lines or marks name the job. */
  groups: number;
}

export interface ListedJob {
  readonly id: string;
  /** Seconds since 1970 of its first and last record group. */
  first: number;
  last: number;
  groups: number;
  readonly hosts: Map<string, ListedHost>;
  /** Files with records of it. */
  readonly files: Set<ArchiveFile>;
}

/** What one file has of a job. */
export interface FileJob extends ListedHost {
  first: number;
  last: number;
  /** Record groups whose lines name it; marks may name it in other groups, too. */
  lines: number;
}

export interface ListedJobs {
  /** Sorted by their first record. */
  readonly jobs: readonly ListedJob[];
  /** Files that could not be read to their end. */
  readonly problems: readonly { readonly path: string; readonly what: string }[];
}

interface ListOptions {
  /** Seconds since 1970; infinite by default. */
  readonly from: number;
  readonly to: number;
  readonly foreign: boolean;
  /** Aborts the reading, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

class Lister extends GroupReader {
  readonly jobs = new Map<string, FileJob>();
  private readonly options: ListOptions;
  /** The current group; null if it does not count. */
  private _group: RecordGroup | null = null;

  constructor(host: string, options: ListOptions) {
    super(host);
    this.options = options;
  }

  /** Reads a file without its records. */
  read(path: string) {
    return this.readFile(path, { types: [], signal: this.options.signal });
  }

  protected group(group: RecordGroup): void {
    const { from, to, foreign } = this.options;
    const counts = group.seconds >= from && group.seconds <= to;
    this._group = counts && (foreign || !this.isForeign(group)) ? group : null;
  }

  endGroup(): void {
    const group = this._group;
    if (group === null) return;
    for (const id of jobsOf(group.jobIds, this.marks)) if (isJob(id)) this.add(id, group);
    this._group = null;
  }

  private add(id: string, { seconds, jobIds }: RecordGroup): void {
    const known = this.jobs.get(id);
    const job = known ?? {
      ...{ first: seconds, last: seconds, lines: 0, groups: 0 },
      ...{ begin: false, end: false },
    };
    if (known === undefined) this.jobs.set(id, job);
    job.first = Math.min(job.first, seconds);
    job.last = Math.max(job.last, seconds);
    job.groups++;
    if (jobIds.includes(id)) job.lines++;
    if (this.marks.includes(`begin ${id}`)) job.begin = true;
    if (this.marks.includes(`end ${id}`)) job.end = true;
  }
}

export interface ListedFile {
  readonly jobs: ReadonlyMap<string, FileJob>;
  /** Why it could not be read to its end; null if it could. */
  readonly problem: string | null;
}

/** Reads which jobs a file names. */
export async function listFile(
  file: ArchiveFile,
  options: ListOptions,
  work?: Work,
): Promise<ListedFile> {
  const lister = new Lister(file.host, options);
  const { lines, problem } = await lister.read(file.path);
  if (work !== undefined) work.lines += lines;
  return { jobs: lister.jobs, problem };
}

/** Merges the jobs of several files, sorted by their first record. */
export function mergeFiles(
  files: Iterable<readonly [ArchiveFile, ReadonlyMap<string, FileJob>]>,
): readonly ListedJob[] {
  const all = new Map<string, ListedJob>();
  for (const [file, jobs] of files) {
    for (const [id, { first, last, lines, groups, begin, end }] of jobs) {
      const known = all.get(id);
      const job = known ?? { id, first, last, groups: 0, hosts: new Map(), files: new Set() };
      if (known === undefined) all.set(id, job);
      job.first = Math.min(job.first, first);
      job.last = Math.max(job.last, last);
      job.groups += lines;
      job.files.add(file);
      const host = job.hosts.get(file.host) ?? { begin: false, end: false, groups: 0 };
      job.hosts.set(file.host, host);
      host.groups += groups;
      host.begin ||= begin;
      host.end ||= end;
    }
  }
  return [...all.values()].sort((a, b) => a.first - b.first || (a.id < b.id ? -1 : 1));
}

/** Reads the archive once. */
export async function listJobs(archive: Archive, options: ListOptions): Promise<ListedJobs> {
  const found: [ArchiveFile, ReadonlyMap<string, FileJob>][] = [];
  const problems: { path: string; what: string }[] = [];
  for (const file of archive.files) {
    if (!mayHold(file, options.from, options.to)) continue;
    const { jobs, problem } = await listFile(file, options);
    found.push([file, jobs]);
    if (problem !== null) problems.push({ path: file.path, what: problem });
  }
  return { jobs: mergeFiles(found), problems };
}
