/** The embedded DuckDB: tables that stream from files, read-only, without access to anything else. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { attachJobs } from './attach-jobs.ts';
import { attach, keep } from './cache.ts';
import type { ColumnBatch } from './column-batches.ts';
import {
  asksForComments,
  asksForMeanings,
  type ColumnHelp,
  commentColumns,
  completeMetrics,
  described,
} from './comments.ts';
import { define } from './define.ts';
import { defineOwn } from './definition.ts';
import { type DuckDBInstance, StatementType } from './duckdb.ts';
import { MemoryLimitError, QueryError, TimeLimitError } from './errors.ts';
import { suspectTable } from './facts.ts';
import { jobIndexAt } from './job-tables.ts';
import { judge, refused, several } from './judge.ts';
import { loadTables } from './load.ts';
import { openLocked } from './locked.ts';
import { makeFacts, runAll, runDerived } from './make.ts';
import { measureStatements, NAMES_MEASURES } from './measure-macros.ts';
import { nextBatch } from './next-batch.ts';
import type { Suspect } from './part.ts';
import { defineEvery, LOOKS_AT_EVERY, runsTable } from './runs.ts';
import { ownScans, registerScans, ScanHints } from './scan.ts';
import { schemaNames, shortNames, tableNames } from './schema-names.ts';
import { keptBytesOf, limitOf, SETTINGS } from './settings.ts';
import type { Sources } from './sources.ts';
import { spillFolder } from './spill.ts';
import { isOfMemory, lineOf } from './sql-errors.ts';
import type { Table } from './table.ts';
import { scansOf, type TimeRange } from './time-range.ts';
import { addUserFile, pathOfUserFile, type UserFile } from './user-file.ts';

const READING: readonly StatementType[] = [StatementType.SELECT, StatementType.EXPLAIN];

/** The transaction in which users' statements run, which can change nothing that others see. */
const READ_ONLY = 'BEGIN TRANSACTION READ ONLY';

/** A statement without this word has no condition on `t`. */
const LOOKS_AT_TIME = /\bt\b/i;
/** Milliseconds between interrupts of a query that is to end. */
const INTERRUPTS_MS = 10;

/** A column of a result; `type` as DuckDB names it. */
export interface ResultColumn {
  /** Name of the column. */
  readonly name: string;
  /** SQL type. */
  readonly type: string;
}

/** A running query; its columns, some rows at a time. */
export interface ResultStream {
  readonly header: readonly ResultColumn[];
  /** Null at the end. @throws QueryError, TimeLimitError */
  columns(): Promise<ColumnBatch | null>;
  /** Makes it end with an error if it is running. */
  interrupt(): void;
  /** Ends it, early perhaps. */
  close(): void;
}

export interface LoadedRecording {
  /** Its schema, where there are several; else its folder's name. */
  readonly name: string;
  /** The schema that holds its tables. */
  readonly schema: string;
  /** Its start, ns since 1970; null where nothing says it. */
  readonly start: bigint | null;
  readonly suspects: readonly Suspect[];
}

export interface DatabaseOptions {
  /** The only folder where files may be written and read; null: none. */
  readonly folder?: string | null;
  /** Where recordings are kept as tables; null: nowhere, files are read by each query. */
  readonly cacheFolder?: string | null;
  /** Memory of intermediate results, such as `2GiB`. */
  readonly memory?: string;
  /** DuckDB's threads. */
  readonly threads?: number;
  /** Where intermediate results go beyond it; it is made when it is needed, and removed. */
  readonly spill?: string;
  /** The user's own files, as tables beside those of the recordings. */
  readonly files?: readonly UserFile[];
  /** What columns mean whose files do not say it. */
  readonly help?: ColumnHelp;
}

interface StartOptions {
  /** Views and macros that it may name. */
  readonly define?: readonly string[] | undefined;
  /** Seconds until the query is ended. */
  readonly timeLimit?: number | undefined;
  /** Ends it; its error is then ignored. */
  readonly signal?: AbortSignal | undefined;
}

export class Database {
  /** Optional work that failed, such as writing a cache. */
  readonly notes: string[] = [];
  private readonly instance: DuckDBInstance;
  private readonly memory: string;
  private readonly help: ColumnHelp;
  private readonly running = new Set<DuckDBConnection>();
  private readonly _open: { close(): void }[] = [];
  private readonly _recordings: LoadedRecording[] = [];
  /** By schema: what files hold; of cached recordings nothing. */
  private readonly tables = new Map<string, readonly Table[]>();
  private readonly hints = new ScanHints();
  /** Units and help as comments on columns, once a query looks at those: each takes a quarter of a millisecond. */
  private comments: Promise<void> | null = null;
  /** `metrics` with all columns, once a query looks at it. */
  private metrics: Promise<void> | null = null;
  /** Macros of measures, once a query names one. */
  private measures: Promise<void> | null = null;
  /** Tables of all recordings together, once a query looks at those. */
  private every: Promise<void> | null = null;
  /** Tables that queries may name. */
  private names: readonly string[] = [];

  private constructor(instance: DuckDBInstance, memory: string, help: ColumnHelp) {
    this.instance = instance;
    this.memory = memory;
    this.help = help;
  }

  /**
   * @throws InputError that names the file
   */
  static async open(all: readonly Sources[], options: DatabaseOptions = {}): Promise<Database> {
    const { folder = null, cacheFolder = null, memory = SETTINGS.memory_limit } = options;
    const own = options.files ?? [];
    const spill = folder ?? options.spill ?? spillFolder();
    const settings: Record<string, string> = {
      ...SETTINGS,
      // Made when it is needed, and removed, by DuckDB.
      temp_directory: folder === null ? spill : join(spill, 'spill'),
      memory_limit: limitOf(memory),
      ...(options.threads !== undefined && { threads: String(options.threads) }),
    };
    const folders = [folder, cacheFolder].filter((one) => one !== null);
    const indexes = all.map(({ path }) => jobIndexAt(path));
    const files = indexes.flatMap((path) => (path === null ? [] : [path, `${path}.wal`]));
    files.push(...own.map(pathOfUserFile));
    const instance = await openLocked(settings, folders, files);
    const database = new Database(instance, memory, options.help ?? {});
    const connection = await database.instance.connect();
    try {
      const schemas = all.length > 1 ? schemaNames(all) : ['main'];
      for (const [k, sources] of all.entries()) {
        const index = indexes[k];
        if (index !== null) {
          const why = await attachJobs(connection, index, schemas[k], `_jobs_${k}`);
          if (why !== null) database.notes.push(why);
        }
        if (index === sources.path) {
          database.add(sources, schemas[k], { start: null, suspects: [] });
          continue;
        }
        const isKept =
          cacheFolder !== null &&
          (await database.attach(connection, sources, schemas[k], { number: k, cacheFolder }));
        if (!isKept) await database.load(connection, sources, schemas[k], [k, all.length]);
      }
      if (all.length > 1) await shortNames(connection, schemas[0]);
      const runs = schemas.map((schema, k) => ({ schema, sources: all[k] }));
      await makeFacts(connection, [runsTable(runs)], 'main');
      for (const file of own) await addUserFile(connection, file);
      database.names = await tableNames(connection, 'main');
      connection.closeSync();
      return database;
    } catch (error) {
      connection.closeSync();
      database.close();
      throw error;
    }
  }

  /** The tables of a recording that is read from its files. */
  tablesOf(schema: string): readonly Table[] {
    return this.tables.get(schema) ?? [];
  }

  get recordings(): readonly LoadedRecording[] {
    return this._recordings;
  }

  private async load(
    connection: DuckDBConnection,
    sources: Sources,
    schemaName: string,
    [number, count]: readonly [number: number, count: number],
  ): Promise<void> {
    const loaded = await loadTables(sources, keptBytesOf(this.memory) / count);
    this._open.push(loaded);
    this.tables.set(schemaName, loaded.tables);
    const scan = `_scan_${number}`;
    const most = ownScans(count);
    const { scans, stored, facts, derived } = define(sources, loaded, schemaName, scan, most);
    registerScans(connection, scan, scans, this.hints, most);
    await runAll(connection, stored);
    await makeFacts(connection, facts, schemaName);
    const faults = await runDerived(connection, derived);
    const suspects = [...loaded.suspects, ...faults.map((what) => ({ file: sources.path, what }))];
    await makeFacts(connection, [suspectTable(suspects)], schemaName);
    this.add(sources, schemaName, { start: loaded.start, suspects });
  }

  /** The same from the cache; false where it cannot be. */
  private async attach(
    connection: DuckDBConnection,
    sources: Sources,
    schemaName: string,
    { number, cacheFolder }: { number: number; cacheFolder: string },
  ): Promise<boolean> {
    for (let attempt = 0; ; attempt++) {
      const { path, note } = await keep(sources, cacheFolder, this.memory);
      if (note !== null) this.notes.push(`${sources.path}: ${note}`);
      if (path === null) return false;
      try {
        const found = await attach(connection, path, schemaName, `_cache_${number}`);
        this.add(sources, schemaName, found);
        return true;
      } catch (error) {
        // A damaged file is made again, once.
        if (attempt > 0) throw error;
        rmSync(path, { force: true });
      }
    }
  }

  private add(
    sources: Sources,
    schemaName: string,
    { start, suspects }: Pick<LoadedRecording, 'start' | 'suspects'>,
  ): void {
    const name = schemaName === 'main' ? sources.name : schemaName;
    this._recordings.push({ name, schema: schemaName, start, suspects });
  }

  /** A connection for statements of our own making; users' go through `start` or `check`. */
  connect(): Promise<DuckDBConnection> {
    return this.instance.connect();
  }

  /**
   * Whether a user's statement is one that only reads.
   * @param written what the user wrote of it, in which places of errors are told; '' where that is no SQL
   * @throws QueryError in one line
   */
  async check(sql: string, written = sql): Promise<void> {
    await this.makeMeasures(sql);
    const connection = await this.instance.connect();
    try {
      await connection.run(READ_ONLY);
      await prepare(connection, sql);
    } catch (error) {
      throw this.explained(error, written);
    } finally {
      connection.closeSync();
    }
  }

  /** Makes running queries end with an error: otherwise `close` and the query would wait for each other. */
  interrupt(): void {
    for (const connection of this.running) connection.interrupt();
  }

  /**
   * Starts a query.
   * @throws QueryError in one line, TimeLimitError
   */
  async start(
    written: string,
    { define: own = [], timeLimit = Number.POSITIVE_INFINITY, signal }: StartOptions = {},
  ): Promise<ResultStream> {
    const sql = described(written) ?? written;
    if ([...own, sql].some((one) => LOOKS_AT_EVERY.test(one))) {
      if (this.every === null) {
        this.every = this.defineEvery();
        // The columns of a described table have comments, too.
        this.comments = null;
      }
      await this.every;
    }
    if ([...own, sql].some(asksForMeanings)) {
      this.metrics ??= this.withSchemas((...told) => completeMetrics(...told, this.help));
      await this.metrics;
    }
    if ([...own, sql].some(asksForComments)) {
      this.comments ??= this.withSchemas(commentColumns);
      await this.comments;
    }
    await this.makeMeasures([...own, sql].join('\n'));
    const connection = await this.instance.connect();
    this.running.add(connection);
    let isLate = false;
    let again: NodeJS.Timeout | undefined;
    // Repeated: an interrupt between two steps of the query would be lost.
    const interrupt = () => {
      again ??= setInterval(() => connection.interrupt(), INTERRUPTS_MS);
      connection.interrupt();
    };
    const late = () => {
      isLate = true;
      interrupt();
    };
    const timer = Number.isFinite(timeLimit) ? setTimeout(late, timeLimit * 1000) : undefined;
    signal?.addEventListener('abort', interrupt);
    const close = () => {
      clearTimeout(timer);
      clearInterval(again);
      signal?.removeEventListener('abort', interrupt);
      this.running.delete(connection);
      this.hints.forget(connection.clientContext.connectionId);
      connection.closeSync();
    };
    let asked = written;
    const told = async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        signal?.throwIfAborted();
        const result = await work();
        if (isLate) throw new Error('late');
        return result;
      } catch (error) {
        if (!isLate) throw this.explained(error, asked);
        throw new TimeLimitError(`the query was stopped after ${timeLimit} s, its time limit`);
      }
    };
    try {
      return await told(async () => {
        await connection.run(READ_ONLY);
        const macros = new Set<string>();
        for (const one of own) {
          asked = one;
          await defineOwn(connection, one, macros);
        }
        asked = written;
        const { statement, isPlain } = await prepare(connection, sql, macros);
        if (isPlain && LOOKS_AT_TIME.test(sql)) await this.tellRanges(connection, sql);
        const result = await statement.stream();
        const names = result.deduplicatedColumnNames();
        const types = result.columnTypes().map(String);
        return {
          header: types.map((type, k) => ({ name: names[k], type })),
          columns: () => told(() => nextBatch(result, types)),
          interrupt,
          close,
        };
      });
    } catch (error) {
      close();
      throw error;
    }
  }

  /** Makes the macros of measures, where the statement may name them: all of them take some milliseconds. */
  private async makeMeasures(sql: string): Promise<void> {
    if (!NAMES_MEASURES.test(sql)) return;
    this.measures ??= (async () => {
      const connection = await this.instance.connect();
      await runAll(connection, measureStatements()).finally(() => connection.closeSync());
    })();
    await this.measures;
  }

  /** Tells scans which times the statement, which was just prepared, asks for. */
  private async tellRanges(connection: DuckDBConnection, sql: string): Promise<void> {
    const { connectionId } = connection.clientContext;
    const bound = this.hints.takeBound(connectionId);
    if (bound.size === 0) return;
    const plan = await connection.runAndReadAll(`EXPLAIN (FORMAT json) ${sql}`);
    const scans = scansOf(String(plan.getRowsJS()[0]?.[1]));
    const ranges = new Map<string, TimeRange>();
    for (const [name, times] of bound) {
      const planned = scans.get(name.toLowerCase());
      // A table that the plan shows less often than the statement names it may be needed as a whole.
      if (planned?.times === times) ranges.set(name, planned.range);
    }
    this.hints.set(connectionId, ranges);
  }

  private async defineEvery(): Promise<void> {
    const connection = await this.instance.connect();
    try {
      await defineEvery(connection, this._recordings);
    } finally {
      connection.closeSync();
    }
  }

  private async withSchemas(
    work: (connection: DuckDBConnection, schemas: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const connection = await this.instance.connect();
    try {
      await work(
        connection,
        this._recordings.map(({ schema }) => schema),
      );
    } finally {
      connection.closeSync();
    }
  }

  /** DuckDB's error as one line. */
  explained(error: unknown, sql = ''): Error {
    if (error instanceof QueryError) return error;
    const line = lineOf(error, this.names, sql);
    return isOfMemory(error)
      ? new MemoryLimitError(`the query needed more memory than its limit, ${this.memory}: ${line}`)
      : new QueryError(line);
  }

  close(): void {
    this.instance.closeSync();
    for (const one of this._open) one.close();
  }
}

/**
 * A user's statement, judged, ready to run.
 * @throws QueryError for more than one statement, or one that does more than read
 */
async function prepare(
  connection: DuckDBConnection,
  sql: string,
  macros?: ReadonlySet<string>,
): Promise<{ readonly statement: DuckDBPreparedStatement; readonly isPlain: boolean }> {
  const { before, last, statements, isSelect } = await judge(connection, sql, macros);
  for (const number of before) {
    const statement = await statements.prepare(number);
    if (statement.statementType !== StatementType.CREATE) throw several(statements.count);
    await statement.run();
  }
  const statement = await statements.prepare(last);
  const kind = statement.statementType;
  if (!READING.includes(kind)) throw refused(StatementType[kind]);
  return { statement, isPlain: isSelect && before.length === 0 };
}
