/**
 * The job index of an archive: what `node jobs` asks, kept in a DuckDB file beside the files (docs/node/jobs.md).
 *
 * A file is read when it is new or differs in size, time or inode from what was read; the jobs that it names are then
 * measured anew from all of their files, by the same code as without an index. So an index is equal to one that is made at
 * once, whichever way it grew.
 */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { quoteText } from '../../model/sql.ts';
import {
  ACCOUNTING,
  FILE_JOBS,
  FILES,
  JOB_INDEX,
  jobsOf,
  layoutOf,
  META,
  measuredTable,
} from '../../query/job-tables.ts';
import type { Draft } from '../../query/kept-file.ts';
import { type AccountedJobs, accountedById, accountedFor } from './accounted-for.ts';
import type { AccountedJob } from './accounting.ts';
import type { Archive, ArchiveFile } from './archive.ts';
import { QUEUES_OF_RULES } from './flags.ts';
import type { Work } from './host-files.ts';
import type { Job } from './job.ts';
import { type FileJob, type ListedJob, listFile, mergeFiles } from './job-list.ts';
import { METRIC_COLUMNS, measuredRow } from './job-rows.ts';
import { readJobs } from './read-jobs.ts';

export interface UpdateOptions {
  /** Reads all files anew. */
  readonly rebuild?: boolean;
  /** Takes the place of what an earlier update was given; null: that stays. */
  readonly accounted?: readonly AccountedJob[] | null;
  readonly work?: Work;
  /** Files that are taken at a time: memory grows with it. */
  readonly filesAtOnce?: number;
}

export interface UpdateResult {
  /** Files that were read, that were gone, and all that the index has now. */
  readonly read: number;
  readonly gone: number;
  readonly files: number;
  /** Jobs that were measured, and all. */
  readonly measured: number;
  readonly jobs: number;
  /** Bytes of the files that were read, as they lie there. */
  readonly bytes: number;
}

interface Stamp {
  readonly size: number;
  /** ns since 1970. */
  readonly mtime: bigint;
  readonly inode: bigint;
}

interface KnownFile {
  readonly id: number;
  readonly file: ArchiveFile;
}

const ALWAYS = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, foreign: false };
/** A day's of a thousand hosts. */
const FILES_AT_ONCE = 1000;
const MEASURED = measuredTable(METRIC_COLUMNS);

export const indexPath = (archive: Archive): string => join(archive.path, JOB_INDEX);

function stampOf(path: string): Stamp | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  return { size: Number(stat.size), mtime: stat.mtimeNs, inode: stat.ino };
}

const isSame = (a: Stamp, b: Stamp) =>
  a.size === b.size && a.mtime === b.mtime && a.inode === b.inode;

/** Files that an index has not, or has otherwise; and paths that it has and that are gone. */
export interface Difference {
  readonly changed: readonly (readonly [path: string, file: ArchiveFile, stamp: Stamp])[];
  readonly gone: readonly string[];
}

/** Rows of `_files`, as far as they are compared: path, size, mtime, inode. */
type FileRow = readonly unknown[];
export const FILE_ROWS = 'SELECT path, size, mtime, inode FROM _files';

export function differenceOf(archive: Archive, rows: Iterable<FileRow>): Difference {
  const known = new Map<string, Stamp>();
  for (const [path, size, mtime, inode] of rows) {
    const stamp = { mtime: BigInt(String(mtime)), inode: BigInt(String(inode)) };
    known.set(String(path), { size: Number(size), ...stamp });
  }
  const changed: [string, ArchiveFile, Stamp][] = [];
  for (const file of archive.files) {
    const path = relative(archive.path, file.path);
    const stamp = stampOf(file.path);
    const old = known.get(path);
    known.delete(path);
    if (stamp !== null && (old === undefined || !isSame(old, stamp))) {
      changed.push([path, file, stamp]);
    }
  }
  // By time: jobs of the same days are measured together.
  const time = ({ from }: ArchiveFile) => from ?? Number.POSITIVE_INFINITY;
  changed.sort(([, a], [, b]) => time(a) - time(b) || (a.path < b.path ? -1 : 1));
  return { changed, gone: [...known.keys()] };
}

/** Tells accounting files of other content apart. */
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
    const { changed, gone } = differenceOf(this.archive, await draft.rows(FILE_ROWS));
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
    const layout = layoutOf(METRIC_COLUMNS);
    const tables = await draft.rows("SELECT 1 FROM duckdb_tables() WHERE table_name = '_meta'");
    const [[old] = [null]] =
      tables.length === 0 ? [] : await draft.rows("SELECT value FROM _meta WHERE key = 'layout'");
    if (old !== layout) {
      for (const table of [META, FILES, FILE_JOBS, ACCOUNTING, MEASURED]) await draft.create(table);
      await draft.append(META, [['layout', layout]]);
      return;
    }
    const byPath = new Map(
      this.archive.files.map((file) => [relative(this.archive.path, file.path), file]),
    );
    for (const [id, path, host] of await draft.rows('SELECT id, path, host FROM _files')) {
      const name = String(path);
      const file = byPath.get(name) ?? { host: String(host), path: name, from: null };
      this.known.set(name, { id: Number(id), file });
      this.next = Math.max(this.next, Number(id) + 1);
    }
  }

  private async account(jobs: readonly AccountedJob[]): Promise<void> {
    await this.draft.create(ACCOUNTING);
    await this.draft.run("DELETE FROM _meta WHERE key = 'accounting'");
    await this.draft.append(META, [['accounting', accountingStamp(jobs)]]);
    await this.draft.append(
      ACCOUNTING,
      jobs.map((job) => [
        ...[job.id, job.user, job.account, job.queue, job.name, job.state],
        ...[job.submitted, job.started, job.ended, job.nodes, job.cores, job.timeLimit],
      ]),
    );
  }

  /** Removes files, and measures their jobs anew. */
  private async forget(paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    await this.stage(paths.flatMap((path) => this.known.get(path)?.id ?? []));
    for (const path of paths) this.known.delete(path);
    await this.replace();
  }

  /** Names the files whose rows go, and begins the list of jobs to be measured with theirs. */
  private async stage(files: readonly number[]): Promise<void> {
    const staged = { name: '_staged', columns: [{ name: 'file', type: 'BIGINT' }] } as const;
    await this.draft.create(staged);
    await this.draft.append(
      staged,
      files.map((id) => [id]),
    );
    await this.draft.run(
      'CREATE OR REPLACE TABLE _jobs AS SELECT DISTINCT job FROM _file_jobs WHERE file IN (FROM _staged)',
      'DELETE FROM _file_jobs WHERE file IN (FROM _staged)',
      'DELETE FROM _files WHERE id IN (FROM _staged)',
    );
  }

  /** Reads files that are new or changed. */
  private async take(files: readonly (readonly [string, ArchiveFile, Stamp])[]): Promise<void> {
    await this.stage(files.flatMap(([path]) => this.known.get(path)?.id ?? []));
    const rows: (string | number | bigint | null)[][] = [];
    const jobs: (string | number | boolean)[][] = [];
    const first = this.next;
    for (const [path, file, stamp] of files) {
      const id = this.next++;
      const { jobs: found, problem } = await listFile(file, ALWAYS, this.options.work);
      this.known.set(path, { id, file });
      rows.push([id, path, file.host, stamp.size, stamp.mtime, stamp.inode, problem]);
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
    await draft.run('DELETE FROM _measured WHERE id IN (FROM _jobs)');
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
        ...[row.no_begin, row.no_end, cpusOf(job), applicationOf(job)],
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

  /** Jobs whose queue is another one now, where metrics and flags go by it. */
  private async measureAgain(): Promise<void> {
    await this.draft.run(
      `CREATE OR REPLACE TABLE _jobs AS SELECT j.id AS job FROM (${jobsOf('main')}) j JOIN _measured m ON m.id = j.id
        WHERE CASE WHEN regexp_matches(j.queue, ${quoteText(QUEUES_OF_RULES.source)}, 'i') THEN j.queue ELSE '' END != m.measured_queue`,
    );
    await this.replace();
  }
}

/** CPUs of its hosts; null where no host says. */
function cpusOf({ hosts }: Job): number | null {
  let sum = 0;
  for (const { types } of hosts) {
    const user = types.get('cpu')?.keys.get('user');
    if (user === undefined) return null;
    sum += user.devices.size;
  }
  return sum === 0 ? null : sum;
}

/** Programs that start others: they are what a job runs only where nothing else is. */
const STARTERS =
  /^(-?(ba|z|c|tc|k|da)?sh|slurm\w*|srun|mpirun|mpiexec(\.\w+)?|orted|prted|hydra_\w+|env|sleep)$/;

/** The program that most of its processes run; '' where no file tells. Of several, the one with the most memory, then by name. */
function applicationOf({ hosts }: Job): string {
  const found = new Map<string, { count: number; memory: number }>();
  for (const { processes } of hosts) {
    for (const { name, highWater } of processes.list) {
      const of = found.get(name) ?? { count: 0, memory: 0 };
      found.set(name, { count: of.count + 1, memory: of.memory + (highWater ?? 0) });
    }
  }
  const own = [...found].filter(([name]) => !STARTERS.test(name));
  const all = own.length > 0 ? own : [...found];
  all.sort(([a, x], [b, y]) => y.count - x.count || y.memory - x.memory || (a < b ? -1 : 1));
  return all[0]?.[0] ?? '';
}

/**
 * Brings an archive's index up to its files; makes it where there is none.
 * @throws JobError, TriscopeError where it cannot be written, the file system's error
 */
export async function updateIndex(
  archive: Archive,
  options: UpdateOptions = {},
): Promise<UpdateResult> {
  const { writeKept } = await import('../../query/kept-file.ts');
  let result: UpdateResult | undefined;
  await writeKept(indexPath(archive), options.rebuild === true, async (draft) => {
    result = await new Update(archive, draft, options).run();
  });
  if (result === undefined) throw new Error('nothing was written');
  return result;
}
