/**
 * The process in which DuckDB runs if limits must hold: it can be ended at any moment. Its first message says what to
 * do; all others are requests.
 */
import { Worker } from 'node:worker_threads';
import { type ErrorMessage, messageOf } from './errors.ts';
import { type FilterTask, filterHere } from './filter-rows.ts';
import { type Port, type QueryRequest, type ServedTask, serve } from './serve.ts';
import { bytesOf, SETTINGS } from './settings.ts';
import type { Watch } from './watchdog.ts';

export type QueryProcessTask =
  | ({ readonly kind: 'recording' } & ServedTask & Shared)
  | ({ readonly kind: 'filter' } & FilterTask & Shared);

/** Answers to a `filter`. */
export type ProcessReply =
  | { readonly kind: 'rows'; readonly rows: number[] }
  | { readonly kind: 'failed'; readonly error: ErrorMessage };

interface Shared {
  /** For intermediate results, such as `512MiB`. */
  readonly memory?: string;
  readonly spill: string;
}

/** Memory beyond what the opened recording takes, and DuckDB's part: rows and results under way, and garbage not collected yet. */
const MARGIN_BYTES = 256 * 2 ** 20;

/** Watches from now on: at the end of the opening the process may grow by its memory, and no more. */
function watch({ memory = SETTINGS.memory_limit, spill }: Shared): () => void {
  const most = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  const workerData: Watch = { most, parent: process.ppid, spill };
  new Worker(new URL('watchdog.js', import.meta.url), { workerData, name: 'watchdog' }).unref();
  return () => {
    most[0] = process.memoryUsage.rss() + (bytesOf(memory) ?? 0) + MARGIN_BYTES;
  };
}

const say = (message: object) => process.send?.(message, () => {});

async function run(task: QueryProcessTask): Promise<void> {
  const limit = watch(task);
  if (task.kind === 'filter') {
    limit();
    try {
      say({ kind: 'rows', rows: await filterHere(task) });
    } catch (error) {
      say({ kind: 'failed', error: messageOf(error) });
    }
    process.disconnect?.();
    return;
  }
  const options = { ...task.options, spill: task.spill };
  const port: Port = {
    say: (reply) => {
      if (reply.kind === 'open') limit();
      say(reply);
    },
    onRequest: (listener) => process.on('message', (request: QueryRequest) => listener(request)),
    done: () => process.disconnect?.(),
  };
  await serve({ paths: task.paths, options }, port);
}

process.once('message', (task: QueryProcessTask) => void run(task));
