/** The raw stats files of what is shown: its jobs, read when asked for, the last few kept. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AccountedJob,
  ALL_JOBS,
  type Archive,
  accountedById,
  accountedFor,
  accountedJob,
  type Job,
  JobError,
  type JobList,
  type JobRow,
  type JobToRead,
  listJobs,
  measuredRows,
  openArchive,
  openJobs,
  readAccounting,
  readJob,
  rowOf,
} from '../../findings/job/index.ts';
import { SharedWork } from '../net/shared-work.ts';
import type { Shown } from '../shown.ts';
import { ApiError } from './route.ts';

/** Jobs that are kept read. */
const MOST_KEPT = 3;
/** Bytes of files (as they lie there) that are read as one, without a job. */
const MOST_BYTES = 256 * 2 ** 20;
/** Bytes of a file that may be an accounting file. */
const MOST_ACCOUNTING = 64 * 2 ** 20;

const ALL_TIME = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, foreign: false };

/** An archive is the path itself, or lies in a recording’s folder `node`. Null where there is none. */
function archiveAt(path: string): Archive | null {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  for (const folder of [join(path, 'node'), path]) {
    try {
      if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) {
        return openArchive(folder);
      }
    } catch (error) {
      if (!(error instanceof JobError)) throw error;
    }
  }
  return null;
}

/** Jobs of accounting files that lie beside the hosts. */
function accountedBeside(folder: string): readonly AccountedJob[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /accounting/i.test(entry.name))
    .map(({ name }) => join(folder, name))
    .filter((path) => statSync(path).size <= MOST_ACCOUNTING)
    .flatMap((path) => readAccounting(path).jobs);
}

class NodeArchive {
  readonly archive: Archive;
  private _accounted: readonly AccountedJob[] | null = null;
  private readonly _list: SharedWork<JobList>;
  private readonly rows: SharedWork<readonly JobRow[]>;
  private readonly jobs = new Map<string, SharedWork<Job>>();

  constructor(archive: Archive) {
    this.archive = archive;
    this._list = new SharedWork((signal) => listJobs(archive, { ...ALL_TIME, signal }));
    this.rows = new SharedWork((signal) => this.measure(signal));
  }

  get accounted(): readonly AccountedJob[] {
    this._accounted ??= accountedBeside(this.archive.path);
    return this._accounted;
  }

  /** Reads each file once, the first time. */
  list(signal: AbortSignal): Promise<JobList> {
    return this._list.get(signal);
  }

  /** What groups and accounting tell of the jobs. */
  async plainRows(signal: AbortSignal): Promise<readonly JobRow[]> {
    const jobs = await this.toRead(signal);
    return jobs.map(({ listed, accounted }) => rowOf(listed, accounted));
  }

  /** The same with metrics and flags: reads each job, the first time. */
  measuredRows(signal: AbortSignal): Promise<readonly JobRow[]> {
    return this.rows.get(signal);
  }

  private async measure(signal: AbortSignal): Promise<readonly JobRow[]> {
    const { jobs } = await openJobs(
      this.archive,
      this.accounted.length > 0 ? this.accounted : null,
    );
    try {
      if (jobs !== null) return await jobs.rows();
    } finally {
      jobs?.close();
    }
    return measuredRows(await this.toRead(signal), { foreign: false, signal });
  }

  private async toRead(signal: AbortSignal): Promise<readonly JobToRead[]> {
    const accounted = accountedById(this.accounted);
    const { jobs } = await this.list(signal);
    return jobs.map((listed) => ({ listed, accounted: accountedFor(accounted, listed) }));
  }

  /** @throws JobNotFoundError; ApiError where that is too much at once */
  job(id: string, signal: AbortSignal): Promise<Job> {
    const job = this.jobs.get(id) ?? new SharedWork((end) => this.read(id, end));
    // The one asked for last goes last.
    this.jobs.delete(id);
    this.jobs.set(id, job);
    for (const old of [...this.jobs.keys()].slice(0, -MOST_KEPT)) this.jobs.delete(old);
    return job.get(signal);
  }

  private async read(id: string, signal: AbortSignal): Promise<Job> {
    if (id !== ALL_JOBS) {
      const own = accountedJob(this.accounted, { id });
      return readJob(this.archive, { id, accounted: own, signal });
    }
    const bytes = this.archive.files.reduce((sum, { path }) => sum + statSync(path).size, 0);
    if (bytes > MOST_BYTES) {
      throw new ApiError(
        413,
        `all hosts at all times are ${Math.round(bytes / 2 ** 20)} MiB of files: choose a job`,
      );
    }
    return readJob(this.archive, { id, signal });
  }
}

const ARCHIVES = new WeakMap<Shown, NodeArchive | null>();

/** The archive of what is shown; null where it has no raw stats files. */
export function archiveOf(shown: Shown): NodeArchive | null {
  const known = ARCHIVES.get(shown);
  if (known !== undefined) return known;
  const archive = shown.path === null ? null : archiveAt(shown.path);
  const made = archive === null ? null : new NodeArchive(archive);
  ARCHIVES.set(shown, made);
  return made;
}
