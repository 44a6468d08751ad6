/**
 * Totals that need no sampling: how often, and how long, each process was in each region, from the times that it
 * recorded itself. Source: geopm_report(7), fields `runtime` and `count`.
 */

/** A region of one process: visits that were not inside another region. */
export interface RegionVisits {
  readonly name: string;
  readonly hash: number;
  /** Of all its threads together. */
  readonly count: number;
  /** Time in which any of its threads was in it: overlapping times of threads count once. */
  readonly seconds: number;
  /** Of all its threads together. */
  readonly threadSeconds: number;
}

/** The records of one process. Times in s since time zero. */
export interface ProcessRecord {
  readonly pid: number;
  readonly started: number;
  /** When it stopped, or was found to have ended. */
  readonly ended: number;
  readonly regions: readonly RegionVisits[];
  /** Seconds in which any thread was inside any region. */
  readonly inside: number;
  readonly epochs: number;
  /** Time of the first epoch; NaN where there was none. */
  readonly firstEpoch: number;
  /** Seconds of overhead that it reported for its marks. */
  readonly overhead: number;
}

interface RegionTotals {
  readonly name: string;
  readonly hash: number;
  /** s, mean over all processes. */
  readonly runtime: number;
  /** Mean over all processes. */
  readonly count: number;
}

export interface ExactTotals {
  /** Longest first. */
  readonly regions: readonly RegionTotals[];
  /** s outside all regions, mean over processes. */
  readonly unmarked: number;
  /** GEOPM's value: application less all regions; may be negative. */
  readonly unmarkedByDifference: number;
  /** Missing if no process marked an epoch. */
  readonly epoch?: {
    /** Mean over processes. */
    readonly count: number;
    /** GEOPM's value. */
    readonly leastCount: number;
    /** Time of the first epoch of any process. */
    readonly first: number;
    /** When the last process had reached one; NaN if some process never did. */
    readonly firstOfAll: number;
  };
  /** First start and last end, s since time zero. */
  readonly started: number;
  readonly ended: number;
  /** Mean over processes, s. */
  readonly overhead: number;
}

/** Sums over processes, then means. Without processes all is 0, and there are no regions. */
export function exactTotals(processes: readonly ProcessRecord[]): ExactTotals {
  const n = Math.max(1, processes.length);
  const sums = new Map<number, { name: string; hash: number; runtime: number; count: number }>();
  for (const { regions } of processes) {
    for (const { name, hash, seconds, count } of regions) {
      const sum = sums.get(hash) ?? { name, hash, runtime: 0, count: 0 };
      sum.runtime += seconds / n;
      sum.count += count / n;
      sums.set(hash, sum);
    }
  }
  const regions = [...sums.values()].sort((a, b) => b.runtime - a.runtime);
  const mean = (of: (process: ProcessRecord) => number) =>
    processes.reduce((sum, process) => sum + of(process), 0) / n;
  const started = Math.min(...processes.map((p) => p.started));
  const ended = Math.max(...processes.map((p) => p.ended));
  const span = processes.length === 0 ? 0 : ended - started;
  return {
    regions,
    unmarked: mean((p) => Math.max(0, p.ended - p.started - p.inside)),
    unmarkedByDifference: span - regions.reduce((sum, { runtime }) => sum + runtime, 0),
    epoch: epochTotals(processes),
    started: processes.length === 0 ? 0 : started,
    ended: processes.length === 0 ? 0 : ended,
    overhead: mean((p) => p.overhead),
  };
}

function epochTotals(processes: readonly ProcessRecord[]): ExactTotals['epoch'] {
  const firsts = processes.map((p) => p.firstEpoch).filter((time) => !Number.isNaN(time));
  if (firsts.length === 0) return undefined;
  const counts = processes.map(({ epochs }) => epochs);
  return {
    count: counts.reduce((sum, count) => sum + count, 0) / counts.length,
    leastCount: Math.min(...counts),
    first: Math.min(...firsts),
    firstOfAll: firsts.length === processes.length ? Math.max(...firsts) : Number.NaN,
  };
}
