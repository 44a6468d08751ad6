/** What is compared of hosts: the metrics of raw stats by type, and signals of traces. */
import { type OpenRecording, quoteName } from '../../query/index.ts';
import type { Has } from '../tables.ts';
import type { ComparedMeasure } from './measures.ts';
import type { ScopedSamples } from './simulator.ts';

interface Column {
  readonly table: string;
  readonly name: string;
  readonly kind: string;
  readonly unit: string;
  readonly combine: string;
}

const COLUMNS = `SELECT table_name AS "table", column_name AS name, kind, coalesce(unit, '') AS unit, combine
FROM metrics WHERE (table_name LIKE 'node\\_%' ESCAPE '\\' OR table_name = 'geopm_trace')
  AND kind IN ('event', 'gauge') AND behaviour NOT IN ('label', 'constant') AND type <> 'VARCHAR'
  AND column_name NOT IN ('t', 'time', 'real_time')`;

/** How a host's devices become one number at a time. */
const COMBINED: Readonly<Record<string, string>> = { mean: 'avg', max: 'max', min: 'min' };

/** Statement of both forms: `list` is an aggregate for each column, over the devices of a moment. */
function momentSql(table: string, entity: string, start: string, list: readonly string[]): string {
  return `SELECT host, '${entity}' AS entity, host AS lane, t, t - ${start} AS seconds, * EXCLUDE (host, t, t0)
    FROM (SELECT host, t, ${list.join(', ')} FROM ${table} GROUP BY host, t)`;
}

/** Times that a CPU counts, in hundredths of a second, as a number of CPUs. */
const busy = (unit: string) => unit === 'cs';

function typeSamples(table: string, columns: readonly Column[], has: Has): ScopedSamples[] {
  const type = table.replace(/^node_/, '');
  const counters = columns.filter(
    ({ kind, name }) => kind === 'event' && has(`${table}_rate.${name}`),
  );
  const gauges = columns.filter(({ kind }) => kind === 'gauge');
  const samples: ScopedSamples[] = [];
  if (counters.length > 0) {
    const list = counters.map(({ name }) => `sum(${quoteName(name)}) AS ${quoteName(name)}`);
    samples.push({
      scope: 'node',
      lanes: 'mean',
      sql: momentSql(`${table}_rate`, type, 't0', ['max(t0) AS t0', ...list]),
      measures: counters.map(({ name, unit }): ComparedMeasure => {
        const rate = busy(unit) ? `${quoteName(name)} / 100` : quoteName(name);
        const of = busy(unit) ? 'CPUs' : `${/[a-z0-9]/i.test(unit) ? unit : ''}/s`;
        return { key: name, unit: of, count: `${rate} * seconds`, per: 'second' };
      }),
    });
  }
  if (gauges.length > 0 && has(`${table}.t`)) {
    const list = gauges.map(
      ({ name, combine }) =>
        `${COMBINED[combine] ?? 'sum'}(${quoteName(name)}) AS ${quoteName(name)}`,
    );
    samples.push({
      scope: 'node',
      lanes: 'mean',
      sql: momentSql(table, type, 't', ['t AS t0', ...list]),
      measures: gauges.map(mean),
    });
  }
  return samples;
}

const mean = ({ name, unit }: Column): ComparedMeasure => ({
  key: name,
  unit: /[a-z%]/i.test(unit) ? unit : '',
  count: `${quoteName(name)}::DOUBLE`,
  per: `(${quoteName(name)} IS NOT NULL)::INTEGER`,
});

/** Signals that count up. Traces mark them only by their names. */
const COUNTS_UP = /(^|_)(energy|cycles|instructions|count|time)(_|$)/;

function traceSamples(columns: readonly Column[], has: Has): ScopedSamples[] {
  if (!has('geopm_trace.t') || !has('geopm_trace.host')) return [];
  const kept = columns.filter(({ name }) => !/hash|hint_cpu|progress/.test(name));
  // The first sample, and a missing value, have no step; `greatest` would make it 0.
  const step = (name: string) => {
    const change = `${quoteName(name)} - lag(${quoteName(name)}) OVER w`;
    return `CASE WHEN ${change} < 0 THEN 0 ELSE ${change} END AS ${quoteName(name)}`;
  };
  const list = kept.map(({ name }) => (COUNTS_UP.test(name) ? step(name) : quoteName(name)));
  return [
    {
      scope: 'signal',
      lanes: 'mean',
      sql: `SELECT host, '' AS entity, host AS lane, t, t - lag(t) OVER w AS seconds, ${list.join(', ')}
        FROM geopm_trace WINDOW w AS (PARTITION BY host ORDER BY t)`,
      measures: kept.map((column): ComparedMeasure => {
        if (!COUNTS_UP.test(column.name)) return mean(column);
        const unit = column.unit === 'J' ? 'W' : `${column.unit}/s`;
        return { key: column.name, unit, count: quoteName(column.name), per: 'second' };
      }),
    },
  ];
}

export async function nodeSamples(recording: OpenRecording, has: Has): Promise<ScopedSamples[]> {
  if (!has('metrics.table_name')) return [];
  const byTable = new Map<string, Column[]>();
  for (const column of await recording.query<Column>(COLUMNS)) {
    const columns = byTable.get(column.table) ?? [];
    byTable.set(column.table, columns);
    columns.push(column);
  }
  return [...byTable].flatMap(([table, columns]) =>
    table === 'geopm_trace' ? traceSamples(columns, has) : typeSamples(table, columns, has),
  );
}
