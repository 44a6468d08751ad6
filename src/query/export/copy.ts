/** Parquet, CSV and JSON lines: DuckDB writes them. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { HINTS } from '../../formats/geopm/read/tables.ts';
import { quoteName, quoteText } from '../../model/sql.ts';
import type { ExportOptions } from './options.ts';
import { type Selection, withHost, withoutHugeIntegers } from './selection.ts';

/** Writes one file, or a folder of partitions. Returns the rows. @throws DuckDB's error */
export async function copyTo(
  connection: DuckDBConnection,
  selection: Selection,
  path: string,
  options: ExportOptions,
): Promise<number> {
  const partitioned = options.partition !== undefined;
  const source = partitioned ? await withHost(connection, selection) : selection;
  const settings = [
    ...settingsOf(source, options),
    ...(partitioned ? ['PARTITION_BY (host)'] : []),
  ];
  const sql = `COPY (${bodyOf(source, options)}) TO ${quoteText(path)} (${settings.join(', ')})`;
  const result = await connection.runAndReadAll(sql);
  return Number(result.getRowsJS()[0][0]);
}

function settingsOf(selection: Selection, { format, style }: ExportOptions): string[] {
  if (format === 'json') return ['FORMAT json'];
  if (format === 'csv') {
    return style === 'geopm'
      ? ['FORMAT csv', 'HEADER true', "DELIMITER '|'", "NULLSTR 'nan'", "QUOTE ''", "ESCAPE ''"]
      : ['FORMAT csv', 'HEADER true'];
  }
  return ['FORMAT parquet', 'COMPRESSION snappy', `KV_METADATA {${keyValues(selection)}}`];
}

/** What a Parquet file tells about its columns, under `triscope.columns`: JSON by column, with unit and help. */
function keyValues({ name, columns }: Selection): string {
  const facts = columns
    .filter(({ unit, help }) => unit !== '' || help !== '')
    .map((column) => [column.name, { unit: column.unit, help: column.help }] as const);
  const json = JSON.stringify(Object.fromEntries(facts));
  return `'triscope.table': ${quoteText(name)}, 'triscope.columns': ${quoteText(json)}`;
}

function bodyOf(selection: Selection, options: ExportOptions): string {
  const { format, rename, style, partition, quoteFormulas } = options;
  if (format === 'csv' && quoteFormulas === true) {
    return bodyOf(withoutFormulas(selection), { ...options, quoteFormulas: false });
  }
  if (format === 'parquet') return withoutHugeIntegers(selection);
  if (format === 'json') return withJsonNumbers(selection);
  if (style === 'geopm') return asTrace(selection, partition !== undefined);
  return rename === undefined ? selection.sql : renamed(selection, rename);
}

/** JSON has no infinite numbers: they become texts, as elsewhere; NaN becomes null. */
function withJsonNumbers({ sql, columns }: Selection): string {
  const replaced = columns
    .filter(({ type }) => type === 'FLOAT' || type === 'DOUBLE')
    .map(({ name }) => {
      const column = quoteName(name);
      return `CASE WHEN isfinite(${column}) THEN to_json(${column}) WHEN isinf(${column}) THEN
        to_json(CASE WHEN ${column} > 0 THEN 'Infinity' ELSE '-Infinity' END) END AS ${column}`;
    });
  return replaced.length === 0 ? sql : `SELECT * REPLACE (${replaced.join(', ')}) FROM (${sql})`;
}

/** Texts that a spreadsheet would run as formulas get a `'` before them. */
function withoutFormulas(selection: Selection): Selection {
  const quoted = selection.columns
    .filter(({ type }) => /^(VARCHAR|ENUM)/.test(type))
    .map(({ name }) => {
      const text = `${quoteName(name)}::VARCHAR`;
      const marked = `CASE WHEN regexp_matches(${text}, '^[-=+@\\t\\r]') THEN chr(39) || ${text} ELSE ${text} END`;
      return `${marked} AS ${quoteName(name)}`;
    });
  if (quoted.length === 0) return selection;
  return {
    ...selection,
    sql: `SELECT * REPLACE (${quoted.join(', ')}) FROM (${selection.sql})`,
  };
}

function renamed({ sql, columns }: Selection, names: Readonly<Record<string, string>>): string {
  const list = columns
    .filter(({ name }) => name !== 't')
    .map(({ name }) => `${quoteName(name)} AS ${quoteName(names[name] ?? name)}`);
  return `SELECT ${list.join(', ')} FROM (${sql})`;
}

const HASH = /(^|_)hash(_|$)/;
const SIGNAL_HELP = /^signal (\S+)$/;
const DOMAIN = /^(.+)_(board|package|core|cpu|memory|nic|gpu|gpu_chip)_(\d+)$/;

/** Columns as GEOPM's traces name and print them: signals in capitals, hashes in hexadecimal. */
function asTrace({ sql, columns }: Selection, keepHost: boolean): string {
  const timed = columns.some(({ name }) => name === 'real_time');
  const list = columns
    .filter(({ name }) => (keepHost || name !== 'host') && !(timed && name === 't'))
    .map(({ name, type, help }) => {
      const column = quoteName(name);
      if (name === 'host') return column;
      return `${printed(column, name, type)} AS ${quoteName(signalOf(name, help))}`;
    });
  return `SELECT ${list.join(', ')} FROM (${sql})`;
}

/** Hashes and hints in hexadecimal, whole numbers without a point. */
function printed(column: string, name: string, type: string): string {
  if (HASH.test(name) && type === 'UINTEGER') {
    return `CASE WHEN ${column} = 0 THEN 'NAN' ELSE printf('0x%08x', ${column}) END`;
  }
  if (/^region_hint/.test(name)) {
    const hints = HINTS.map(quoteText).join(', ');
    return `coalesce(printf('0x%08x', list_position([${hints}], ${column}) - 1), 'NAN')`;
  }
  if (type !== 'DOUBLE' && type !== 'FLOAT') return column;
  return `CASE WHEN ${column} = trunc(${column}) AND abs(${column}) < 1e15
    THEN ${column}::BIGINT::VARCHAR ELSE ${column}::VARCHAR END`;
}

function signalOf(name: string, help: string): string {
  if (name === 't' || name === 'real_time') return 'TIME';
  const written = SIGNAL_HELP.exec(help)?.[1];
  if (written !== undefined) return written;
  const below = DOMAIN.exec(name);
  return below === null ? name.toUpperCase() : `${below[1].toUpperCase()}-${below[2]}-${below[3]}`;
}
