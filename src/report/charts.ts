/** The charts of a report: queries whose answers are few enough to draw. */
import { CPU_BUSY, oneMode, sqlOf } from '../model/measures/index.ts';
import type { OpenRecording, Row } from '../query/index.ts';
import { CPU_COLUMNS, cpuRates, cpuStates, type Has } from './tables.ts';

export interface Series {
  readonly name: string;
  /** Points from left to right; null where nothing was measured. */
  readonly points: readonly (readonly [x: number, y: number | null])[];
}

export interface LineChart {
  readonly kind: 'lines';
  readonly title: string;
  /** Of the values; the other axis is seconds since the recording’s start. */
  readonly unit: string;
  readonly series: readonly Series[];
}

export interface BarChart {
  readonly kind: 'bars';
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
}

export type Chart = LineChart | BarChart;

/** Points of a line. */
const BINS = 120;
/** Lines that can be told apart; of more PEs or hosts the sum or the mean is drawn. */
const MOST_LINES = 8;
const MOST_BARS = 16;

const mode = (columns: string) => `sample AS (
  SELECT ${columns} FROM ross_pe WHERE ${oneMode('ross_pe')}),
extent AS (SELECT min(t) AS lo, greatest(max(t), min(t) + 1e-9) AS hi FROM sample),
binned AS (SELECT *, least(${BINS - 1}, floor((t - lo) / (hi - lo) * ${BINS})) AS bin, (hi - lo) / ${BINS} AS width
  FROM sample, extent)`;

const EVENTS = `WITH ${mode('pe_id, t, events_processed, events_rolled_back')}
SELECT 'PE ' || pe_id AS name, pe_id AS rank, lo + (bin + 0.5) * width AS x,
  (sum(events_processed)::DOUBLE - sum(events_rolled_back)::DOUBLE) / any_value(width) AS y
FROM binned GROUP BY pe_id, bin, lo, width ORDER BY rank, x`;

const UNDONE = `WITH ${mode('pe_id, t, events_processed, events_rolled_back')}
SELECT 'all PEs' AS name, 0 AS rank, lo + (bin + 0.5) * width AS x,
  sum(events_rolled_back)::DOUBLE / any_value(width) AS y
FROM binned GROUP BY bin, lo, width ORDER BY x`;

const GVT = `WITH ${mode('pe_id, t, gvt')}
SELECT 'GVT' AS name, 0 AS rank, lo + (bin + 0.5) * width AS x, max(gvt) FILTER (isfinite(gvt)) AS y
FROM binned GROUP BY bin, lo, width ORDER BY x`;

const busy = (has: Has) => `WITH ${cpuRates(has)},
busy AS (SELECT host, t, ${sqlOf(CPU_BUSY, { metric: (state) => `sum("${state}" * (t - t0))`, seconds: 'sum(t - t0)', has: cpuStates(has) })} AS y
  FROM cpu_rate GROUP BY host, t),
extent AS (SELECT min(t) AS lo, greatest(max(t), min(t) + 1e-9) AS hi FROM busy)
SELECT host AS name, dense_rank() OVER (ORDER BY host) AS rank,
  lo + (least(${BINS - 1}, floor((t - lo) / (hi - lo) * ${BINS})) + 0.5) * (hi - lo) / ${BINS} AS x, avg(y) AS y
FROM busy, extent GROUP BY host, x ORDER BY rank, x`;

const UNDONE_BY = `SELECT 'PE ' || source_pe AS name, sum(events_undone) AS value FROM ross_rollback
WHERE cause = 'straggler' GROUP BY source_pe ORDER BY value DESC, source_pe LIMIT ${MOST_BARS}`;

const regions = (
  column: string,
) => `SELECT region AS name, sum(${column}) AS value FROM geopm_region
WHERE section = 'region' AND ${column} > 0 GROUP BY region ORDER BY value DESC, name LIMIT ${MOST_BARS}`;

interface PointRow {
  readonly name: string;
  readonly x: number;
  readonly y: number | null;
}

interface Lines {
  readonly title: string;
  readonly unit: string;
  readonly sql: (has: Has) => string;
  readonly needs: readonly string[];
  /** How more lines than can be told apart become one. */
  readonly over: 'sum' | 'mean';
}

interface Bars extends Omit<Lines, 'over'> {}

const EVENT_COLUMNS = ['events_processed', 'events_rolled_back', 'mode', 't'].map(
  (column) => `ross_pe.${column}`,
);

const LINES: readonly Lines[] = [
  {
    ...{ title: 'Committed events', unit: 'events/s', sql: () => EVENTS, over: 'sum' },
    needs: EVENT_COLUMNS,
  },
  {
    ...{ title: 'Events rolled back', unit: 'events/s', sql: () => UNDONE, over: 'mean' },
    needs: EVENT_COLUMNS,
  },
  {
    ...{ title: 'GVT', unit: 'virtual time', sql: () => GVT, over: 'mean' },
    needs: ['ross_pe.gvt', 'ross_pe.mode', 'ross_pe.t'],
  },
  {
    ...{ title: 'Busy CPUs', unit: '%', sql: busy, over: 'mean' },
    needs: CPU_COLUMNS.map((key) => `node_cpu_rate.${key}`),
  },
];

const BARS: readonly Bars[] = [
  {
    ...{ title: 'Events undone for late events of a PE', unit: 'events', sql: () => UNDONE_BY },
    needs: ['ross_rollback.source_pe'],
  },
  {
    ...{ title: 'Time by region', unit: 's', sql: () => regions('runtime') },
    needs: ['geopm_region.section', 'geopm_region.runtime'],
  },
  {
    ...{ title: 'Energy by region', unit: 'J', sql: () => regions('package_energy') },
    needs: ['geopm_region.section', 'geopm_region.package_energy'],
  },
];

function seriesOf(rows: readonly PointRow[], over: Lines['over']): Series[] {
  const byName = new Map<string, [number, number | null][]>();
  for (const { name, x, y } of rows) {
    const points = byName.get(name) ?? [];
    byName.set(name, points);
    points.push([x, y]);
  }
  if (byName.size <= MOST_LINES) return [...byName].map(([name, points]) => ({ name, points }));
  const sums = new Map<number, { sum: number; count: number }>();
  for (const { x, y } of rows) {
    if (y === null) continue;
    const at = sums.get(x) ?? { sum: 0, count: 0 };
    sums.set(x, at);
    at.sum += y;
    at.count++;
  }
  const name = `${over} of ${byName.size}`;
  const points = [...sums]
    .sort((a, b) => a[0] - b[0])
    .map(([x, { sum, count }]) => [x, over === 'sum' ? sum : sum / count] as const);
  return [{ name, points }];
}

/** Charts that have something to show. */
export async function chartsOf(recording: OpenRecording, has: Has): Promise<Chart[]> {
  const charts: Chart[] = [];
  for (const { title, unit, sql, needs, over } of LINES) {
    if (!needs.every(has)) continue;
    const series = seriesOf(await recording.query<PointRow>(sql(has)), over);
    const drawn = series.filter(({ points }) => points.filter(([, y]) => y !== null).length > 1);
    if (drawn.length > 0) charts.push({ kind: 'lines', title, unit, series: drawn });
  }
  for (const { title, unit, sql, needs } of BARS) {
    if (!needs.every(has)) continue;
    const bars = await recording.query<Row & { name: string; value: number }>(sql(has));
    if (bars.length > 0) charts.push({ kind: 'bars', title, unit, bars });
  }
  return charts;
}
