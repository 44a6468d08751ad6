/** What to export: tables by name, or a query, as SELECT statements with columns that a format can hold. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../../model/sql.ts';
import type { Database } from '../database.ts';
import { QueryError } from '../errors.ts';
import type { ExportOptions } from './options.ts';

export interface SelectedColumn {
  readonly name: string;
  /** SQL type. */
  readonly type: string;
  readonly unit: string;
  readonly help: string;
}

export interface Selection {
  /** Name of the table with its schema where there are several; `query` for a query. */
  readonly name: string;
  readonly sql: string;
  readonly columns: readonly SelectedColumn[];
}

/** @throws QueryError for tables that are not there, and queries that do more than read */
export async function selectionsOf(
  database: Database,
  connection: DuckDBConnection,
  { sql, tables, paths }: ExportOptions,
): Promise<Selection[]> {
  if (sql !== undefined) {
    await database.check(sql);
    // On lines of its own: a comment at its end must not swallow what follows. Its last ; is removed.
    const plain = sql.trim().replace(/;+$/, '');
    return [await described(database, connection, 'query', `(\n${plain}\n)`, null)];
  }
  const names = tables ?? (await ownTables(connection, paths.length > 1));
  const all: Selection[] = [];
  for (const name of names) {
    const from = name.split('.').map(quoteName).join('.');
    await database.check(`SELECT * FROM ${from}`, '');
    all.push(await described(database, connection, name, from, name.split('.')));
  }
  return all;
}

/** Tables of the recordings, without the views that are computed from them. */
async function ownTables(connection: DuckDBConnection, several: boolean): Promise<string[]> {
  const rows = await connection.runAndReadAll(
    `SELECT t.table_schema, t.table_name FROM information_schema.tables t
      LEFT JOIN duckdb_views() v ON v.schema_name = t.table_schema AND v.view_name = t.table_name
      WHERE t.table_catalog = 'memory' AND (t.table_type = 'BASE TABLE' OR v.comment IS NOT NULL)
        AND t.table_name NOT IN ('gvt', 'runs')
      ORDER BY ALL`,
  );
  return rows.getRowsJS().map(([schema, name]) => (several ? `${schema}.${name}` : String(name)));
}

async function described(
  database: Database,
  connection: DuckDBConnection,
  name: string,
  from: string,
  table: readonly string[] | null,
): Promise<Selection> {
  const sql = `SELECT * FROM ${from}`;
  try {
    const result = await connection.run(`${sql} LIMIT 0`);
    const types = result.columnTypes().map(String);
    const facts = table === null ? new Map() : await columnFactsOf(connection, table);
    const columns = result.deduplicatedColumnNames().map((column, k) => ({
      name: column,
      type: types[k],
      unit: column === 't' && table !== null ? 's' : (facts.get(column)?.unit ?? ''),
      help: facts.get(column)?.help ?? '',
    }));
    // Names made unique: a query's columns may share one.
    const list = columns.map((column) => quoteName(column.name)).join(', ');
    return { name, sql: `SELECT * FROM ${from} AS _source(${list})`, columns };
  } catch (error) {
    throw database.explained(error);
  }
}

/** Units and sentences of a table's columns; of a view with rates, of its counters' table. */
async function columnFactsOf(
  connection: DuckDBConnection,
  table: readonly string[],
): Promise<Map<string, { unit: string; help: string }>> {
  const name = table[table.length - 1];
  const metrics = [...table.slice(0, -1), 'metrics'].map(quoteName).join('.');
  const rows = await connection.runAndReadAll(
    `SELECT column_name, CASE WHEN kind = 'event' AND table_name <> ${quoteText(name)}
        THEN coalesce(nullif(unit, ''), '1') || '/s' ELSE unit END, help
      FROM ${metrics} WHERE table_name = ${quoteText(name.replace(/_rate$/, ''))}`,
  );
  return new Map(
    rows
      .getRowsJS()
      .map(([column, unit, help]) => [String(column), { unit: String(unit), help: String(help) }]),
  );
}

/** Sums of 64-bit integers have 128 bits; files that have no such integers keep the digits as decimals. */
export function withoutHugeIntegers({ sql, columns }: Selection): string {
  if (!columns.some(({ type }) => /^U?HUGEINT$/.test(type))) return sql;
  const list = columns.map(({ name, type }) => {
    const column = quoteName(name);
    return /^U?HUGEINT$/.test(type) ? `${column}::DECIMAL(38, 0) AS ${column}` : column;
  });
  return `SELECT ${list.join(', ')} FROM (${sql})`;
}

/**
 * The selection with a column `host`: its own, or that of the row's PE, or the only one there is.
 * @throws QueryError where the host is not known
 */
export async function withHost(
  connection: DuckDBConnection,
  selection: Selection,
): Promise<Selection> {
  const { name, sql, columns } = selection;
  const has = (column: string) => columns.some((one) => one.name === column);
  if (has('host')) return selection;
  const host = { name: 'host', type: 'VARCHAR', unit: '', help: 'host' };
  const extended = (text: string) => ({ name, sql: text, columns: [...columns, host] });
  const schema = name.includes('.') ? `${quoteName(name.split('.')[0])}.` : '';
  if (has('pe_id')) {
    return extended(
      `SELECT s.*, p.host FROM (${sql}) s LEFT JOIN ${schema}pes p ON p.pe = s.pe_id`,
    );
  }
  const rows = await connection.runAndReadAll(
    `SELECT name FROM ${schema}entities WHERE domain = 'host'`,
  );
  if (rows.currentRowCount !== 1) {
    throw new QueryError(
      `--partition host: the rows of ${name} do not name their host: there is no column host or pe_id`,
    );
  }
  const [[only]] = rows.getRowsJS();
  return extended(`SELECT *, ${quoteText(String(only))} AS host FROM (${sql})`);
}
