/**
 * The job index of an archive: the answers for `node jobs`, in a DuckDB file beside the archive's files (docs/node/jobs.md).
 *
 * A file is read if it is new, or if its size, time or inode changed; the jobs that it names are then measured again from all
 * of their files, by the same code as without an index. So an index that grew in steps equals one that is made
 * at once.
 */
import { createHash } from 'node:crypto';
import { join, relative } from 'node:path';
import { quoteName, quoteText } from '../../model/sql.ts';
import {
  ACCOUNTED_SQL,
  ACCOUNTING,
  FILE_JOBS,
  FILES,
  JOB_INDEX,
  jobsOf,
  layoutOf,
  META,
  measuredTable,
} from '../../query/job-tables.ts';
import type { Draft, KeptTable } from '../../query/kept-file.ts';
import { type AccountedJobs, accountedById, accountedFor } from './accounted-for.ts';
import type { AccountedJob } from './accounting.ts';
import { type Archive, type ArchiveFile, type FileStamp, fileOf, stampOf } from './archive.ts';
import { QUEUES_OF_RULES } from './flags.ts';
import type { Work } from './host-files.ts';
import type { Job } from './job.ts';
import { type FileJob, type ListedJob, listFile, mergeFiles } from './job-list.ts';
import { METRIC_COLUMNS, METRIC_MEANINGS, measuredRow } from './job-rows.ts';
import { readJobs } from './read-jobs.ts';

export interface UpdateOptions {
  /** Reads all files again; jobs whose files were removed stay if the index keeps them. */
  readonly rebuild?: boolean;
  /** Makes the index from scratch, even if there is one. */
  readonly scratch?: boolean;
  /** Only these files were added to the archive: their paths in it. All others are taken as unchanged. */
  readonly arrived?: readonly string[];
  /** Whether jobs stay in the index when their files are removed. By default as in the last update, and at first false. */
  readonly keep?: boolean;
  /** Replaces the accounting entries of an earlier update; null leaves those unchanged. */
  readonly accounted?: readonly AccountedJob[] | null;
  /** Milliseconds to wait for another process that writes the index; unlimited by default. */
  readonly patience?: number;
  readonly work?: Work;
  /** How many files are read at a time: the memory used grows with it. */
  readonly filesAtOnce?: number;
}

export interface UpdateResult {
  /** Numbers of files: those that were read, those that were removed, and all that the index has now. */
  readonly read: number;
  readonly gone: number;
  readonly files: number;
  /** Numbers of jobs: those that were measured, and all. */
  readonly measured: number;
  readonly jobs: number;
  /** Bytes of the files that were read, as stored. */
  readonly bytes: number;
}

interface KnownFile {
  readonly id: number;
  readonly file: ArchiveFile;
}

const ALWAYS = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, foreign: false };
/** One day's files of a thousand hosts. */
const FILES_AT_ONCE = 1000;
const MEASURED = measuredTable(METRIC_MEANINGS);

/** Tables, and which of their rows stay when all files are read again. */
const KEPT_ROWS: readonly { readonly table: KeptTable; readonly rows: string }[] = [
  { table: META, rows: "key IN ('accounting', 'keep')" },
  { table: ACCOUNTING, rows: 'true' },
  {
    table: MEASURED,
    rows: 'id IN (SELECT job FROM _file_jobs_before JOIN _files_before f ON f.id = file WHERE f.gone)',
  },
  { table: FILE_JOBS, rows: 'file IN (SELECT id FROM _files_before WHERE gone)' },
  { table: FILES, rows: 'gone' },
];

export const indexPath = (archive: Archive): string => join(archive.path, JOB_INDEX);

export const isSame = (a: FileStamp, b: FileStamp) =>
  a.size === b.size && a.mtime === b.mtime && a.inode === b.inode;

/** Files that the index lacks or has in another state, and paths in the index whose files are gone. */
export interface IndexDifference {
  readonly changed: readonly (readonly [path: string, file: ArchiveFile, stamp: FileStamp])[];
  readonly gone: readonly string[];
}

/** The compared columns of `_files`: path, size, mtime, inode. */
type FileRow = readonly unknown[];
export const FILE_ROWS = 'SELECT path, size, mtime, inode FROM _files WHERE NOT gone';

export function differenceOf(archive: Archive, rows: Iterable<FileRow>): IndexDifference {
  const known = new Map<string, FileStamp>();
  for (const [path, size, mtime, inode] of rows) {
    const stamp = { mtime: BigInt(String(mtime)), inode: BigInt(String(inode)) };
    known.set(String(path), { size: Number(size), ...stamp });
  }
  const changed: [string, ArchiveFile, FileStamp][] = [];
  for (const file of archive.files) {
    const path = relative(archive.path, file.path);
    const stamp = file.stamp ?? stampOf(file.path);
    const old = known.get(path);
    known.delete(path);
    if (stamp !== null && (old === undefined || !isSame(old, stamp))) {
      changed.push([path, file, stamp]);
    }
  }
  // By time, so that jobs of the same days are measured together.
  const time = ({ from }: ArchiveFile) => from ?? Number.POSITIVE_INFINITY;
  changed.sort(([, a], [, b]) => time(a) - time(b) || (a.path < b.path ? -1 : 1));
  return { changed, gone: [...known.keys()] };
}

/** Differs between accounting files of different content. */
export const accountingStamp = (jobs: readonly AccountedJob[]): string =>
  createHash('sha256')
    .update(JSON.stringify(jobs.map(({ place: _, ...job }) => job)))
    .digest('hex');

class Update {
  private readonly archive: Archive;
  private readonly draft: Draft;
  private readonly options: UpdateOptions;
  /** Files of the index, by path in the archive. */
  private readonly known = new Map<string, KnownFile>();
  /** Whether jobs stay when their files are removed. */
  private keeps = false;
  private next = 1;
  private readonly measured = new Set<string>();

  constructor(archive: Archive, draft: Draft, options: UpdateOptions) {
    this.archive = archive;
    this.draft = draft;
    this.options = options;
  }

  async run(): Promise<UpdateResult> {
    const draft = this.draft;
    await this.prepare();
    const { accounted = null, filesAtOnce = FILES_AT_ONCE } = this.options;
    if (accounted !== null) await this.account(accounted);
    const { changed, gone } = await this.difference();
    await this.forget(gone);
    for (let from = 0; from < changed.length; from += filesAtOnce) {
      await this.take(changed.slice(from, from + filesAtOnce));
    }
    await this.measureAgain();
    const [[files, jobs]] = await draft.rows(
      'SELECT (SELECT count(*) FROM _files), (SELECT count(*) FROM _measured)',
    );
    return {
      read: changed.length,
      gone: gone.length,
      files: Number(files),
      measured: this.measured.size,
      jobs: Number(jobs),
      bytes: changed.reduce((sum, [, , { size }]) => sum + size, 0),
    };
  }

  private async prepare(): Promise<void> {
    const draft = this.draft;
    const { rebuild = false, keep } = this.options;
    const layout = layoutOf(METRIC_MEANINGS);
    const old = (await this.tables()).has('_meta') ? await this.meta('layout') : null;
    if (old !== layout || rebuild) await this.begin();
    await this.note('layout', layout);
    if (keep !== undefined) await this.note('keep', keep ? 'yes' : 'no');
    this.keeps = (await this.meta('keep')) === 'yes';
    const removed: string[] = [];
    for (const [id, path, gone] of await draft.rows('SELECT id, path, gone FROM _files')) {
      const name = String(path);
      this.known.set(name, { id: Number(id), file: fileOf(this.archive.path, name) });
      this.next = Math.max(this.next, Number(id) + 1);
      if (gone === true) removed.push(name);
    }
    if (!this.keeps) await this.forget(removed);
  }

  private async tables(): Promise<ReadonlySet<string>> {
    const rows = await this.draft.rows('SELECT table_name FROM duckdb_tables()');
    return new Set(rows.map(([name]) => String(name)));
  }

  private async meta(key: string): Promise<string | null> {
    const rows = await this.draft.rows('SELECT key, value FROM _meta');
    const found = rows.find(([name]) => name === key);
    return found === undefined ? null : String(found[1]);
  }

  private async note(key: string, value: string): Promise<void> {
    await this.draft.run(`DELETE FROM _meta WHERE key = ${quoteText(key)}`);
    await this.draft.append(META, [[key, value]]);
  }

  /**
   * Creates the tables. From an older index it keeps the accounting entries, and the data of removed files, which cannot
   * be read again.
   */
  private async begin(): Promise<void> {
    const draft = this.draft;
    const there = await this.tables();
    const kept = KEPT_ROWS.filter(({ table }) => there.has(table.name));
    const columns = await draft.rows('SELECT table_name, column_name FROM duckdb_columns()');
    const had = new Set(columns.map(([table, column]) => `${table}.${column}`));
    const knowsGone = had.has('_files.gone');
    for (const { table } of kept) {
      await draft.run(`ALTER TABLE ${table.name} RENAME TO ${table.name}_before`);
    }
    for (const { table } of KEPT_ROWS) await draft.create(table);
    for (const { table, rows } of kept) {
      if (rows.includes('gone') && !knowsGone) continue;
      const common = table.columns
        .filter(({ name }) => had.has(`${table.name}.${name}`))
        .map(({ name }) => quoteName(name));
      await draft.run(
        `INSERT INTO ${table.name} BY NAME SELECT ${common.join(', ')} FROM ${table.name}_before WHERE ${rows}`,
      );
    }
    for (const { table } of kept) await draft.run(`DROP TABLE ${table.name}_before`);
  }

  private async account(jobs: readonly AccountedJob[]): Promise<void> {
    await this.draft.create(ACCOUNTING);
    await this.note('accounting', accountingStamp(jobs));
    await this.draft.append(
      ACCOUNTING,
      jobs.map((job) => [
        ...[job.id, job.user, job.account, job.queue, job.name, job.state],
        ...[job.submitted, job.started, job.ended, job.nodes, job.cores, job.timeLimit],
      ]),
    );
  }

  /** Files that were added, changed or removed. */
  private async difference(): Promise<IndexDifference> {
    const rows = await this.draft.rows(FILE_ROWS);
    const { arrived } = this.options;
    if (arrived === undefined) return differenceOf(this.archive, rows);
    const files = arrived.map((path) => fileOf(this.archive.path, path));
    const { changed } = differenceOf({ ...this.archive, files }, rows);
    return { changed, gone: [] };
  }

  /** For files that were removed: their jobs stay, or are measured again without these files. */
  private async forget(paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const ids = paths.flatMap((path) => this.known.get(path)?.id ?? []);
    if (this.keeps) {
      await this.name(ids);
      await this.draft.run('UPDATE _files SET gone = true WHERE id IN (FROM _staged)');
      return;
    }
    await this.stage(ids);
    for (const path of paths) this.known.delete(path);
    await this.replace();
  }

  /** Marks the files whose rows are removed, and begins the list of jobs to be measured with their jobs. */
  private async stage(files: readonly number[]): Promise<void> {
    await this.name(files);
    await this.draft.run(
      'CREATE OR REPLACE TABLE _jobs AS SELECT DISTINCT job FROM _file_jobs WHERE file IN (FROM _staged)',
      'DELETE FROM _file_jobs WHERE file IN (FROM _staged)',
      'DELETE FROM _files WHERE id IN (FROM _staged)',
    );
  }

  private async name(files: readonly number[]): Promise<void> {
    const staged = { name: '_staged', columns: [{ name: 'file', type: 'BIGINT' }] } as const;
    await this.draft.create(staged);
    await this.draft.append(
      staged,
      files.map((id) => [id]),
    );
  }

  /** Reads files that are new or changed. */
  private async take(files: readonly (readonly [string, ArchiveFile, FileStamp])[]): Promise<void> {
    await this.stage(files.flatMap(([path]) => this.known.get(path)?.id ?? []));
    const rows: (string | number | bigint | boolean | null)[][] = [];
    const jobs: (string | number | boolean)[][] = [];
    const first = this.next;
    for (const [path, file, stamp] of files) {
      const id = this.next++;
      const { jobs: found, problem } = await listFile(file, ALWAYS, this.options.work);
      this.known.set(path, { id, file });
      rows.push([id, path, file.host, stamp.size, stamp.mtime, stamp.inode, problem, false]);
      for (const [job, of] of found) {
        jobs.push([id, job, of.first, of.last, of.lines, of.groups, of.begin, of.end]);
      }
    }
    await this.draft.append(FILES, rows);
    await this.draft.append(FILE_JOBS, jobs);
    await this.draft.run(
      `INSERT INTO _jobs SELECT DISTINCT job FROM _file_jobs WHERE file >= ${first} AND job NOT IN (FROM _jobs)`,
    );
    await this.replace();
  }

  /** Measures the jobs in `_jobs` from all their files. */
  private async replace(): Promise<void> {
    const draft = this.draft;
    await draft.run(
      // If some of a job's files were removed, the others do not show the whole job.
      `DELETE FROM _jobs WHERE job IN (SELECT id FROM _measured) AND job IN (
        SELECT job FROM _file_jobs WHERE file IN (SELECT id FROM _files WHERE gone))`,
      'DELETE FROM _measured WHERE id IN (FROM _jobs)',
    );
    const listed = await this.listed();
    await this.measure(listed);
    await draft.run('DROP TABLE _jobs', 'DROP TABLE IF EXISTS _staged');
  }

  private async listed(): Promise<readonly ListedJob[]> {
    const byId = new Map([...this.known.values()].map((known) => [known.id, known.file]));
    const rows = await this.draft.rows(
      'SELECT file, job, first, last, lines, groups, has_begin, has_end FROM _file_jobs WHERE job IN (FROM _jobs) ORDER BY file',
    );
    const files = new Map<ArchiveFile, Map<string, FileJob>>();
    for (const [id, job, first, last, lines, groups, begin, end] of rows) {
      const file = byId.get(Number(id));
      if (file === undefined) continue;
      const jobs = files.get(file) ?? new Map<string, FileJob>();
      files.set(file, jobs);
      jobs.set(String(job), {
        ...{ first: Number(first), last: Number(last), lines: Number(lines) },
        ...{ groups: Number(groups), begin: begin === true, end: end === true },
      });
    }
    return mergeFiles(files);
  }

  private async measure(listed: readonly ListedJob[]): Promise<void> {
    const accounts = await this.accounts();
    const jobs = listed.map((one) => ({ listed: one, accounted: accountedFor(accounts, one) }));
    const rows: (string | number | null)[][] = [];
    await readJobs(jobs, { foreign: false, work: this.options.work }, (job, of) => {
      const row = measuredRow(job, of.listed, of.accounted);
      this.measured.add(job.id);
      rows.push([
        ...[row.id, row.first, row.last, row.seconds, row.hosts, row.groups],
        ...[row.no_begin, row.no_end, cpusOf(job), row.application],
        QUEUES_OF_RULES.test(row.queue) ? row.queue : '',
        ...[(row.flags ?? []).join(','), (row.doubtful ?? []).join(',')],
        ...METRIC_COLUMNS.map((name) => row.metrics[name] ?? null),
      ]);
    });
    await this.draft.append(MEASURED, rows);
  }

  private async accounts(): Promise<AccountedJobs> {
    const rows = await this.draft.rows(
      'SELECT id, user, account, queue, name, state, submitted, started, ended, nodes, cores, time_limit FROM _accounting WHERE id IN (FROM _jobs) ORDER BY rowid',
    );
    return accountedById(
      rows.map(([id, user, account, queue, name, state, ...numbers]) => {
        const [submitted, started, ended, nodes, cores, timeLimit] = numbers.map((value) =>
          value === null ? null : Number(value),
        );
        return {
          ...{ id: String(id), user: String(user), account: String(account) },
          ...{ queue: String(queue), name: String(name), state: String(state) },
          ...{ submitted, started, ended, nodes, cores, timeLimit, hosts: null, place: '' },
        };
      }),
    );
  }

  /** Measures jobs again whose queue has changed, if their metrics or flags depend on the queue. */
  private async measureAgain(): Promise<void> {
    await this.draft.run(
      ACCOUNTED_SQL,
      `CREATE OR REPLACE TABLE _jobs AS SELECT j.id AS job FROM (${jobsOf('main')}) j JOIN _measured m ON m.id = j.id
        WHERE CASE WHEN regexp_matches(j.queue, ${quoteText(QUEUES_OF_RULES.source)}, 'i') THEN j.queue ELSE '' END != m.measured_queue`,
    );
    await this.replace();
  }
}

/** The number of CPUs of its hosts; null if no host says. */
function cpusOf({ hosts }: Job): number | null {
  let sum = 0;
  for (const { types } of hosts) {
    const user = types.get('cpu')?.keys.get('user');
    if (user === undefined) return null;
    sum += user.devices.size;
  }
  return sum === 0 ? null : sum;
}

/**
 * Updates an archive's index to its files; creates it if there is none. Null if another process is updating it.
 * @throws JobError; TriscopeError if it cannot be written; or the file system's error
 */
export async function updateIndex(
  archive: Archive,
  options: UpdateOptions = {},
): Promise<UpdateResult | null> {
  const { writeKept } = await import('../../query/kept-file.ts');
  const { scratch: anew, patience } = options;
  let result: UpdateResult | null = null;
  await writeKept(indexPath(archive), { anew, patience }, async (draft) => {
    result = await new Update(archive, draft, options).run();
  });
  return result;
}
