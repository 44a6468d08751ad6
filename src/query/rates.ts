/** Views `…_rate`: counters as differences per second. Those of raw stats go by their own rule: `counter-rates.ts`. */
import { SINCE } from './counter-rates.ts';
import { quoteName } from './sql.ts';
import type { Table, TableColumn } from './table.ts';

/** Tables whose rows are running totals of counters. */
const COUNTER_TABLE = /^sim_/i;
const WIDEST = 64;

const isCounter = ({ metric }: TableColumn): boolean =>
  metric.kind === 'event' && metric.form === 'total';

/** What a counter belongs to; a job comes and goes, and its host's counters go on. */
const isKey = ({ name, metric }: TableColumn): boolean =>
  (metric.cell === 'label' && name !== 'jobids') || metric.behaviour === 'constant';

/** Columns that only tell the time, as `t` does. */
const isTime = ({ name }: TableColumn): boolean => name === 'time' || name === 'real_time';

/**
 * `counted(earlier, later, bits)`: the difference modulo 2^bits, so that a rollover is none. A counter that went back
 * (a reset, a dip) gives null: the difference would be more than half of its range.
 */
export const MACROS = [
  `CREATE MACRO counted(earlier, later, bits) AS (
    CASE WHEN later >= earlier THEN later::HUGEINT - earlier::HUGEINT
    WHEN earlier::HUGEINT - later::HUGEINT > (1::HUGEINT << (bits - 1))
    THEN later::HUGEINT - earlier::HUGEINT + (1::HUGEINT << bits) END)`,
];

/** `CREATE VIEW NAME_rate` with t0 and t, the interval's ends; null for a table without counters. */
export function rateView(table: Table, schema: string): string | null {
  const counters = table.columns.filter(isCounter);
  if (!table.timed || counters.length === 0 || !COUNTER_TABLE.test(table.name)) return null;
  const others = table.columns.filter((column) => !isCounter(column) && !isTime(column));
  const keys = others.filter(isKey).map(({ name }) => quoteName(name));
  const before = (name: string) => quoteName(`before ${name}`);
  const lags = counters.map(({ name }) => `lag(${quoteName(name)}) OVER w AS ${before(name)}`);
  const rates = counters.map(({ name, metric }) => {
    const difference = `counted(${before(name)}, ${quoteName(name)}, ${metric.bits ?? WIDEST})`;
    return `${difference}::DOUBLE / (t - t0) AS ${quoteName(name)}`;
  });
  const columns = ['t0', 't', ...others.map(({ name }) => quoteName(name)), ...rates];
  const partition = keys.length === 0 ? '' : `PARTITION BY ${keys.join(', ')} `;
  return `CREATE VIEW ${schema}.${quoteName(`${table.name}_rate`)} AS
    SELECT ${columns.join(', ')}
    FROM (SELECT *, ${['lag(t) OVER w AS t0', ...lags].join(', ')}
      FROM ${schema}.${quoteName(table.name)} WINDOW w AS (${partition}ORDER BY t))
    WHERE t > t0`;
}

/** The same for a table of `rateTable`, whose rows come from `scan`. `select`: each column as users see it. */
export function rateScanView({ name, columns }: Table, select: string, schema: string): string {
  const shown = ['t0', 't', ...columns.slice(1).map((column) => quoteName(column.name))];
  return `CREATE VIEW ${schema}.${quoteName(name)} AS
    SELECT ${shown.join(', ')} FROM (SELECT ${quoteName(SINCE)} AS t0, * FROM (${select})) WHERE t0 IS NOT NULL`;
}
