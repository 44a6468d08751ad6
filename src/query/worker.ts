/** The thread in which DuckDB runs, so that the caller's stays free. */
import { parentPort, workerData } from 'node:worker_threads';
import { tellEnd } from './at-exit.ts';
import { type QueryRequest, type ServedTask, serve } from './serve.ts';

export interface QueryWorkerTask extends ServedTask {
  /** Told when the thread has ended its work with DuckDB. */
  readonly ended: Int32Array<SharedArrayBuffer>;
}

const task = workerData as QueryWorkerTask;
void serve(task, {
  say: (reply, transfer = []) => parentPort?.postMessage(reply, transfer),
  onRequest: (listener) => parentPort?.on('message', (request: QueryRequest) => listener(request)),
  done: () => {
    tellEnd(task.ended);
    parentPort?.close();
  },
});
