/** The embedded DuckDB: tables that stream from files, read-only, cut off from everything else. */
import { join } from 'node:path';
import {
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBPreparedStatement,
  type JS,
  StatementType,
} from '@duckdb/node-api';
import { rateTable } from './counter-rates.ts';
import { QueryError } from './errors.ts';
import { factStatements } from './facts.ts';
import { loadTables } from './load.ts';
import type { Suspect } from './part.ts';
import { peOnNode } from './pe-on-node.ts';
import { MACROS, rateScanView, rateView } from './rates.ts';
import { registerScan } from './scan.ts';
import type { Sources } from './sources.ts';
import { quoteName, quoteText } from './sql.ts';
import { lineOf } from './sql-errors.ts';
import type { Table } from './table.ts';

/** No network, no extensions; files are closed, and the configuration locked, when the tables are there. */
const CLOSED = {
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
};

const READING: readonly StatementType[] = [StatementType.SELECT, StatementType.EXPLAIN];

export interface ResultColumn {
  readonly name: string;
  /** SQL type. */
  readonly type: string;
}

/** Rows of a running query, some at a time. */
export interface RowStream {
  readonly columns: readonly ResultColumn[];
  /** Null at the end. @throws QueryError */
  next(): Promise<readonly (readonly JS[])[] | null>;
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

export class Database {
  readonly #instance: DuckDBInstance;
  readonly #open: { close(): void }[] = [];
  readonly #recordings: LoadedRecording[] = [];
  /** Tables that queries may name. */
  #names: readonly string[] = [];

  private constructor(instance: DuckDBInstance) {
    this.#instance = instance;
  }

  /**
   * @param folder the only one where files may be written and read; null: none
   * @throws InputError that names the file
   */
  static async open(all: readonly Sources[], folder: string | null = null): Promise<Database> {
    const settings: Record<string, string> = { ...CLOSED };
    if (folder !== null) settings.temp_directory = join(folder, 'spill');
    const database = new Database(await DuckDBInstance.create(':memory:', settings));
    const connection = await database.#instance.connect();
    try {
      if (folder !== null) await connection.run(`SET allowed_directories = [${quoteText(folder)}]`);
      await connection.run('SET enable_external_access = false');
      for (const statement of MACROS) await connection.run(statement);
      const schemas = all.length > 1 ? schemaNames(all) : ['main'];
      for (const [k, sources] of all.entries()) {
        await database.#load(connection, sources, schemas[k], `_scan_${k}`);
      }
      if (all.length > 1) await shortNames(connection, schemas[0]);
      await connection.run('SET lock_configuration = true');
      database.#names = await tableNames(connection, 'main');
      connection.closeSync();
      return database;
    } catch (error) {
      connection.closeSync();
      database.close();
      throw error;
    }
  }

  get recordings(): readonly LoadedRecording[] {
    return this.#recordings;
  }

  async #load(
    connection: DuckDBConnection,
    sources: Sources,
    schemaName: string,
    scanName: string,
  ): Promise<void> {
    const loaded = await loadTables(sources);
    this.#open.push(loaded);
    const { tables, suspects, start } = loaded;
    const schema = quoteName(schemaName);
    const views: string[] = [];
    for (const [n, table] of tables.entries()) {
      const scan = `${scanName}_${n}`;
      registerScan(connection, scan, table);
      const name = `${schema}.${quoteName(table.name)}`;
      views.push(`CREATE VIEW ${name} AS ${selectFrom(table, scan)}`);
      views.push(`COMMENT ON VIEW ${name} IS ${quoteText(table.help)}`);
      const rates = rateTable(table);
      if (rates === null) continue;
      registerScan(connection, `${scan}_rate`, rates);
      views.push(rateScanView(rates, selectFrom(rates, `${scan}_rate`), schema));
    }
    const byName = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
    const statements = [
      schemaName === 'main' ? null : `CREATE SCHEMA ${schema}`,
      ...views,
      ...factStatements(sources, tables, suspects, start, schema),
      ...tables.map((table) => rateView(table, schema)),
      peOnNode(byName, schema),
    ];
    // At once: each run costs a millisecond beside its work.
    await connection.run(statements.filter((statement) => statement !== null).join(';\n'));
    const name = schemaName === 'main' ? sources.name : schemaName;
    this.#recordings.push({ name, schema: schemaName, start, suspects });
  }

  /** A connection for statements of our own making; users' go through `start` or `check`. */
  connect(): Promise<DuckDBConnection> {
    return this.#instance.connect();
  }

  /** Whether a user's statement is one that only reads. @throws QueryError in one line */
  async check(sql: string): Promise<void> {
    const connection = await this.#instance.connect();
    try {
      await prepare(connection, sql);
    } catch (error) {
      throw this.explained(error);
    } finally {
      connection.closeSync();
    }
  }

  /** Starts a query. @throws QueryError in one line */
  async start(sql: string): Promise<RowStream> {
    const connection = await this.#instance.connect();
    try {
      const result = await (await prepare(connection, sql)).stream();
      const names = result.deduplicatedColumnNames();
      const columns = result
        .columnTypes()
        .map((type, k) => ({ name: names[k], type: String(type) }));
      const rows = result.yieldRowsJs();
      return {
        columns,
        next: async () => {
          try {
            const step = await rows.next();
            return step.done === true ? null : step.value;
          } catch (error) {
            throw this.explained(error);
          }
        },
        close: () => connection.closeSync(),
      };
    } catch (error) {
      connection.closeSync();
      throw this.explained(error);
    }
  }

  /** DuckDB's error as one line. */
  explained(error: unknown): Error {
    return error instanceof QueryError ? error : new QueryError(lineOf(error, this.#names));
  }

  close(): void {
    this.#instance.closeSync();
    for (const one of this.#open) one.close();
  }
}

/** @throws QueryError for more than one statement, or one that does more than read */
async function prepare(
  connection: DuckDBConnection,
  sql: string,
): Promise<DuckDBPreparedStatement> {
  if (sql.trim() === '') throw new QueryError('an empty query');
  const statements = await connection.extractStatements(sql);
  if (statements.count !== 1) {
    throw new QueryError(`one query at a time: there are ${statements.count} statements`);
  }
  const statement = await statements.prepare(0);
  const kind = statement.statementType;
  if (!READING.includes(kind)) {
    throw new QueryError(`recordings are read-only: ${StatementType[kind]} cannot be, SELECT can`);
  }
  return statement;
}

/** What users see of a scan: labels as texts. */
function selectFrom(table: Table, scan: string): string {
  const columns = table.columns.map(({ name, labels }) => {
    const column = quoteName(name);
    if (labels === null) return column;
    if (labels.length === 0) return `NULL::VARCHAR AS ${column}`;
    // Index 0 is outside the list, which gives null: missing.
    return `list_extract([${labels.map(quoteText).join(', ')}], ${column}) AS ${column}`;
  });
  return `SELECT ${(table.timed ? ['t', ...columns] : columns).join(', ')} FROM ${scan}()`;
}

async function tableNames(connection: DuckDBConnection, schema: string): Promise<string[]> {
  const rows = await connection.runAndReadAll(
    `SELECT table_name FROM information_schema.tables
      WHERE table_catalog = 'memory' AND table_schema = ${quoteText(schema)} ORDER BY ALL`,
  );
  return rows.getRowsJS().map(([name]) => String(name));
}

/** Makes the tables of `schema` known without it. */
async function shortNames(connection: DuckDBConnection, schema: string): Promise<void> {
  for (const name of await tableNames(connection, schema)) {
    const view = quoteName(name);
    await connection.run(`CREATE VIEW main.${view} AS SELECT * FROM ${quoteName(schema)}.${view}`);
  }
}

const RESERVED = ['main', 'temp', 'system', 'memory', 'information_schema', 'pg_catalog'];

/** A schema's name for each recording: its folder's as an identifier, numbered where taken. */
function schemaNames(all: readonly Sources[]): string[] {
  const taken = new Set(RESERVED);
  return all.map(({ name }) => {
    const plain = name.replace(/\W+/g, '_').replace(/^(?=\d|$)/, '_');
    let schema = plain;
    for (let k = 2; taken.has(schema.toLowerCase()); k++) schema = `${plain}_${k}`;
    taken.add(schema.toLowerCase());
    return schema;
  });
}
