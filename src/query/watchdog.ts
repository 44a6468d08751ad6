/**
 * Beside DuckDB in a process of its own: ends the process where it takes more memory than it may, and where its parent is
 * gone. DuckDB's own limit does not count what a function allocates for one value, and no interrupt reaches into that.
 */
import { rmSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

export interface Watch {
  /** Bytes that the process may have in memory; 0 at first: no limit yet. */
  readonly most: Float64Array<SharedArrayBuffer>;
  readonly parent: number;
  /** Removed where the parent cannot do it. */
  readonly spill: string;
}

/** Milliseconds between looks. */
const PERIOD = 20;

const { most, parent, spill } = workerData as Watch;

setInterval(() => {
  if (process.ppid !== parent) rmSync(spill, { recursive: true, force: true });
  else if (most[0] === 0 || process.memoryUsage.rss() <= most[0]) return;
  // Nothing milder is sure to end it.
  process.kill(process.pid, 'SIGKILL');
}, PERIOD);
