/**
 * Threads of DuckDB at the process's end. A thread that is terminated while DuckDB waits for it aborts the process
 * with an error that cannot be caught, so `process.exit` waits here until the threads have finished with DuckDB.
 */
import type { Worker } from 'node:worker_threads';

/** Milliseconds to wait for all threads; a longer wait would look as if the command hung. */
const END_WAIT_MS = 2000;

interface Open {
  readonly worker: Worker;
  /** What makes it end. */
  readonly message: unknown;
  readonly ended: Int32Array<SharedArrayBuffer>;
}

const open = new Set<Open>();
let isWatched = false;

/** Memory that says whether a thread has ended its work with DuckDB: 0, then 1. */
export const endFlag = (): Int32Array<SharedArrayBuffer> =>
  new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Called in the thread once it no longer uses DuckDB. */
export function tellEnd(ended: Int32Array<SharedArrayBuffer>): void {
  Atomics.store(ended, 0, 1);
  Atomics.notify(ended, 0);
}

/** Ends `worker` before the process does. */
export function endAtExit(
  worker: Worker,
  ended: Int32Array<SharedArrayBuffer>,
  message: unknown,
): void {
  const one = { worker, message, ended };
  open.add(one);
  worker.once('exit', () => open.delete(one));
  if (isWatched) return;
  isWatched = true;
  process.on('exit', endAll);
}

/** Messages of this thread still reach others while it waits. */
function endAll(): void {
  const late = performance.now() + END_WAIT_MS;
  for (const { worker, message } of open) worker.postMessage(message);
  for (const { ended } of open) Atomics.wait(ended, 0, 0, Math.max(0, late - performance.now()));
}
