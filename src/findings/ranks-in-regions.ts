/** What ranks spend in MPI and in the regions that they mark, from the report's processes. */
import type { Subject, Threshold } from './finding.ts';
import { OWN } from './finding.ts';

/** Nobody is accused on less. */
export const LONG: Threshold = {
  value: 1,
  unit: 's',
  means: 'of a process at least',
  source: `${OWN}: below it are starts and ends`,
};

/** Calls that are no waiting for others: the start, the end, and files. */
const APART =
  "region NOT IN ('MPI_Init', 'MPI_Init_thread', 'MPI_Finalize') AND region NOT LIKE 'MPI\\_File\\_%' ESCAPE '\\'";
/** An MPI call, as the shim names its region. */
const IS_MPI = "region LIKE 'MPI\\_%' ESCAPE '\\'";

/** A process's time in one region, s. */
export interface RankRegion {
  readonly host: string;
  readonly pid: number;
  readonly rank: number | null;
  readonly region: string;
  /** Whether it is an MPI call. */
  readonly mpi: boolean;
  readonly runtime: number;
  /** Of the process. */
  readonly whole: number;
}

export const RANK_REGIONS = `SELECT host, pid, rank, region, ${IS_MPI} AS mpi, sum(runtime) AS runtime, any_value(process_runtime) AS whole
FROM geopm_process WHERE region IS NOT NULL AND ${APART} AND process_runtime >= ${LONG.value}
GROUP BY host, pid, rank, region ORDER BY host, pid, region`;

export const NEEDS = [
  'geopm_process.runtime',
  'geopm_process.process_runtime',
  'geopm_process.rank',
];

export const rankRegions = ({ recording }: Subject): Promise<RankRegion[]> =>
  recording.query<RankRegion>(RANK_REGIONS);

/** Sums by key, the largest first. */
export function summed(
  rows: readonly RankRegion[],
  keyOf: (row: RankRegion) => string,
): [string, number][] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0) + row.runtime);
  return [...sums].sort(([, a], [, b]) => b - a);
}
