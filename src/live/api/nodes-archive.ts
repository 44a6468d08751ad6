/** The raw stats files of what is shown: its jobs, read when requested; the last few are kept. */
import { readdirSync, statSync } from 'node:fs';
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
  type HostDay,
  type Job,
  JobError,
  type JobRow,
  type JobsWanted,
  type JobToRead,
  type KeptJobs,
  type ListedJobs,
  listJobs,
  measuredRows,
  openArchive,
  readAccounting,
  readJob,
  rowOf,
  withoutOthers,
} from '../../findings/job/index.ts';
import type { JobGroup } from '../../query/job-tables.ts';
import { archivesIn } from '../jobs-shown.ts';
import { SharedWork } from '../net/shared-work.ts';
import { OpenIndex } from '../open-index.ts';
import type { Shown } from '../shown.ts';
import { ApiError } from './route.ts';

/** Jobs that are kept read. */
const MOST_KEPT = 3;
/** Bytes of files (as stored) that are read as one, without a job. */
const MOST_BYTES = 256 * 2 ** 20;
/** Bytes of a file that may be an accounting file. */
const MOST_ACCOUNTING_BYTES = 64 * 2 ** 20;

const ALL_TIME = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, foreign: false };

/** An archive is the path itself, or is in a recording’s folder `node`. Null if there is none. */
function archiveAt(path: string): Archive | null {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  for (const folder of archivesIn(path)) {
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

/** Jobs of accounting files beside the hosts. */
function accountedBeside(folder: string): readonly AccountedJob[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /accounting/i.test(entry.name))
    .map(({ name }) => join(folder, name))
    .filter((path) => statSync(path).size <= MOST_ACCOUNTING_BYTES)
    .flatMap((path) => readAccounting(path).jobs);
}

/** Which jobs a request is about. */
export interface JobsAsked {
  /** Words that are all in a job's id, user, account, queue, name or state. */
  readonly words: readonly string[];
  /** Fields that are exactly this. */
  readonly same: Readonly<Partial<Record<JobField, string>>>;
  /** '': any. */
  readonly flag: string;
  /** An SQL condition; '': all. */
  readonly where: string;
  /** A host that they ran on; '': any. */
  readonly host: string;
  /** Seconds since 1970: that were there at some time between. */
  readonly between: readonly [from: number, to: number] | undefined;
}

/** What a list of jobs is requested with. */
export interface JobSearch extends JobsAsked {
  /** Whether flags are wanted, and which metrics. */
  readonly measured: boolean;
  readonly metrics: readonly string[];
  /** If there are more, the latest so many; with `sort` the first. */
  readonly most: number;
  /** Number of jobs at the beginning of the list that are left out. */
  readonly skip: number;
  readonly sort: { readonly column: string; readonly down: boolean } | undefined;
}

export interface FoundJobs {
  /** By their first record; or by `sort`. */
  readonly rows: readonly JobRow[];
  /** How many jobs the search found, and how many there are. */
  readonly found: number;
  readonly total: number;
  readonly problems: ListedJobs['problems'];
}

export interface FoundHostDays {
  readonly rows: readonly HostDay[];
  /** Names of all hosts of the archive. */
  readonly hosts: readonly string[];
  /** Seconds since 1970 of the first and last record of all jobs. */
  readonly span: readonly [number, number];
}

export const JOB_FIELDS = ['user', 'account', 'queue', 'application', 'state'] as const;
export type JobField = (typeof JOB_FIELDS)[number];

/** The same for the index. @param user only this user's jobs; null: all */
function wantedOf(asked: JobsAsked, user: string | null): JobsWanted {
  const { words, same, flag, where, host, between } = asked;
  const isOthers = user !== null && same.user !== undefined && same.user !== user;
  return {
    ...{ ...same, words, between },
    ...(flag !== '' && { flag }),
    ...(where !== '' && { where }),
    ...(host !== '' && { hosts: [host] }),
    ...(user !== null && { user }),
    ...(isOthers && { where: 'false' }),
  };
}

const NEEDS_INDEX = 'needs the archive’s job index: triscope node index --archive makes one';

const isLike = (row: JobRow, { words, flag, same, between, host }: JobSearch): boolean => {
  if (host !== '') throw new ApiError(400, `host=… ${NEEDS_INDEX}`);
  if (flag !== '' && row.flags?.includes(flag) !== true) return false;
  if (between !== undefined && (row.last < between[0] || row.first > between[1])) return false;
  for (const name of JOB_FIELDS) {
    if (same[name] === undefined) continue;
    if (name === 'application') throw new ApiError(400, `application=… ${NEEDS_INDEX}`);
    if (row[name] !== same[name]) return false;
  }
  const text = [row.id, row.user, row.account, row.queue, row.name, row.state].join(' ');
  return words.every((word) => text.toLowerCase().includes(word.toLowerCase()));
};

/** The requested part of the rows. */
function partOf(found: readonly JobRow[], { sort, most, skip }: JobSearch): readonly JobRow[] {
  if (sort === undefined) return found.slice(0, found.length - skip).slice(-most);
  const { column, down } = sort;
  const cell = (row: JobRow): string | number | null => {
    const values: Readonly<Record<string, unknown>> = { ...row.metrics, ...row };
    const value = column === 'flags' ? (row.flags ?? []).join(',') : values[column];
    return typeof value === 'string' || typeof value === 'number' ? value : null;
  };
  const sorted = [...found].sort((a, b) => {
    const [x, y] = [cell(a), cell(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return x === y ? 0 : x < y === down ? 1 : -1;
  });
  return sorted.slice(skip, skip + most);
}

const withMetrics = (row: JobRow, names: readonly string[]): JobRow => ({
  ...row,
  metrics: Object.fromEntries(
    names.flatMap((name) => (name in row.metrics ? [[name, row.metrics[name]]] : [])),
  ),
});

/** Takes the rows for which a condition is true. */
type Choose = (rows: readonly JobRow[]) => Promise<readonly JobRow[]>;

class NodeArchive {
  readonly archive: Archive;
  private _accounted: readonly AccountedJob[] | null = null;
  private readonly _list: SharedWork<ListedJobs>;
  private readonly measured: SharedWork<readonly JobRow[]>;
  private readonly jobs = new Map<string, SharedWork<Job>>();
  private _index: OpenIndex | null = null;

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
   * The jobs that a search finds: by the archive's index; otherwise each file is read once, the first time.
   * @param user only this user's jobs; null: all
   * @param choose judges `where`
   */
  async search(
    search: JobSearch,
    user: string | null,
    signal: AbortSignal,
    choose: Choose,
  ): Promise<FoundJobs> {
    const kept = await this.index.ask((jobs) => searchKept(jobs, search, user, choose));
    if (kept !== null) return kept;
    const { problems } = await this._list.get(signal);
    const all = await (search.measured ? this.measured.get(signal) : this.plainRows(signal));
    const own = user === null ? all : all.filter((row) => row.user === user);
    const chosen = search.where === '' ? own : await choose(own);
    const found = chosen.filter((row) => isLike(row, search));
    return {
      rows: partOf(found, search).map((row) => withMetrics(row, search.metrics)),
      ...{ found: found.length, total: own.length, problems },
    };
  }

  /** Sums of jobs; null if the archive has no index. @throws ApiError */
  sums(by: JobGroup, asked: JobsAsked, user: string | null): Promise<readonly GroupRow[] | null> {
    return this.index.ask((jobs) => jobs.by(by, summed(asked, user)));
  }

  /** What jobs did on their hosts, by day; null if the archive has no index. @throws ApiError */
  hostDays(asked: JobsAsked, user: string | null): Promise<FoundHostDays | null> {
    return this.index.ask(async (jobs) => ({
      rows: await jobs.hostDays(summed(asked, user)),
      hosts: await jobs.hosts(),
      span: (await jobs.span()) ?? [0, 0],
    }));
  }

  private get index(): OpenIndex {
    const { accounted } = this;
    this._index ??= new OpenIndex(this.archive.path, accounted.length > 0 ? accounted : null);
    return this._index;
  }

  /** What groups and accounting tell about the jobs. */
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
    const kept = await this.index.ask((jobs) => jobs.isOf(id, user));
    if (kept !== null) return kept;
    return (await this.toRead(signal)).some(
      ({ listed, accounted }) => listed.id === id && accounted?.user === user,
    );
  }

  /**
   * A job; as `user` may see it if one is given.
   * @throws JobNotFoundError; ApiError if that is too much at once, or the job is not the user's
   */
  async job(id: string, user: string | null, signal: AbortSignal): Promise<Job> {
    if (user !== null && (id === ALL_JOBS || !(await this.isOf(id, user, signal)))) {
      throw new ApiError(404, `${user} has no job ${JSON.stringify(id)} here: see /api/jobs`);
    }
    const key = user === null ? id : `${id} own`;
    const job = this.jobs.get(key) ?? new SharedWork((end) => this.read(id, user !== null, end));
    // The job that was requested last is removed last.
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

/** What sums are of. @throws ApiError */
function summed(asked: JobsAsked, user: string | null): JobsWanted {
  if (user !== null && asked.where !== '') {
    throw new ApiError(400, 'where=… of sums is for operators');
  }
  return wantedOf(asked, user);
}

/** A user's condition is applied only to that user's jobs. */
async function searchKept(
  jobs: KeptJobs,
  search: JobSearch,
  user: string | null,
  choose: Choose,
): Promise<FoundJobs> {
  const { most, skip, sort, metrics } = search;
  const [total, problems] = await Promise.all([
    jobs.all(user),
    user === null ? jobs.problems() : [],
  ]);
  if (user !== null && search.where !== '') {
    const chosen = await choose(await jobs.rows(wantedOf({ ...search, where: '' }, user)));
    const rows = partOf(chosen, search).map((row) => withMetrics(row, metrics));
    return { rows, found: chosen.length, total, problems };
  }
  const wanted = wantedOf(search, user);
  const [rows, found] = await Promise.all([
    jobs.rows({ ...wanted, most, skip, sort, metrics }),
    jobs.count(wanted),
  ]);
  return { rows, found, total, problems };
}

const ARCHIVES = new WeakMap<Shown, NodeArchive | null>();

/** The archive of what is shown; null if it has no raw stats files. */
export function archiveOf(view: Shown): NodeArchive | null {
  const shown = view.of ?? view;
  const known = ARCHIVES.get(shown);
  if (known !== undefined) return known;
  const archive = shown.path === null ? null : archiveAt(shown.path);
  const made = archive === null ? null : new NodeArchive(archive);
  ARCHIVES.set(shown, made);
  return made;
}
