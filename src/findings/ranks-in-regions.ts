/** How much time ranks spend in MPI and in the regions that they mark, from the report's processes. */
import { regionHash } from '../model/region-hash.ts';
import type { Subject, Threshold } from './finding.ts';
import { OWN } from './finding.ts';
import { type LossWindow, type Stretch, stretchOf } from './when.ts';

/** Less time is not enough for a finding. */
export const LONG: Threshold = {
  value: 1,
  unit: 's',
  means: 'of a process at least',
  source: `${OWN}: below it are starts and ends`,
};

/** Calls that do not wait for other ranks: the start, the end, and files. */
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
  /** Whether the region is an MPI call. */
  readonly mpi: boolean;
  readonly runtime: number;
  /** All of the process's time. */
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

const STARTS = ['MPI_Init', 'MPI_Init_thread', 'MPI_Finalize'].map(regionHash).join(', ');

/** Share of the ranks' time in MPI, for each half second, from the trace's samples; start and end are left out, as above. */
const IN_MPI = `SELECT min(t0) AS t0, max(t) AS t, sum(CASE WHEN region_hash IN (${STARTS}) OR hash0 IN (${STARTS}) THEN 0 ELSE time_hint_network - before END) / sum(t - t0) AS lost
FROM (SELECT t, time_hint_network, region_hash, lag(t) OVER host AS t0, lag(time_hint_network) OVER host AS before, lag(region_hash) OVER host AS hash0
  FROM geopm_trace WINDOW host AS (PARTITION BY host ORDER BY t))
WHERE t > t0 AND time_hint_network >= before GROUP BY floor(2 * t) ORDER BY t0`;

/** When ranks spent most of their time in MPI; null if that is the whole run, or if there is no trace. */
export async function stretchInMpi({ recording, has }: Subject): Promise<Stretch | null> {
  const needed = ['t', 'region_hash', 'time_hint_network'];
  if (!needed.every((column) => has(`geopm_trace.${column}`))) return null;
  return stretchOf(await recording.query<LossWindow>(IN_MPI));
}

/** Sums by key, the largest first. */
export function summed(
  rows: readonly RankRegion[],
  keyOf: (row: RankRegion) => string,
): [string, number][] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0) + row.runtime);
  return [...sums].sort(([, a], [, b]) => b - a);
}
