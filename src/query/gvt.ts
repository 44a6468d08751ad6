/**
 * Converts between virtual and real time by GVT, which states how far the whole run was at a moment.
 *
 * ```
 * gvt       0 ──── 10.2 ───── 19.8 ── …   table gvt: each GVT that was sampled, and when (t)
 * gvt_at(t)         10.2 from there until the next          GVT known at a moment
 * t_at_gvt(v)       the first t with gvt >= v               when virtual time v could not be rolled back any more
 * ```
 */
import { quoteName } from '../model/sql.ts';
import type { Table } from './table.ts';

/** Macros of a schema with `gvt`. */
export const GVT_MACROS = ['gvt_at(seconds)', 't_at_gvt(virtual)'] as const;

const has = (table: Table | undefined, column: string): boolean =>
  table?.columns.some(({ name }) => name === column) === true;

/** View `gvt` and its macros; none where no table has samples by GVT. */
export function gvtStatements(tables: ReadonlyMap<string, Table>, schema: string): string[] {
  const found = ['ross_pe', 'ross_kp', 'ross_lp'].find((name) => {
    const table = tables.get(name);
    return (
      table?.timed === true &&
      has(table, 'mode') &&
      (has(table, 'gvt') || has(table, 'virtual_time'))
    );
  });
  if (found === undefined || tables.has('gvt')) return [];
  const from = `${schema}.${quoteName(found)}`;
  const value = has(tables.get(found), 'gvt') ? 'gvt' : 'virtual_time';
  const view = `${schema}.gvt`;
  return [
    `CREATE VIEW ${view} AS SELECT ${value}::DOUBLE AS gvt, min(t) AS t FROM ${from}
      WHERE mode = 'gvt' AND ${value} IS NOT NULL GROUP BY 1 ORDER BY 1`,
    `COMMENT ON VIEW ${view} IS 'GVTs that were sampled, and when each was agreed first'`,
    // ASOF: one pass for many rows, where comparing takes as many steps as rows times GVTs. Columns under other names,
    // as an argument may be called gvt or t itself.
    `CREATE MACRO ${schema}.gvt_at(seconds) AS (SELECT "a gvt" FROM (SELECT seconds AS "at")
      ASOF JOIN (SELECT max(gvt) OVER (ORDER BY t) AS "a gvt", t AS "its t" FROM ${view}) ON "at" >= "its t")`,
    `CREATE MACRO ${schema}.t_at_gvt(virtual) AS (SELECT "its t" FROM (SELECT virtual AS "at")
      ASOF JOIN (SELECT gvt AS "a gvt", min(t) OVER (ORDER BY gvt DESC) AS "its t" FROM ${view}) ON "at" <= "a gvt")`,
  ];
}
