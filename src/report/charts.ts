/** The charts of a report: queries whose answers are few enough to draw. */
import { countedIn } from '../findings/samples.ts';
import {
  COMMITTED_RATE,
  CPU_BUSY,
  courseOf,
  coveredBy,
  type Measure,
  moves,
  oneMode,
  ROLLED_BACK_RATE,
  sqlOf,
} from '../model/measures/index.ts';
import type { OpenRecording, Row } from '../query/index.ts';
import type { Chart, LineChart, Series } from './chart.ts';
import { CPU_COLUMNS, cpuRates, cpuStates, type Has } from './tables.ts';

/** Points of a line. */
const BINS = 120;
/** Lines that can be distinguished; of more PEs or hosts the sum or the mean is drawn. */
const MOST_LINES = 8;
const MOST_BARS = 16;

/** Samples of PEs along `course`, in bins; `seconds`: how much of the course a sample covers. */
const binned = (table: string, course: string, columns: readonly string[]) => `sample AS (
  SELECT *, ${coveredBy('t')} AS seconds FROM (SELECT pe_id, ${course} AS t, ${columns.join(', ')}
  FROM ${table} WHERE ${oneMode(table)} GROUP BY pe_id, ${course})),
extent AS (SELECT min(t) AS lo, greatest(max(t), min(t) + 1e-9) AS hi FROM sample),
binned AS (SELECT *, least(${BINS - 1}, floor((t - lo) / (hi - lo) * ${BINS})) AS bin, (hi - lo) / ${BINS} AS width
  FROM sample, extent WHERE t IS NOT NULL)`;

/** A rate over the samples whose length of time is known. */
const rate = (measure: Measure, table: string, course: string, each: boolean) => `WITH ${binned(
  table,
  course,
  Object.keys(measure.of).map((key) => `sum(${key}) AS ${key}`),
)}
SELECT ${each ? "'PE ' || pe_id AS name, pe_id AS rank" : "'all PEs' AS name, 0 AS rank"}, lo + (bin + 0.5) * width AS x,
  ${sqlOf(measure, { seconds: each ? 'sum(seconds)' : '(sum(seconds) / count(DISTINCT pe_id))' })} AS y
FROM binned WHERE seconds > 0 GROUP BY ${each ? 'pe_id, ' : ''}bin, lo, width ORDER BY rank, x`;

const gvt = (table: string, course: string) => `WITH ${binned(table, course, ['max(gvt) AS gvt'])}
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

interface Drawn {
  readonly title: string;
  readonly unit: string;
}

interface Lines extends Drawn {
  readonly sql: string;
  readonly over: LineChart['over'];
  /** How lines are combined into one where there are more than can be distinguished. */
  readonly joined: 'sum' | 'mean';
}

interface Bars extends Drawn {
  readonly sql: string;
  readonly needs: readonly string[];
}

/** Charts over time of the tables that the recording has. */
async function linesOf(recording: OpenRecording, has: Has): Promise<Lines[]> {
  const found: Lines[] = [];
  const counted = countedIn(has, 'events_processed', 'events_rolled_back');
  const course = counted === null ? null : courseOf(counted, has);
  if (counted !== null && course !== null) {
    const over = await clockOf(recording, has, counted);
    const unit = over === 's' ? 'events/s' : 'events per unit of virtual time';
    found.push(
      {
        ...{ title: 'Committed events', unit, over, joined: 'sum' },
        sql: rate(COMMITTED_RATE, counted, course, true),
      },
      {
        ...{ title: 'Events rolled back', unit, over, joined: 'mean' },
        sql: rate(ROLLED_BACK_RATE, counted, course, false),
      },
    );
  }
  const moving = has('ross_pe.t') && (await clockOf(recording, has, 'ross_pe')) === 's';
  if (moving && has('ross_pe.gvt') && has('ross_pe.mode')) {
    const shape = { title: 'GVT', unit: 'virtual time', over: 's', joined: 'mean' } as const;
    found.push({ ...shape, sql: gvt('ross_pe', 't') });
  }
  if (CPU_COLUMNS.every((key) => has(`node_cpu_rate.${key}`))) {
    const shape = { title: 'Busy CPUs', unit: '%', over: 's', joined: 'mean' } as const;
    found.push({ ...shape, sql: busy(has) });
  }
  return found;
}

/** The axis of `courseOf`, for a table with samples by mode. */
async function clockOf(recording: OpenRecording, has: Has, table: string): Promise<'s' | ''> {
  if (!has(`${table}.t`)) return '';
  const [{ real }] = await recording.query<{ real: boolean | null }>(
    `SELECT ${moves(table)} AS real`,
  );
  return real === true ? 's' : '';
}

const BARS: readonly Bars[] = [
  {
    ...{ title: 'Events undone for late events of a PE', unit: 'events', sql: UNDONE_BY },
    needs: ['ross_rollback.source_pe'],
  },
  {
    ...{ title: 'Time by region', unit: 's', sql: regions('runtime') },
    needs: ['geopm_region.section', 'geopm_region.runtime'],
  },
  {
    ...{ title: 'Energy by region', unit: 'J', sql: regions('package_energy') },
    needs: ['geopm_region.section', 'geopm_region.package_energy'],
  },
];

function seriesOf(rows: readonly PointRow[], joined: Lines['joined']): Series[] {
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
  const name = `${joined} of ${byName.size}`;
  const points = [...sums]
    .sort((a, b) => a[0] - b[0])
    .map(([x, { sum, count }]) => [x, joined === 'sum' ? sum : sum / count] as const);
  return [{ name, points }];
}

/**
 * A gap is at least this many times as long as the usual distance of points.
 */
const GAP = 3;

/**
 * The line with a null in each gap: where points are much farther apart than usual, nothing was measured.
 */
export function withGaps({ name, points }: Series): Series {
  const steps = points.slice(1).map(([x], k) => x - points[k][0]);
  const usual = [...steps].sort((a, b) => a - b)[steps.length >> 1];
  const all = points.flatMap(([x, y], k): Series['points'] => {
    const missing = steps[k] > GAP * usual ? Math.round(steps[k] / usual) - 1 : 0;
    return [
      [x, y],
      ...Array.from({ length: missing }, (_, n) => [x + (n + 1) * usual, null] as const),
    ];
  });
  return { name, points: all };
}

/** Charts that have something to show. */
export async function chartsOf(recording: OpenRecording, has: Has): Promise<Chart[]> {
  const charts: Chart[] = [];
  for (const { title, unit, sql, over, joined } of await linesOf(recording, has)) {
    const series = seriesOf(await recording.query<PointRow>(sql), joined);
    const drawn = series
      .map(withGaps)
      .filter(({ points }) => points.filter(([, y]) => y !== null).length > 1);
    if (drawn.length > 0) charts.push({ kind: 'lines', title, unit, over, series: drawn });
  }
  for (const { title, unit, sql, needs } of BARS) {
    if (!needs.every(has)) continue;
    const bars = await recording.query<Row & { name: string; value: number }>(sql);
    if (bars.length > 0) charts.push({ kind: 'bars', title, unit, bars });
  }
  return charts;
}
