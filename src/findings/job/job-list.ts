/** Which jobs an archive has: by the job ids and marks of its record groups. Nothing of the records is kept. */
import { type RawGroup, type RawVisitor, readRaw } from '../../formats/tacc/index.ts';
import type { Archive, ArchiveFile } from './archive.ts';
import { mayHold } from './archive.ts';
import { shortName } from './host-list.ts';
import { isJob } from './marks.ts';

export interface ListedJob {
  readonly id: string;
  /** Seconds since 1970 of its first and last record group. */
  first: number;
  last: number;
  groups: number;
  /** By host: whether it has a begin and an end mark. */
  readonly hosts: Map<string, { begin: boolean; end: boolean }>;
  /** Files with records of it. */
  readonly files: Set<ArchiveFile>;
}

export interface JobList {
  /** By their first record. */
  readonly jobs: readonly ListedJob[];
  /** Files that could not be read to their end. */
  readonly problems: readonly { readonly path: string; readonly what: string }[];
}

export interface ListOptions {
  /** Seconds since 1970; infinite where not said. */
  readonly from: number;
  readonly to: number;
  readonly foreign: boolean;
}

const MARK = /^(begin|end) (\S+)$/;

class Lister implements RawVisitor {
  readonly jobs = new Map<string, ListedJob>();
  readonly #options: ListOptions;
  #file: ArchiveFile | null = null;
  #foreign = false;
  #group: RawGroup | null = null;

  constructor(options: ListOptions) {
    this.#options = options;
  }

  open(file: ArchiveFile): void {
    this.#file = file;
    this.#foreign = false;
    this.#group = null;
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
    this.#group = null;
    if (group.seconds < from || group.seconds > to) return;
    const other = this.#foreign || (group.host !== null && this.#isForeign(group.host));
    if (other && !foreign) return;
    this.#group = group;
    for (const id of group.jobIds) if (isJob(id)) this.#job(id, group).groups++;
  }

  mark(text: string): void {
    const [, what, id] = MARK.exec(text) ?? [];
    if (this.#group === null || id === undefined || !isJob(id)) return;
    const host = this.#job(id, this.#group).hosts.get(this.#file?.host ?? '');
    if (host !== undefined) host[what as 'begin' | 'end'] = true;
  }

  #job(id: string, { seconds }: RawGroup): ListedJob {
    const job = this.jobs.get(id) ?? {
      ...{ id, first: seconds, last: seconds, groups: 0 },
      hosts: new Map(),
      files: new Set(),
    };
    this.jobs.set(id, job);
    job.first = Math.min(job.first, seconds);
    job.last = Math.max(job.last, seconds);
    const file = this.#file;
    if (file === null) return job;
    job.files.add(file);
    if (!job.hosts.has(file.host)) job.hosts.set(file.host, { begin: false, end: false });
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
      await readRaw(file.path, lister);
    } catch (error) {
      if ((error as Error).name !== 'TaccError') throw error;
      problems.push({ path: file.path, what: (error as Error).message });
    }
  }
  const jobs = [...lister.jobs.values()].sort(
    (a, b) => a.first - b.first || (a.id < b.id ? -1 : 1),
  );
  return { jobs, problems };
}
