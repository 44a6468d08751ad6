/** The thread in which DuckDB runs: readers run here too, so that the caller's thread stays free. */
import { parentPort, workerData } from 'node:worker_threads';
import { tellEnd } from './at-exit.ts';
import type { RawBatch } from './column-batches.ts';
import type { DatabaseOptions, LoadedRecording, ResultColumn, ResultStream } from './database.ts';
import { type ErrorMessage, messageOf } from './errors.ts';
import { loadDatabase } from './load-database.ts';
import { sourcesOf } from './sources.ts';

export interface WorkerTask {
  readonly paths: readonly string[];
  readonly options: DatabaseOptions;
  /** Told when all is closed. */
  readonly ended: Int32Array<SharedArrayBuffer>;
}

/** `query` numbers a query; the caller gives it. */
export type Request =
  | {
      readonly kind: 'start';
      readonly query: number;
      readonly sql: string;
      /** Seconds that it may take. */
      readonly timeLimit?: number;
    }
  | { readonly kind: 'columns'; readonly query: number }
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
  | { readonly kind: 'batch'; readonly query: number; readonly batch: RawBatch | null }
  | { readonly kind: 'error'; readonly query: number; readonly error: ErrorMessage };

/** Milliseconds between interrupts of queries that run while all is closed: one may begin after the first. */
const INTERRUPTS = 10;

const say = (reply: Reply) => parentPort?.postMessage(reply);

async function main(): Promise<void> {
  const { paths, options, ended } = workerData as WorkerTask;
  const sources = paths.map(sourcesOf);
  const Database = await loadDatabase();
  const database = await Database.open(sources, options);
  const streams = new Map<number, ResultStream>();
  const end = (query: number) => {
    streams.get(query)?.close();
    streams.delete(query);
  };
  const answer = async (request: Exclude<Request, { kind: 'close' }>): Promise<void> => {
    const { query } = request;
    try {
      if (request.kind === 'start') {
        const stream = await database.start(request.sql, request.timeLimit);
        streams.set(query, stream);
        say({ kind: 'started', query, columns: stream.header });
      } else if (request.kind === 'columns') {
        const batch = (await streams.get(query)?.columns()) ?? null;
        if (batch === null) end(query);
        const memory = [...(batch?.columns ?? []), ...(batch?.missing ?? [])].flatMap((one) =>
          ArrayBuffer.isView(one) ? [one.buffer as ArrayBuffer] : [],
        );
        parentPort?.postMessage({ kind: 'batch', query, batch } satisfies Reply, memory);
      } else end(query);
    } catch (error) {
      end(query);
      say({ kind: 'error', query, error: messageOf(error) });
    }
  };
  const answering = new Set<Promise<void>>();
  const close = async (): Promise<void> => {
    const stop = setInterval(() => database.interrupt(), INTERRUPTS);
    database.interrupt();
    await Promise.allSettled(answering);
    clearInterval(stop);
    for (const query of streams.keys()) end(query);
    database.close();
    tellEnd(ended);
    parentPort?.close();
  };
  parentPort?.on('message', (request: Request) => {
    if (request.kind === 'close') {
      void close();
      return;
    }
    const one = answer(request);
    answering.add(one);
    void one.finally(() => answering.delete(one));
  });
  say({ kind: 'open', recordings: database.recordings, notes: database.notes });
}

main().catch((error: unknown) => {
  tellEnd((workerData as WorkerTask).ended);
  say({ kind: 'failed', error: messageOf(error) });
});
