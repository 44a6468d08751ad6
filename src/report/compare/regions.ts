/** What is compared of regions: totals of reports, which have no samples, and the durations of visits in traces. */
import { DRAM_ENERGY, PACKAGE_ENERGY, RUNTIME, SYNC_RUNTIME } from '../../model/measures/index.ts';
import { type OpenRecording, quoteName, type Row } from '../../query/index.ts';
import type { Has } from '../tables.ts';
import type { Measured } from './measures.ts';
import type { ScopedSamples } from './simulator.ts';

const COLUMNS = `SELECT column_name AS name, coalesce(unit, '') AS unit FROM metrics
WHERE table_name = 'geopm_region' AND behaviour <> 'label'`;

/** Which way of a report's column is good, where a measure of nothing else declares it. */
const GOOD = new Map(
  [RUNTIME, SYNC_RUNTIME, PACKAGE_ENERGY, DRAM_ENERGY].map((one) => [one.key, one.good]),
);

/** Totals, which add up over several reports of a host. */
const ADDS_UP = ['s', 'J'];

/** The region's name, or the section for totals. */
const NAME = "CASE WHEN section = 'region' THEN region ELSE section END";

/** Totals by host and region. */
export async function regionTotals(recording: OpenRecording, has: Has): Promise<Measured[]> {
  if (!has('geopm_region.section')) return [];
  const columns = await recording.query<{ name: string; unit: string }>(COLUMNS);
  const list = columns.map(({ name, unit }) => {
    const add = name === 'count' || ADDS_UP.includes(unit);
    return `${add ? 'sum' : 'avg'}(${quoteName(name)}) AS ${quoteName(name)}`;
  });
  if (list.length === 0) return [];
  const rows = await recording.query<Row>(
    `SELECT host, ${NAME} AS entity, ${list.join(', ')} FROM geopm_region GROUP BY ALL
      ORDER BY host, min(CASE section WHEN 'application' THEN 0 WHEN 'epoch' THEN 1 ELSE 2 END), entity`,
  );
  return rows.flatMap((row) =>
    columns.flatMap(({ name, unit }) => {
      const value = row[name];
      if (typeof value !== 'number' || !Number.isFinite(value)) return [];
      const host = row.host as string | null;
      const entity = String(row.entity);
      const key = name.replaceAll('_', ' ');
      return [{ host, entity, key, unit, good: GOOD.get(name) ?? null, samples: value }];
    }),
  );
}

/** How long a visit of a region took, from entries and exits of the same thread, or process. */
export function visitSamples(has: Has): ScopedSamples[] {
  const columns = ['t', 'host', 'process', 'event', 'hash'];
  // Traces of GEOPM do not tell threads apart.
  const thread = has('geopm_profile_trace.thread') ? ', thread' : '';
  if (!columns.every((column) => has(`geopm_profile_trace.${column}`))) return [];
  const named = has('geopm_region.section')
    ? `(SELECT any_value(region) FROM geopm_region r WHERE r.hash = v.hash AND r.section = 'region')`
    : 'NULL';
  return [
    {
      scope: 'region',
      lanes: 'sum',
      measures: [
        {
          key: 'time of a visit',
          unit: 's',
          good: RUNTIME.good,
          count: 'visit',
          per: '(visit IS NOT NULL)::INTEGER',
        },
      ],
      sql: `SELECT host, coalesce(${named}, printf('0x%08x', hash)) AS entity, 0 AS lane, t, NULL::DOUBLE AS seconds, visit
        FROM (SELECT *, CASE WHEN event = 'REGION_ENTRY' AND lead(event) OVER w = 'REGION_EXIT' THEN lead(t) OVER w - t END AS visit
          FROM geopm_profile_trace WHERE event IN ('REGION_ENTRY', 'REGION_EXIT')
          WINDOW w AS (PARTITION BY host, process${thread}, hash ORDER BY t)) v WHERE visit IS NOT NULL`,
    },
  ];
}
