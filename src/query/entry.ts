/** Where DuckDB begins: a thread, or a process of its own. */
import { isMainThread } from 'node:worker_threads';

void (isMainThread ? import('./process.ts') : import('./worker.ts'));
