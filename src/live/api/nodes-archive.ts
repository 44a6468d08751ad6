/** The raw stats files of what is shown: its jobs, read when asked for, the last few kept. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AccountedJob,
  ALL_JOBS,
  type Archive,
  accountedById,
  accountedFor,
  accountedJob,
  filesOfJob,
  type GroupRow,
  indexPath,
  type Job,
  JobError,
  type JobList,
  type JobRow,
  type JobToRead,
  type KeptJobs,
  listJobs,
  measuredRows,
  openArchive,
  openJobs,
  type RowSearch,
  readAccounting,
  readJob,
  rowOf,
  withoutOthers,
} from '../../findings/job/index.ts';
import type { JobGroup } from '../../query/job-tables.ts';
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

/** What a list of jobs is asked for. */
export interface JobSearch {
  /** Words that are all in a job's id, user, account, queue, name or state. */
  readonly words: readonly string[];
  /** '': any. */
  readonly flag: string;
  /** An SQL condition; '': all. */
  readonly where: string;
  /** Whether metrics and flags are wanted. */
  readonly measured: boolean;
  /** Of more, the latest so many. */
  readonly most: number;
}

export interface FoundJobs {
  /** By their first record. */
  readonly rows: readonly JobRow[];
  /** How many the search found, and how many there are. */
  readonly found: number;
  readonly total: number;
  readonly problems: JobList['problems'];
}

const isLike = (row: JobRow, { words, flag }: JobSearch): boolean => {
  if (flag !== '' && row.flags?.includes(flag) !== true) return false;
  const text = [row.id, row.user, row.account, row.queue, row.name, row.state].join(' ');
  return words.every((word) => text.toLowerCase().includes(word.toLowerCase()));
};

/** Takes the rows for which a condition is true. */
type Choose = (rows: readonly JobRow[]) => Promise<readonly JobRow[]>;

class NodeArchive {
  readonly archive: Archive;
  private _accounted: readonly AccountedJob[] | null = null;
  private readonly _list: SharedWork<JobList>;
  private readonly measured: SharedWork<readonly JobRow[]>;
  private readonly jobs = new Map<string, SharedWork<Job>>();

  constructor(archive: Archive) {
    this.archive = archive;
    this._list = new SharedWork((signal) => listJobs(archive, { ...ALL_TIME, signal }));
    this.measured = new SharedWork(async (signal) =>
      measuredRows(await this.toRead(signal), { foreign: false, signal }),
    );
  }

  get accounted(): readonly AccountedJob[] {
    this._accounted ??= accountedBeside(this.archive.path);
    return this._accounted;
  }

  /**
   * The jobs that a search finds: by the archive's index, else reads each file once, the first time.
   * @param user whose jobs alone are there; null: all
   * @param choose judges `where`
   */
  async search(
    search: JobSearch,
    user: string | null,
    signal: AbortSignal,
    choose: Choose,
  ): Promise<FoundJobs> {
    const kept = await this.asked((jobs) => searchKept(jobs, search, user, choose));
    if (kept !== null) return kept;
    const { problems } = await this._list.get(signal);
    const all = await (search.measured ? this.measured.get(signal) : this.plainRows(signal));
    const own = user === null ? all : all.filter((row) => row.user === user);
    const chosen = search.where === '' ? own : await choose(own);
    const found = chosen.filter((row) => isLike(row, search));
    return {
      rows: found.slice(-search.most),
      ...{ found: found.length, total: own.length, problems },
    };
  }

  /** Sums of jobs; null where the archive has no index. */
  sums(group: JobGroup, user: string | null): Promise<readonly GroupRow[] | null> {
    return this.asked((jobs) => jobs.by(group, user));
  }

  /** What the archive's index answers; null where there is none. */
  private async asked<T>(question: (jobs: KeptJobs) => Promise<T>): Promise<T | null> {
    if (!existsSync(indexPath(this.archive))) return null;
    const { jobs } = await openJobs(
      openArchive(this.archive.path),
      this.accounted.length > 0 ? this.accounted : null,
    );
    if (jobs === null) return null;
    try {
      return await question(jobs);
    } finally {
      jobs.close();
    }
  }

  /** What groups and accounting tell of the jobs. */
  private async plainRows(signal: AbortSignal): Promise<readonly JobRow[]> {
    const jobs = await this.toRead(signal);
    return jobs.map(({ listed, accounted }) => rowOf(listed, accounted));
  }

  private async toRead(signal: AbortSignal): Promise<readonly JobToRead[]> {
    const accounted = accountedById(this.accounted);
    const { jobs } = await this._list.get(signal);
    return jobs.map((listed) => ({ listed, accounted: accountedFor(accounted, listed) }));
  }

  private async isOf(id: string, user: string, signal: AbortSignal): Promise<boolean> {
    const kept = await this.asked((jobs) => jobs.isOf(id, user));
    if (kept !== null) return kept;
    return (await this.toRead(signal)).some(
      ({ listed, accounted }) => listed.id === id && accounted?.user === user,
    );
  }

  /**
   * A job; as `user` may see it where one is given.
   * @throws JobNotFoundError; ApiError where that is too much at once, or no job of the user's
   */
  async job(id: string, user: string | null, signal: AbortSignal): Promise<Job> {
    if (user !== null && (id === ALL_JOBS || !(await this.isOf(id, user, signal)))) {
      throw new ApiError(404, `${user} has no job ${JSON.stringify(id)} here: see /api/jobs`);
    }
    const key = user === null ? id : `${id} own`;
    const job = this.jobs.get(key) ?? new SharedWork((end) => this.read(id, user !== null, end));
    // The one asked for last goes last.
    this.jobs.delete(key);
    this.jobs.set(key, job);
    for (const old of [...this.jobs.keys()].slice(0, -MOST_KEPT)) this.jobs.delete(old);
    return job.get(signal);
  }

  private async read(id: string, own: boolean, signal: AbortSignal): Promise<Job> {
    if (id !== ALL_JOBS) {
      const accounted = accountedJob(this.accounted, { id });
      const archive = await filesOfJob(this.archive, id);
      const job = await readJob(archive, { id, accounted, signal });
      return own ? withoutOthers(job) : job;
    }
    const bytes = this.archive.files.reduce((sum, { path }) => sum + statSync(path).size, 0);
    if (bytes > MOST_BYTES) {
      throw new ApiError(
        413,
        `all hosts over all times are ${Math.round(bytes / 2 ** 20)} MiB of files: choose a job`,
      );
    }
    return readJob(this.archive, { id, signal });
  }
}

/** A user's condition is judged where there are no jobs but the user's own. */
async function searchKept(
  jobs: KeptJobs,
  { words, flag, where, most }: JobSearch,
  user: string | null,
  choose: Choose,
): Promise<FoundJobs> {
  const own: RowSearch = { user: user ?? undefined };
  const like = { ...own, words, ...(flag !== '' && { flag }) };
  const [total, problems] = [await jobs.count(own), user === null ? await jobs.problems() : []];
  if (user !== null && where !== '') {
    const chosen = await choose(await jobs.rows(like));
    return { rows: chosen.slice(-most), found: chosen.length, total, problems };
  }
  const search = { ...like, ...(where !== '' && { where }) };
  const rows = await jobs.rows({ ...search, most });
  return {
    rows,
    found: rows.length < most ? rows.length : await jobs.count(search),
    total,
    problems,
  };
}

const ARCHIVES = new WeakMap<Shown, NodeArchive | null>();

/** The archive of what is shown; null where it has no raw stats files. */
export function archiveOf(view: Shown): NodeArchive | null {
  const shown = view.of ?? view;
  const known = ARCHIVES.get(shown);
  if (known !== undefined) return known;
  const archive = shown.path === null ? null : archiveAt(shown.path);
  const made = archive === null ? null : new NodeArchive(archive);
  ARCHIVES.set(shown, made);
  return made;
}
