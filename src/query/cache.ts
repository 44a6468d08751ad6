/**
 * Recordings kept as DuckDB files, so that large ones are read once:
 *
 *     FOLDER/NAME-PATH-CONTENT.duckdb        PATH, CONTENT: hashes
 *
 * A file that changes (size, time, first bytes) changes CONTENT, and so the name: a file under its name is complete
 * and up to date. It is built under another name and renamed, so a builder that dies leaves no wrong file, and if two build the
 * same file, one of them is kept. Readers open it read-only; one whose file is replaced meanwhile keeps what it opened.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../model/sql.ts';
import { isAlive } from '../os/alive.ts';
import { define } from './define.ts';
import { version } from './duckdb.ts';
import { InputError } from './errors.ts';
import { suspectTable } from './facts.ts';
import { loadTables } from './load.ts';
import { openLocked } from './locked.ts';
import { makeFacts, runAll, runDerived } from './make.ts';
import type { Suspect } from './part.ts';
import { registerScans } from './scan.ts';
import { buildingLimitOf, keptBytesOf, SETTINGS } from './settings.ts';
import type { Sources } from './sources.ts';

/** Increased when this version makes other tables of the same files. */
const LAYOUT = 4;
const HEAD_BYTES = 4096;
/** Stands for the schema in stored views. */
const SCHEMA = '%schema%';
const VIEWS = '_views';

/** Rows that are gathered before they are written: a wide table's take 2 KB each. */
const GROUP_ROWS = 8192;

/** Part of the columns that queries keep in memory. */
const KEPT_PART = 4;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

function headHash(path: string): string {
  const file = openSync(path, 'r');
  try {
    const head = new Uint8Array(HEAD_BYTES);
    const bytes = head.subarray(0, readSync(file, head, 0, HEAD_BYTES, 0));
    return createHash('sha256').update(bytes).digest('hex');
  } finally {
    closeSync(file);
  }
}

/** The properties by which changed files are recognised. */
function contentOf({ told, files, notes }: Sources): string {
  const all = [
    ...files.map((file) => file.path),
    ...told,
    ...(notes.path === null ? [] : [notes.path]),
  ];
  const lines = all.map((file) => {
    try {
      const { size, mtimeNs } = statSync(file, { bigint: true });
      return `${file} ${size} ${mtimeNs} ${headHash(file)}`;
    } catch {
      return `${file} -`;
    }
  });
  return hash([LAYOUT, version(), ...lines].join('\n'));
}

/** Common beginning of the names of these files' cached tables. */
const stemOf = ({ name, path }: Sources): string =>
  `${name.replace(/[^\w.-]/g, '_').slice(0, 64)}-${hash(path).slice(0, 12)}-`;

const nameOf = (sources: Sources): string =>
  `${stemOf(sources)}${contentOf(sources).slice(0, 16)}.duckdb`;

export interface CachedFile {
  /** Null where it could not be made: `note` says why. */
  readonly path: string | null;
  readonly note: string | null;
}

/** The file with these sources' tables; made where there is none. @throws InputError where a source cannot be read */
export async function keep(
  sources: Sources,
  folder: string,
  memory: string = SETTINGS.memory_limit,
): Promise<CachedFile> {
  const name = nameOf(sources);
  const path = join(folder, name);
  if (isFile(path)) return { path, note: null };
  const building = join(folder, `${name}.${hostname()}.${process.pid}.${Date.now()}.tmp`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    clear(folder, stemOf(sources), null);
    await build(sources, building, memory);
    if (nameOf(sources) !== name) {
      return { path: null, note: 'not cached: its files changed while they were read' };
    }
    renameSync(building, path);
    clear(folder, stemOf(sources), name);
    return { path, note: null };
  } catch (error) {
    if (error instanceof InputError) throw error;
    return { path: null, note: `not cached in ${folder}: ${reason(error)}` };
  } finally {
    for (const file of [building, `${building}.wal`]) if (isFile(file)) rmSync(file);
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || /No space left/i.test(message)) return 'the disk is full';
  if (/File too large/i.test(message)) return 'the file may not grow so large';
  if (code === 'EACCES' || code === 'EROFS') return 'it may not be written there';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'is not a folder';
  return message.split('\n')[0];
}

/** Removes what builders that died on this host have left; with `name`, also what was kept of the files as they were. */
function clear(folder: string, stem: string, name: string | null): void {
  for (const file of readdirSync(folder)) {
    if (!file.startsWith(stem) || file === name) continue;
    const [, host, pid] = /\.duckdb\.(.+)\.(\d+)\.\d+\.tmp(?:\.wal)?$/.exec(file) ?? [];
    const isLeft =
      host === undefined ? name !== null : host === hostname() && !isAlive(Number(pid));
    if (isLeft) rmSync(join(folder, file), { force: true });
  }
}

async function build(sources: Sources, path: string, memory: string): Promise<void> {
  // Memory that is freed stays with the process.
  const loaded = await loadTables(sources, keptBytesOf(memory) / KEPT_PART);
  const settings = {
    ...SETTINGS,
    memory_limit: buildingLimitOf(memory),
    // Rows come from one reader, so more threads would only buffer more rows.
    threads: '1',
    temp_directory: `${path}.spill`,
  };
  const instance = await openLocked(settings, [dirname(path)]);
  const connection = await instance.connect();
  try {
    const definition = define(sources, loaded, 'main', '_scan');
    registerScans(connection, '_scan', definition.scans);
    await runAll(connection, definition.stored);
    const facts = [...definition.facts, suspectTable(loaded.suspects)];
    await makeFacts(connection, facts, 'main');
    const made = await connection.runAndReadAll(
      `SELECT table_name, comment FROM (
        SELECT view_name AS table_name, comment FROM duckdb_views() WHERE NOT internal
        UNION ALL SELECT table_name, comment FROM duckdb_tables()) ORDER BY table_name`,
    );
    await connection.run(`ATTACH ${quoteText(path)} AS kept (ROW_GROUP_SIZE ${GROUP_ROWS})`);
    for (const [name, comment] of made.getRowsJS()) {
      const table = quoteName(String(name));
      const into = `kept.main.${table}`;
      await connection.run(`CREATE TABLE ${into} AS SELECT * FROM memory.main.${table}`);
      if (comment === null) continue;
      await connection.run(`COMMENT ON TABLE ${into} IS ${quoteText(String(comment))}`);
    }
    const { derived } = define(sources, loaded, SCHEMA, '_scan');
    await connection.run(`CREATE TABLE kept.main.${VIEWS} (sql VARCHAR)`);
    for (const sql of derived) {
      await connection.run(`INSERT INTO kept.main.${VIEWS} VALUES (${quoteText(sql)})`);
    }
    await connection.run('DETACH kept');
  } finally {
    connection.closeSync();
    instance.closeSync();
    loaded.close();
    rmSync(`${path}.spill`, { recursive: true, force: true });
  }
}

interface AttachedRecording {
  readonly start: bigint | null;
  readonly suspects: readonly Suspect[];
}

/**
 * Makes the tables of a kept file known in schema `schemaName`.
 * @param database a name for it; taken again where the file cannot be read
 */
export async function attach(
  connection: DuckDBConnection,
  path: string,
  schemaName: string,
  database: string,
): Promise<AttachedRecording> {
  await connection.run(`ATTACH ${quoteText(path)} AS ${database} (READ_ONLY)`);
  try {
    return await viewsOf(connection, { path, schemaName, database });
  } catch (error) {
    await connection.run(`DETACH ${database}`);
    throw error;
  }
}

async function viewsOf(
  connection: DuckDBConnection,
  { path, schemaName, database }: Readonly<Record<'path' | 'schemaName' | 'database', string>>,
): Promise<AttachedRecording> {
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJS();
  const schema = quoteName(schemaName);
  const tables = await rows(
    `SELECT table_name, comment FROM duckdb_tables()
      WHERE database_name = '${database}' AND table_name != '${VIEWS}'`,
  );
  const views = tables.flatMap(([name, comment]) => {
    const view = quoteName(String(name));
    // Columns of views come to `metrics` when it is asked for.
    const made = name === 'metrics' ? 'TABLE' : 'VIEW';
    return [
      `CREATE ${made} ${schema}.${view} AS SELECT * FROM ${database}.main.${view}`,
      ...(comment === null
        ? []
        : [`COMMENT ON ${made} ${schema}.${view} IS ${quoteText(String(comment))}`]),
    ];
  });
  const derived = await rows(`SELECT sql FROM ${database}.main.${VIEWS}`);
  const [[start]] = await rows(`SELECT start_ns FROM ${database}.main.recording`);
  const suspects = await rows(`SELECT file, what FROM ${database}.main.suspect`);
  await runAll(connection, [
    ...(schemaName === 'main' ? [] : [`CREATE SCHEMA IF NOT EXISTS ${schema}`]),
    ...views,
  ]);
  const faults = await runDerived(
    connection,
    derived.map(([sql]) => String(sql).replaceAll(quoteName(SCHEMA), schema)),
  );
  return {
    start: start === null ? null : BigInt(String(start)),
    suspects: [
      ...suspects.map(([file, what]) => ({ file: String(file), what: String(what) })),
      ...faults.map((what) => ({ file: path, what })),
    ],
  };
}
