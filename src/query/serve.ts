/** Answers queries over recordings: in a thread (`worker.ts`), or in a process of its own (`process.ts`). Readers run here too. */
import type { ColumnBatch } from './column-batches.ts';
import type {
  Database,
  DatabaseOptions,
  LoadedRecording,
  ResultColumn,
  ResultStream,
} from './database.ts';
import { type ErrorMessage, messageOf } from './errors.ts';
import { loadDatabase } from './load-database.ts';
import { sourcesOf } from './sources.ts';

export interface ServedTask {
  readonly paths: readonly string[];
  readonly options: DatabaseOptions;
}

/** Receives the answers. */
export interface Port {
  say(reply: Reply, transfer?: readonly ArrayBuffer[]): void;
  onRequest(listener: (request: QueryRequest) => void): void;
  /** Called when DuckDB no longer runs. */
  done(): void;
}

/** `query` numbers a query; the caller gives it. */
export type QueryRequest =
  | {
      readonly kind: 'start';
      readonly query: number;
      readonly sql: string;
      /** Views and macros that it may name. */
      readonly define?: readonly string[];
      /** Seconds that it may take. */
      readonly timeLimit?: number;
    }
  | { readonly kind: 'columns'; readonly query: number }
  /** Ends a query, also while it runs. */
  | { readonly kind: 'end'; readonly query: number }
  | { readonly kind: 'close' };

export type Reply =
  | {
      readonly kind: 'open';
      readonly recordings: readonly LoadedRecording[];
      readonly notes: readonly string[];
    }
  | { readonly kind: 'failed'; readonly error: ErrorMessage }
  | { readonly kind: 'started'; readonly query: number; readonly columns: readonly ResultColumn[] }
  | { readonly kind: 'batch'; readonly query: number; readonly batch: ColumnBatch | null }
  | { readonly kind: 'error'; readonly query: number; readonly error: ErrorMessage };

/** Milliseconds between interrupts of queries that run while all is closed: one may begin after the first. */
const INTERRUPTS_MS = 10;

/** Opens what the task names, and answers until it is closed. Errors are sent as messages. */
export async function serve({ paths, options }: ServedTask, port: Port): Promise<void> {
  try {
    await answerAll(await opened(paths, options), port);
  } catch (error) {
    port.say({ kind: 'failed', error: messageOf(error) });
    port.done();
  }
}

async function opened(paths: readonly string[], options: DatabaseOptions): Promise<Database> {
  const sources = paths.map(sourcesOf);
  const Database = await loadDatabase();
  return Database.open(sources, options);
}

async function answerAll(database: Database, port: Port): Promise<void> {
  const streams = new Map<number, ResultStream>();
  /** Queries that are being started or read. */
  const busy = new Map<number, AbortController>();
  const end = (query: number) => {
    streams.get(query)?.close();
    streams.delete(query);
  };
  const work = async (
    request: Exclude<QueryRequest, { kind: 'close' | 'end' }>,
    signal: AbortSignal,
  ) => {
    const { query } = request;
    if (request.kind === 'start') {
      const stream = await database.start(request.sql, {
        define: request.define,
        timeLimit: request.timeLimit,
        signal,
      });
      streams.set(query, stream);
      port.say({ kind: 'started', query, columns: stream.header });
      return;
    }
    const batch = (await streams.get(query)?.columns()) ?? null;
    if (batch === null) end(query);
    const memory = [...(batch?.columns ?? []), ...(batch?.missing ?? [])].flatMap((one) =>
      ArrayBuffer.isView(one) ? [one.buffer as ArrayBuffer] : [],
    );
    port.say({ kind: 'batch', query, batch }, memory);
  };
  const answer = async (
    request: Exclude<QueryRequest, { kind: 'close' | 'end' }>,
  ): Promise<void> => {
    const { query } = request;
    const stop = new AbortController();
    busy.set(query, stop);
    try {
      await work(request, stop.signal);
    } catch (error) {
      end(query);
      port.say({ kind: 'error', query, error: messageOf(error) });
    } finally {
      busy.delete(query);
      if (stop.signal.aborted) end(query);
    }
  };
  const answering = new Set<Promise<void>>();
  const close = async (): Promise<void> => {
    const stop = setInterval(() => database.interrupt(), INTERRUPTS_MS);
    database.interrupt();
    await Promise.allSettled(answering);
    clearInterval(stop);
    for (const query of streams.keys()) end(query);
    database.close();
    port.done();
  };
  port.onRequest((request) => {
    if (request.kind === 'close') {
      void close();
      return;
    }
    if (request.kind === 'end') {
      const running = busy.get(request.query);
      if (running === undefined) end(request.query);
      else running.abort();
      streams.get(request.query)?.interrupt();
      return;
    }
    const one = answer(request);
    answering.add(one);
    void one.finally(() => answering.delete(one));
  });
  port.say({ kind: 'open', recordings: database.recordings, notes: database.notes });
}
