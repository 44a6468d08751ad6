/**
 * Runs beside DuckDB in a process of its own: ends the process if it takes more memory than allowed, or if its parent is
 * gone. DuckDB's own limit does not count what a function allocates for one value, and no interrupt reaches into that.
 */
import { rmSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

export interface Watch {
  /** Most bytes that the process may have in memory; 0 initially: no limit yet. */
  readonly most: Float64Array<SharedArrayBuffer>;
  readonly parent: number;
  /** Removed here if the parent cannot do it. */
  readonly spill: string;
}

/** Milliseconds between looks. */
const PERIOD_MS = 20;

const { most, parent, spill } = workerData as Watch;

setInterval(() => {
  if (process.ppid !== parent) rmSync(spill, { recursive: true, force: true });
  else if (most[0] === 0 || process.memoryUsage.rss() <= most[0]) return;
  // Nothing milder is certain to end it.
  process.kill(process.pid, 'SIGKILL');
}, PERIOD_MS);
