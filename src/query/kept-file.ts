/**
 * A DuckDB file of our own beside measurements. A writer writes a copy, which is completely on the disk before it takes the
 * file's name: readers never see half of it, and keep what they opened. One process writes at a time (FILE.lock); where
 * files cannot be locked, of two that write at once the later one stays.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { DuckDBConnection, JS } from '@duckdb/node-api';
import { TriscopeError } from '../model/error.ts';
import { quoteName, quoteText } from '../model/sql.ts';
import { isAlive } from '../os/alive.ts';
import { canLock, tryLock } from '../os/flock.ts';
import { DuckDBInstance } from './duckdb.ts';
import { QueryError } from './errors.ts';
import type { FilterCell, FilterColumn } from './filter-rows.ts';
import { judge } from './judge.ts';
import { openLocked } from './locked.ts';
import { runAll } from './make.ts';
import { SETTINGS } from './settings.ts';
import { lineOf } from './sql-errors.ts';

export interface KeptTable {
  readonly name: string;
  readonly columns: readonly FilterColumn[];
  /** What columns mean, by name. */
  readonly comments?: Readonly<Record<string, string>>;
}

/** Whether a cell is null: what is no number of the column's type is none. */
function isMissing(value: FilterCell | bigint, type: FilterColumn['type']): value is null {
  if (value === null || (typeof value === 'number' && !Number.isFinite(value))) return true;
  if (type !== 'BIGINT') return false;
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) !== value;
  return !Number.isSafeInteger(Number(value));
}

/** A file that is being written. */
export class Draft {
  private readonly connection: DuckDBConnection;

  constructor(connection: DuckDBConnection) {
    this.connection = connection;
  }

  /** Runs statements, none of them with data in its text. */
  async run(...statements: readonly string[]): Promise<void> {
    await runAll(this.connection, statements);
  }

  async rows(sql: string): Promise<JS[][]> {
    return (await this.connection.runAndReadAll(sql)).getRowsJS();
  }

  async create({ name, columns, comments = {} }: KeptTable): Promise<void> {
    const list = columns.map((column) => `${quoteName(column.name)} ${column.type}`).join(', ');
    await this.run(
      `CREATE OR REPLACE TABLE ${quoteName(name)} (${list})`,
      ...Object.entries(comments).map(
        ([column, text]) =>
          `COMMENT ON COLUMN ${quoteName(name)}.${quoteName(column)} IS ${quoteText(text)}`,
      ),
    );
  }

  /** Appends rows: their values are never text of a statement. A number that is not finite is null. */
  async append(
    { name, columns }: KeptTable,
    rows: Iterable<readonly (FilterCell | bigint)[]>,
  ): Promise<void> {
    const appender = await this.connection.createAppender(name);
    for (const row of rows) {
      for (const [k, { type }] of columns.entries()) {
        const value = row[k];
        if (isMissing(value, type)) appender.appendNull();
        else if (type === 'VARCHAR') appender.appendVarchar(String(value));
        else if (type === 'DOUBLE') appender.appendDouble(Number(value));
        else if (type === 'BIGINT') appender.appendBigInt(BigInt(value));
        else appender.appendBoolean(Boolean(value));
      }
      appender.endRow();
    }
    appender.closeSync();
  }
}

/** Memory of writers, and of questions. */
const SETTINGS_HERE = { ...SETTINGS, memory_limit: '384MiB' };

const DUCKDB = /^(?:(?:[A-Z]\w+ )+Error|Failed to append): /;

/** What writes at `path`, by DuckDB. @throws TriscopeError where it cannot be written, such as on a full disk */
export async function writing<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { message, syscall } = error as NodeJS.ErrnoException;
    const [first] = message.split('\n');
    // Node names no file where it has none but an open one.
    if (!DUCKDB.test(first) && syscall !== 'fsync') throw error;
    throw new TriscopeError(`${path}: cannot be written: ${first.replace(DUCKDB, '')}`);
  }
}

/** @throws TriscopeError if the path is not a regular file: DuckDB would wait for ever for a writer of a pipe */
function checkPlain(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isFile())
    throw new TriscopeError(`${path}: is not a file; remove it`);
}

/** Milliseconds between two looks at whether another writer is done. */
const LOOK_MS = 200;

/** Runs `work` as the only writer of `path`; false where another one has not ended within `patience` milliseconds. */
async function alone(path: string, patience: number, work: () => Promise<void>): Promise<boolean> {
  const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  const lock = openSync(`${path}.lock`, flags, 0o644);
  try {
    for (let waited = 0; canLock() && !tryLock(lock); waited += LOOK_MS) {
      if (waited >= patience) return false;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    await work();
    return true;
  } finally {
    closeSync(lock);
  }
}

export interface WriteOptions {
  /** Makes the file from scratch, even if there is one. */
  readonly anew?: boolean;
  /** Milliseconds to wait for another writer; for ever where not given. */
  readonly patience?: number;
}

/**
 * Changes a file, or makes it where there is none. False where another process writes it, and goes on to.
 * @throws TriscopeError, the file system's error
 */
export async function writeKept(
  path: string,
  { anew = false, patience = Number.POSITIVE_INFINITY }: WriteOptions,
  change: (draft: Draft) => Promise<void>,
): Promise<boolean> {
  checkPlain(path);
  return await alone(path, patience, () => rewrite(path, anew, change));
}

async function rewrite(
  path: string,
  anew: boolean,
  change: (draft: Draft) => Promise<void>,
): Promise<void> {
  const name = join(dirname(path), `${basename(path)}.${hostname()}.${process.pid}.tmp`);
  clear(path);
  try {
    if (!anew && existsSync(path)) copyFileSync(path, name, constants.COPYFILE_FICLONE);
    await writing(path, () => draw(name, change));
    renameSync(name, path);
  } finally {
    for (const one of [name, `${name}.wal`, `${name}.spill`]) {
      rmSync(one, { force: true, recursive: true });
    }
  }
}

/** Writes it, whole, on the disk. */
async function draw(name: string, change: (draft: Draft) => Promise<void>): Promise<void> {
  const settings = { ...SETTINGS_HERE, temp_directory: `${name}.spill` };
  const instance = await DuckDBInstance.create(name, settings);
  const connection = await instance.connect();
  try {
    await change(new Draft(connection));
    await connection.run('CHECKPOINT');
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
  const file = openSync(name, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Removes what writers of this host that died have left. */
function clear(path: string): void {
  const begin = `${basename(path)}.${hostname()}.`;
  for (const file of readdirSync(dirname(path))) {
    const [, pid] = /^(\d+)\.tmp(?:\.wal|\.spill)?$/.exec(file.slice(begin.length)) ?? [];
    if (!file.startsWith(begin) || pid === undefined || isAlive(Number(pid))) continue;
    rmSync(join(dirname(path), file), { force: true, recursive: true });
  }
}

/** For which all rows are. */
const NO_CONDITION = 'true';

export interface KeptFile {
  /** The answer of a statement of ours. */
  rows(sql: string): Promise<JS[][]>;
  /**
   * The answer of `select … from …`, of the rows for which a user's condition is true.
   * @throws QueryError in one line
   */
  where(select: string, condition: string, order: string): Promise<JS[][]>;
  close(): void;
}

/**
 * Opens a file to read it. No statement can read any other.
 * @param folder where statements may write
 * @throws TriscopeError, DuckDB's error
 */
export async function openKept(
  path: string,
  views: readonly string[],
  folder: string | null = null,
): Promise<KeptFile> {
  checkPlain(path);
  const folders = folder === null ? [] : [folder];
  const instance = await openLocked(SETTINGS_HERE, folders, [path, `${path}.wal`, ...folders]);
  const connection = await instance.connect();
  try {
    await connection.run(`ATTACH ${quoteText(resolve(path))} AS kept (READ_ONLY)`);
    await runAll(connection, views);
  } catch (error) {
    connection.closeSync();
    instance.closeSync();
    throw error;
  }
  // Each query has a connection: simultaneous queries must not end each other's transactions.
  const asked = async <T>(question: (own: DuckDBConnection) => Promise<T>): Promise<T> => {
    const own = await instance.connect();
    try {
      return await question(own);
    } finally {
      own.closeSync();
    }
  };
  return {
    rows: (sql) => asked(async (own) => (await own.runAndReadAll(sql)).getRowsJS()),
    where: (select, condition, order) =>
      asked(async (own) => {
        try {
          // On lines of its own: a comment in it must not swallow the parenthesis.
          const sql = `${select} WHERE (\n${condition}\n) ${order}`;
          // The statement is entirely ours, and needs no check.
          if (condition === NO_CONDITION) return (await own.runAndReadAll(sql)).getRowsJS();
          const { before, last, statements } = await judge(own, sql);
          if (before.length > 0) {
            throw new QueryError('--where takes a condition, such as avg_cpi > 1.5');
          }
          await own.run('BEGIN TRANSACTION READ ONLY');
          return (await (await statements.prepare(last)).runAndReadAll()).getRowsJS();
        } catch (error) {
          throw error instanceof QueryError ? error : new QueryError(lineOf(error, ['jobs']));
        }
      }),
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}
