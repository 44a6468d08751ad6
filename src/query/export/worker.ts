/** The thread that exports: here DuckDB may write, but only into the given folder. */
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { DuckDBConnection } from '@duckdb/node-api';
import { doTask } from '../../os/thread.ts';
import { tellEnd } from '../at-exit.ts';
import type { Database } from '../database.ts';
import { loadDatabase } from '../load-database.ts';
import { type Sources, sourcesOf } from '../sources.ts';
import { arrowTo } from './arrow-copy.ts';
import { copyTo } from './copy.ts';
import { openMetricsTo } from './openmetrics.ts';
import type { ExportedFile, ExportOptions } from './options.ts';
import type { PlacedRecording } from './placed.ts';
import { type Selection, selectionsOf } from './selection.ts';
import { openSink } from './sink.ts';
import { makeFolderOf } from './staging.ts';
import { traceTo } from './trace.ts';
import { TraceThreads } from './trace-threads.ts';

export interface ExportTask {
  readonly options: ExportOptions;
  /** The only folder that is written to. */
  readonly folder: string;
  /** In it: the file, or folder of files, that is made. */
  readonly result: string;
  /** Whether several files may be made. */
  readonly mayBeFolder: boolean;
  /** Called when the work has ended. */
  readonly ended: Int32Array<SharedArrayBuffer>;
}

export interface Exported {
  readonly files: readonly ExportedFile[];
  readonly notes: readonly string[];
}

const EXTENSIONS = { parquet: '.parquet', arrow: '.arrow', csv: '.csv', json: '.jsonl' } as const;

async function main(task: ExportTask): Promise<Exported> {
  const { options } = task;
  const sources = options.paths.map(sourcesOf);
  // They start while the rest is loaded.
  const threads = new TraceThreads(
    options.format === 'trace-event' ? threadsFor(sources) : 0,
    options.gzip === true,
  );
  try {
    return await exported(task, sources, threads);
  } finally {
    await threads.close();
  }
}

async function exported(
  task: ExportTask,
  sources: readonly Sources[],
  threads: TraceThreads,
): Promise<Exported> {
  const Database = await loadDatabase();
  const database = await Database.open(sources, { folder: task.folder });
  const notes = notesOn(sources, database);
  const connection = await database.connect();
  const interrupt = () => connection.interrupt();
  stop.signal.addEventListener('abort', interrupt);
  try {
    stop.signal.throwIfAborted();
    const { files, notes: more } = await write(database, connection, sources, task, threads);
    return { files, notes: [...notes, ...more] };
  } catch (error) {
    throw isOfDuckDb(error) ? database.explained(error) : error;
  } finally {
    stop.signal.removeEventListener('abort', interrupt);
    connection.closeSync();
    database.close();
  }
}

/** Bytes of files from which on a trace is written by several threads: some ten thousand events. */
const LARGE_BYTES = 1 << 20;
const MOST_THREADS = 8;

function threadsFor(sources: readonly Sources[]): number {
  const sizes = sources.flatMap(({ files }) => files.map(({ path }) => sizeOf(path)));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return bytes < LARGE_BYTES ? 0 : Math.min(MOST_THREADS, availableParallelism()) - 1;
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** On the timeline of the earliest; recordings without a time of day begin with it. */
function placed(database: Database, sources: readonly Sources[]): PlacedRecording[] {
  const { recordings } = database;
  const starts = recordings.flatMap(({ start }) => (start === null ? [] : [start]));
  const [first] = starts.sort((a, b) => Number(a - b));
  return recordings.map(({ schema, start }, k) => ({
    sources: sources[k],
    schema,
    tables: database.tablesOf(schema),
    start,
    shift: start === null ? 0 : Number(start - first) / 1e9,
  }));
}

/** Errors of files have a code, Triscope's have a name. */
const isOfDuckDb = (error: unknown): boolean =>
  error instanceof Error && error.name === 'Error' && !('code' in error);

async function write(
  database: Database,
  connection: DuckDBConnection,
  sources: readonly Sources[],
  { options, result, mayBeFolder }: ExportTask,
  threads: TraceThreads,
): Promise<Exported> {
  const { format } = options;
  if (format === 'trace-event' || format === 'openmetrics') {
    const sink = openSink(result, options.gzip === true, stop.signal);
    const recordings = placed(database, sources);
    if (format === 'trace-event') {
      const { rows, notes } = await traceTo(connection, recordings, sink, options, threads);
      await sink.end();
      return { files: [{ table: 'trace', path: result, rows }], notes };
    }
    const rows = await openMetricsTo(connection, recordings, sink, options);
    await sink.end();
    return { files: [{ table: 'metrics', path: result, rows }], notes: [] };
  }
  const selections = await selectionsOf(database, connection, options);
  const isFolder =
    selections.length > 1 || (options.tables === undefined && options.sql === undefined);
  if (isFolder && !mayBeFolder) throw new TooManyTablesError(selections.map(({ name }) => name));
  const files: ExportedFile[] = [];
  for (const selection of selections) {
    const extension = options.partition === undefined ? EXTENSIONS[format] : '';
    const path = isFolder ? join(result, `${selection.name}${extension}`) : result;
    makeFolderOf(path);
    files.push({
      table: selection.name,
      path,
      rows: await one(connection, selection, path, options),
    });
  }
  return { files, notes: [] };
}

async function one(
  connection: DuckDBConnection,
  selection: Selection,
  path: string,
  options: ExportOptions,
): Promise<number> {
  if (options.format !== 'arrow') return copyTo(connection, selection, path, options);
  const sink = openSink(path, false, stop.signal);
  const rows = await arrowTo(connection, selection, sink);
  await sink.end();
  return rows;
}

/** @see index.ts, which makes a message of it */
class TooManyTablesError extends Error {
  override readonly name = 'TooManyTablesError';

  constructor(names: readonly string[]) {
    super(names.join(', '));
  }
}

function notesOn(sources: readonly Sources[], { recordings }: Database): string[] {
  const notes = recordings.flatMap(({ suspects }) =>
    suspects.map(({ file, what }) => `${file}: ${what}`),
  );
  for (const { path, recording } of sources) {
    if (recording?.state !== 'running') continue;
    notes.push(
      `${path}: its recording.json says that it is still being written: exported up to here`,
    );
  }
  return notes;
}

/** Any message means: stop. If a thread is ended from outside while in DuckDB, the process ends with it. */
const stop = new AbortController();
parentPort?.on('message', () => stop.abort());

void doTask(main).finally(() => {
  tellEnd((workerData as ExportTask).ended);
  parentPort?.close();
});
