/** Where DuckDB runs: in a thread of this process, or in a process of its own. */
import { entryOf } from '../os/entry.ts';
import { openThread } from '../os/thread.ts';
import { endAtExit, endFlag } from './at-exit.ts';
import { QueryProcess } from './query-process.ts';
import type { QueryRequest, Reply, ServedTask } from './serve.ts';
import type { QueryWorkerTask } from './worker.ts';

export interface Host {
  post(message: QueryRequest): void;
  /** Sends the last message, and waits until it has ended. */
  close(message: QueryRequest): Promise<void>;
  /** Ends it at once; null where that is impossible, because terminating a thread within DuckDB aborts the process. */
  readonly kill: ((why: Error) => void) | null;
  /** Whether it keeps the program alive. */
  ref(): void;
  unref(): void;
}

/** Starts one. `onEnd` is called once. */
export type MakeHost = (onMessage: (message: unknown) => void, onEnd: (why: Error) => void) => Host;

const closed = () => new Error('the recording is closed');

/** Columns, which are most of what a thread makes, lie outside of this heap: a larger one would only fill with garbage. */
const YOUNG_MB = 4;

export function threadHost(task: ServedTask, ...[onMessage, onEnd]: Parameters<MakeHost>): Host {
  const workerData: QueryWorkerTask = { ...task, ended: endFlag() };
  const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MB };
  const options = { argv: ['query'], workerData, name: 'query', resourceLimits };
  let crash: Error | null = null;
  const worker = openThread<Reply>(entryOf(new URL('entry.js', import.meta.url)), options, {
    hear: onMessage,
    fail: (why, fault) => {
      if (fault === 'gone') onEnd(crash ?? closed());
      else crash = why;
    },
  });
  endAtExit(worker, workerData.ended, { kind: 'close' } satisfies QueryRequest);
  return {
    post: (message) => worker.postMessage(message),
    close: (message) =>
      new Promise<void>((resolve) => {
        worker.once('exit', () => resolve());
        worker.postMessage(message);
      }),
    kill: null,
    ref: () => worker.ref(),
    unref: () => worker.unref(),
  };
}

/** Milliseconds that a process has to end by itself. */
const END_WAIT_MS = 1000;

/** @param background whether it leaves the CPUs to others */
export function processHost(
  task: ServedTask,
  background: boolean,
  ...[onMessage, onEnd]: Parameters<MakeHost>
): Host {
  const { memory } = task.options;
  let ended: () => void = () => {};
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const child = new QueryProcess(
    { kind: 'recording', ...task, ...(memory !== undefined && { memory }) },
    onMessage,
    (why) => {
      ended();
      onEnd(why);
    },
    background,
  );
  const kill = (why: Error) => child.kill(why);
  return {
    post: (message) => child.post(message),
    close: (message) => {
      child.post(message);
      const timer = setTimeout(() => kill(closed()), END_WAIT_MS);
      return end.finally(() => clearTimeout(timer));
    },
    kill,
    ref: () => child.ref(),
    unref: () => child.unref(),
  };
}
