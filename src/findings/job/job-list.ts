/** Which jobs an archive has: by the job ids and marks of its record groups. Nothing of the records is kept. */
import { type RawGroup, type RawVisitor, readRaw } from '../../formats/tacc/index.ts';
import type { Archive, ArchiveFile } from './archive.ts';
import { mayHold } from './archive.ts';
import { shortName } from './host-list.ts';
import { isJob, jobsOf } from './marks.ts';

/** What a host has of a job. */
interface ListedHost {
  /** Whether it has the marks. */
  begin: boolean;
  end: boolean;
  /** Its record groups whose lines or marks name the job. */
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

export interface JobList {
  /** By their first record. */
  readonly jobs: readonly ListedJob[];
  /** Files that could not be read to their end. */
  readonly problems: readonly { readonly path: string; readonly what: string }[];
}

interface ListOptions {
  /** Seconds since 1970; infinite where not said. */
  readonly from: number;
  readonly to: number;
  readonly foreign: boolean;
  /** Ends the reading: its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

class Lister implements RawVisitor {
  readonly jobs = new Map<string, ListedJob>();
  readonly #options: ListOptions;
  #file: ArchiveFile | null = null;
  #foreign = false;
  /** The group that is being read; null where it does not count. */
  #group: RawGroup | null = null;
  #marks: string[] = [];

  constructor(options: ListOptions) {
    this.#options = options;
  }

  open(file: ArchiveFile): void {
    this.#file = file;
    this.#foreign = false;
  }

  property(name: string, value: string): void {
    if (name === 'hostname') this.#foreign = this.#isForeign(value.trim());
  }

  #isForeign(host: string): boolean {
    const own = this.#file?.host ?? '';
    return host !== '' && host !== '-' && shortName(host) !== shortName(own);
  }

  group(group: RawGroup): void {
    const { from, to, foreign } = this.#options;
    this.endGroup();
    if (group.seconds < from || group.seconds > to) return;
    const other = this.#foreign || (group.host !== null && this.#isForeign(group.host));
    if (other && !foreign) return;
    this.#group = group;
  }

  mark(text: string): void {
    this.#marks.push(text);
  }

  /** Once its marks are known: at the next group, and at the file's end. */
  endGroup(): void {
    const group = this.#group;
    if (group !== null) {
      for (const id of jobsOf(group.jobIds, this.#marks)) if (isJob(id)) this.#add(id, group);
    }
    this.#group = null;
    this.#marks = [];
  }

  #add(id: string, { seconds, jobIds }: RawGroup): void {
    const file = this.#file;
    if (file === null) return;
    const job = this.#job(id, seconds);
    job.first = Math.min(job.first, seconds);
    job.last = Math.max(job.last, seconds);
    if (jobIds.includes(id)) job.groups++;
    job.files.add(file);
    const host = job.hosts.get(file.host) ?? { begin: false, end: false, groups: 0 };
    job.hosts.set(file.host, host);
    host.groups++;
    if (this.#marks.includes(`begin ${id}`)) host.begin = true;
    if (this.#marks.includes(`end ${id}`)) host.end = true;
  }

  #job(id: string, seconds: number): ListedJob {
    const known = this.jobs.get(id);
    if (known !== undefined) return known;
    const job: ListedJob = {
      ...{ id, first: seconds, last: seconds, groups: 0 },
      hosts: new Map(),
      files: new Set(),
    };
    this.jobs.set(id, job);
    return job;
  }
}

/** Reads the archive once. */
export async function listJobs(archive: Archive, options: ListOptions): Promise<JobList> {
  const lister = new Lister(options);
  const problems: { path: string; what: string }[] = [];
  for (const file of archive.files) {
    if (!mayHold(file, options.from, options.to)) continue;
    lister.open(file);
    try {
      await readRaw(file.path, lister, file.path, options.signal);
    } catch (error) {
      if ((error as Error).name !== 'TaccError') throw error;
      problems.push({ path: file.path, what: (error as Error).message });
    }
    lister.endGroup();
  }
  const jobs = [...lister.jobs.values()].sort(
    (a, b) => a.first - b.first || (a.id < b.id ? -1 : 1),
  );
  return { jobs, problems };
}
