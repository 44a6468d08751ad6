/** Queries on the job index of an archive. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bytes as sizeText } from '../../model/measures/index.ts';
import { quoteName, quoteText } from '../../model/sql.ts';
import { hostDaysOf, type JobGroup, jobViews, layoutOf, sumsOf } from '../../query/job-tables.ts';
import type { KeptFile } from '../../query/kept-file.ts';
import type { AccountedJob } from './accounting.ts';
import type { Archive, ArchiveFile } from './archive.ts';
import { shortName } from './host-list.ts';
import { accountingStamp, differenceOf, FILE_ROWS, indexPath, updateIndex } from './job-index.ts';
import { type JobRow, METRIC_COLUMNS, METRIC_MEANINGS } from './job-rows.ts';

/** A row of `jobs_by_…`. */
export interface GroupRow {
  /** The user, account, and so on; for days, a date such as `2026-03-01`. */
  readonly group: string;
  readonly jobs: number;
  readonly nodeHours: number;
  /** Busy CPUs divided by all CPUs, 0 to 1, over the jobs that have both numbers; null if none has. */
  readonly efficiency: number | null;
  readonly flaggedJobs: number;
  readonly flaggedNodeHours: number;
}

/** What a host did on one day. */
export interface HostDay {
  readonly host: string;
  /** `2026-03-01`. */
  readonly day: string;
  /** Seconds of jobs; if several run at a time, the seconds of each are added. */
  readonly seconds: number;
  /** Seconds during which at least one job ran. */
  readonly busySeconds: number;
  readonly flaggedSeconds: number;
  /** Busy CPUs divided by all CPUs of these jobs on all their hosts, weighted by their seconds here; null if no job has both numbers. */
  readonly efficiency: number | null;
}

/** Which jobs are requested. */
export interface JobsWanted {
  /** SQL conditions, all of which have to hold. From a user comes the first at most, and it is checked. */
  readonly where?: string | undefined;
  readonly user?: string | undefined;
  readonly queue?: string | undefined;
  readonly account?: string | undefined;
  readonly application?: string | undefined;
  readonly state?: string | undefined;
  readonly hosts?: readonly string[] | null;
  /** Words that all have to occur in a job's id, user, account, queue, name or state, in upper or lower case. */
  readonly words?: readonly string[];
  /** A raised flag. */
  readonly flag?: string | undefined;
  /** Seconds since 1970: jobs with records at some time between the two. */
  readonly between?: readonly [from: number, to: number] | undefined;
}

export interface RowSearch extends JobsWanted {
  /** At most so many jobs: the latest ones, or the first by `sort`. */
  readonly most?: number;
  /** How many of the first jobs to leave out. */
  readonly skip?: number;
  /** Sorts by a column, its greatest value first if `down`; missing values come last. */
  readonly sort?: { readonly column: string; readonly down: boolean };
  /** Columns of metrics to return; by default all. */
  readonly metrics?: readonly string[];
}

/** The text in which words are searched. */
const WORDS_IN = `lower(concat_ws(' ', id, "user", account, queue, name, state))`;
const SAME = ['user', 'queue', 'account', 'application', 'state'] as const;

/** The jobs of a search as SQL without its last condition. */
function searched(wanted: JobsWanted): string {
  const { flag, hosts = null, words = [], between } = wanted;
  const list = (hosts ?? []).map((host) => quoteText(shortName(host))).join(', ');
  const more = [
    ...SAME.flatMap((name) => {
      const value = wanted[name];
      return value === undefined ? [] : [`"${name}" = ${quoteText(value)}`];
    }),
    ...(flag === undefined ? [] : [`contains(',' || flags || ',', ${quoteText(`,${flag},`)})`]),
    ...(between === undefined ? [] : [`last >= ${between[0]} AND first <= ${between[1]}`]),
    ...words.map((word) => `contains(${WORDS_IN}, ${quoteText(word.toLowerCase())})`),
    ...(hosts === null
      ? []
      : [`id IN (SELECT job FROM job_hosts WHERE split_part(host, '.', 1) IN (${list}))`]),
  ];
  return more.length === 0 ? 'jobs' : `(FROM jobs WHERE ${more.join(' AND ')})`;
}

const TEXTS = [
  ...(['id', 'user', 'account', 'queue', 'name', 'state', 'application'] as const),
  ...(['flags', 'doubtful'] as const),
];
const NUMBERS = ['first', 'last', 'seconds', 'hosts', 'groups', 'no_begin', 'no_end'] as const;
const namesOf = (text: string) => text.split(',').filter(Boolean);

export class KeptJobs {
  private readonly kept: KeptFile;
  private readonly archive: Archive;
  private readonly counts = new Map<string | null, Promise<number>>();

  constructor(kept: KeptFile, archive: Archive) {
    this.kept = kept;
    this.archive = archive;
  }

  /** The number of jobs, of one user or of all: an open index does not change. */
  all(user: string | null): Promise<number> {
    const known = this.counts.get(user) ?? this.count({ user: user ?? undefined });
    this.counts.set(user, known);
    return known;
  }

  /** The number of jobs that a search finds. @throws QueryError */
  async count(search: JobsWanted): Promise<number> {
    const select = `SELECT count(*) FROM ${searched(search)} jobs`;
    const [[count]] = await this.kept.where(select, search.where ?? 'true', '');
    return Number(count);
  }

  /** Seconds since 1970 of the first and last record of all jobs; null where there are none. */
  async span(): Promise<readonly [number, number] | null> {
    const [[first, last]] = await this.kept.rows('SELECT min(first), max(last) FROM jobs');
    return first === null ? null : [Number(first), Number(last)];
  }

  /** The jobs that a search finds, sorted by their first record. @throws QueryError */
  async rows(search: RowSearch = {}): Promise<JobRow[]> {
    const { where = 'true', most, skip = 0, sort, metrics = METRIC_COLUMNS } = search;
    const columns = [...TEXTS, ...NUMBERS, ...metrics].map(quoteName);
    const select = `SELECT ${columns.join(', ')} FROM ${searched(search)} jobs`;
    const part = most === undefined ? '' : ` LIMIT ${most} OFFSET ${skip}`;
    const latest = sort === undefined && most !== undefined;
    const by = latest ? 'first DESC, id DESC' : 'first, id';
    const order =
      sort === undefined
        ? by
        : `${quoteName(sort.column)} ${sort.down ? 'DESC' : 'ASC'} NULLS LAST, first, id`;
    const found = await this.kept.where(select, where, `ORDER BY ${order}${part}`);
    if (latest) found.reverse();
    return found.map((cells) => {
      const text = Object.fromEntries(TEXTS.map((name, k) => [name, String(cells[k] ?? '')]));
      const numbers = NUMBERS.map((name, k) => [name, Number(cells[TEXTS.length + k])]);
      const values = metrics.map((name, k) => {
        const value = cells[TEXTS.length + NUMBERS.length + k];
        return [name, value === null ? null : Number(value)];
      });
      const { flags, doubtful, ...facts } = text;
      return {
        ...facts,
        ...Object.fromEntries(numbers),
        ...{ flags: namesOf(flags), doubtful: namesOf(doubtful) },
        metrics: Object.fromEntries(values),
      } as JobRow;
    });
  }

  /** Sums over jobs, by the most node hours first; days are in their order. @throws QueryError */
  async by(group: JobGroup, wanted: JobsWanted = {}): Promise<GroupRow[]> {
    const { select, order } = sumsOf(group, searched(wanted));
    const rows = await this.kept.where(
      `SELECT CAST("${group}" AS VARCHAR), jobs, node_hours, efficiency, flagged_jobs, flagged_node_hours FROM (${select}`,
      wanted.where ?? 'true',
      `${order})`,
    );
    return rows.map(([name, jobs, hours, efficiency, flagged, flaggedHours]) => ({
      group: String(name),
      jobs: Number(jobs),
      nodeHours: Number(hours),
      efficiency: efficiency === null ? null : Number(efficiency),
      flaggedJobs: Number(flagged),
      flaggedNodeHours: Number(flaggedHours),
    }));
  }

  /** What jobs did on their hosts, by host and day. @throws QueryError */
  async hostDays(wanted: JobsWanted = {}): Promise<HostDay[]> {
    const { select, order } = hostDaysOf(searched(wanted), 'job_hosts');
    const rows = await this.kept.where(
      `SELECT host, CAST(day AS VARCHAR), job_seconds, busy_seconds, flagged_seconds, efficiency FROM (${select}`,
      wanted.where ?? 'true',
      `${order})`,
    );
    return rows.map(([host, day, seconds, busy, flagged, efficiency]) => ({
      ...{ host: String(host), day: String(day), seconds: Number(seconds) },
      ...{ busySeconds: Number(busy), flaggedSeconds: Number(flagged) },
      efficiency: efficiency === null ? null : Number(efficiency),
    }));
  }

  /** Names of all hosts in the index, with and without jobs. */
  async hosts(): Promise<readonly string[]> {
    const rows = await this.kept.rows('SELECT DISTINCT host FROM kept.main._files ORDER BY host');
    return rows.map(([host]) => String(host));
  }

  /** Whether the accounting entry of a job names this user. */
  async isOf(id: string, user: string): Promise<boolean> {
    const own = await this.kept.rows(
      `SELECT 1 FROM jobs WHERE id = ${quoteText(id)} AND "user" = ${quoteText(user)}`,
    );
    return own.length > 0;
  }

  /** The files with records of a job, in the archive's order. */
  async filesOf(id: string): Promise<readonly ArchiveFile[]> {
    const rows = await this.kept.rows(
      `SELECT path FROM kept.main._files WHERE id IN (SELECT file FROM kept.main._file_jobs WHERE job = ${quoteText(id)})`,
    );
    const paths = new Set(rows.map(([path]) => join(this.archive.path, String(path))));
    return this.archive.files.filter(({ path }) => paths.has(path));
  }

  /**
   * Writes jobs as Parquet: `FOLDER/date=2026-03-01/cluster=NAME/*.parquet`, by the day (UTC) of their first record.
   * @throws DuckDB's error
   */
  async writeParquet(folder: string, cluster: string): Promise<void> {
    await this.kept.rows(
      `COPY (SELECT *, strftime(DATE '1970-01-01' + floor(first / 86400)::INTEGER, '%Y-%m-%d') AS date,
          ${quoteText(cluster)} AS cluster FROM jobs ORDER BY first, id)
        TO ${quoteText(folder)} (FORMAT parquet, PARTITION_BY (date, cluster), OVERWRITE_OR_IGNORE)`,
    );
  }

  /** Files that could not be read to their end. */
  async problems(): Promise<readonly { readonly path: string; readonly what: string }[]> {
    const rows = await this.kept.rows(
      'SELECT path, problem FROM kept.main._files WHERE problem IS NOT NULL ORDER BY path',
    );
    return rows.map(([path, what]) => ({
      path: join(this.archive.path, String(path)),
      what: String(what),
    }));
  }

  close(): void {
    this.kept.close();
  }
}

export interface OpenedJobs {
  /** Null if the archive has no index, or one that cannot be used. */
  readonly jobs: KeptJobs | null;
  /** In one line, why an existing index is not used, or what it lacks; otherwise null. */
  readonly note: string | null;
}

/**
 * Opens the index of an archive, if it has one, updated to its files.
 * @param accounted replaces the accounting entries of the index; null leaves them
 */
export async function openJobs(
  archive: Archive,
  accounted: readonly AccountedJob[] | null,
): Promise<OpenedJobs> {
  const path = indexPath(archive);
  if (!existsSync(path)) return { jobs: null, note: null };
  try {
    const { openKept } = await import('../../query/kept-file.ts');
    const open = () => openKept(path, jobViews('kept.main'));
    let kept = await open().catch(() => null);
    const lag = kept === null ? ALL : await lagOf(kept, archive, accounted);
    let note: string | null = null;
    if (lag !== null) {
      const many = lag.bytes > MOST_BYTES && kept !== null;
      const isDone = !many && (await bringUp(archive, accounted, kept === null));
      if (isDone) {
        kept?.close();
        kept = await open();
      } else note = `${path}: ${lag.files} newer files (${sizeText(lag.bytes)}) are not in it yet`;
      if (many) note += `: triscope node index --archive ${archive.path} reads them`;
    }
    if (kept === null) return { jobs: null, note };
    return { jobs: new KeptJobs(kept, archive), note };
  } catch (error) {
    const why = (error as Error).message.split('\n')[0];
    return { jobs: null, note: `${path}: not used: ${why}` };
  }
}

/** The archive with only those files that its index names for a job; with all files if there is no index. */
export async function filesOfJob(archive: Archive, id: string): Promise<Archive> {
  const { jobs } = await openJobs(archive, null);
  try {
    const files = (await jobs?.filesOf(id)) ?? [];
    return files.length === 0 ? archive : { ...archive, files };
  } finally {
    jobs?.close();
  }
}

/** Writes an archive's indexed jobs as Parquet. @throws TriscopeError if the folder cannot be written */
export async function writeParquet(
  archive: Archive,
  folder: string,
  cluster: string,
): Promise<void> {
  const { openKept, writing } = await import('../../query/kept-file.ts');
  const views = jobViews('kept.main');
  const kept = await openKept(indexPath(archive), views, resolve(folder));
  try {
    await writing(folder, () => new KeptJobs(kept, archive).writeParquet(resolve(folder), cluster));
  } finally {
    kept.close();
  }
}

/**
 * Updates it to the archive's files; returns whether that was done. `broken`: the existing file may be of an older
 * version, or no index at all.
 */
async function bringUp(
  archive: Archive,
  accounted: readonly AccountedJob[] | null,
  broken: boolean,
): Promise<boolean> {
  const update = { accounted, patience: WRITER_WAIT_MS };
  try {
    return (await updateIndex(archive, update)) !== null;
  } catch (error) {
    if (!broken) throw error;
    return (await updateIndex(archive, { ...update, scratch: true })) !== null;
  }
}

/** What an index lacks: files that were added, changed or removed, and their bytes. */
interface Lag {
  readonly files: number;
  readonly bytes: number;
}

const ALL: Lag = { files: 0, bytes: 0 };
/** How many bytes of files are read into the index before a question is answered: this takes some seconds. */
const MOST_BYTES = 64e6;
/** How many milliseconds a question waits for another process that writes the index. */
const WRITER_WAIT_MS = 2000;

/** Null if it lacks nothing. */
async function lagOf(
  kept: KeptFile,
  archive: Archive,
  accounted: readonly AccountedJob[] | null,
): Promise<Lag | null> {
  const meta = new Map(
    (await kept.rows('SELECT key, value FROM kept.main._meta')).map(([key, value]) => [key, value]),
  );
  if (meta.get('layout') !== layoutOf(METRIC_MEANINGS)) return ALL;
  const files = await kept.rows(FILE_ROWS.replace('_files', 'kept.main._files'));
  const { changed, gone } = differenceOf(archive, files);
  const bytes = changed.reduce((sum, [, , { size }]) => sum + size, 0);
  const isOther = accounted !== null && meta.get('accounting') !== accountingStamp(accounted);
  const count = changed.length + gone.length;
  return count > 0 || isOther ? { files: count, bytes } : null;
}
