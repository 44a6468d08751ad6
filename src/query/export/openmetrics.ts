/**
 * Tables of samples as OpenMetrics: a family per column. Columns that count since the last sample (ROSS's) are summed up, because a
 * counter is a total.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import {
  END,
  type Family,
  familyOf,
  headText,
  labelsText,
  sampleText,
} from '../../formats/openmetrics/text.ts';
import type { Metric } from '../../model/metric.ts';
import { quoteName, quoteText } from '../../model/sql.ts';
import { QueryError } from '../errors.ts';
import type { ExportOptions } from './options.ts';
import type { PlacedRecording } from './placed.ts';
import type { Sink } from './sink.ts';
import { chunksOf } from './vectors.ts';

/** Tables with a series for each LP, KP or event are too many for a monitor; they are exported only if named. */
const MANY_SERIES = /^ross_(kp|lp|model|event|rollback)$/;
/** Times are the samples' own; a host's series continue while jobs come and go. */
const isNoValue = ({ table, name }: Column): boolean =>
  ['real_time', 'gvt_index', 'jobids'].includes(name) ||
  (name === 'time' && table.startsWith('node_'));

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly kind: Metric['kind'];
  readonly behaviour: Metric['behaviour'];
  readonly form: Metric['form'];
  readonly unit: string;
  readonly help: string;
}

/** Returns the number of samples. @throws QueryError for tables that hold none */
export async function openMetricsTo(
  connection: DuckDBConnection,
  [{ schema, start }]: readonly PlacedRecording[],
  sink: Sink,
  { tables }: ExportOptions,
): Promise<number> {
  const all = await columnsOf(connection, schema);
  const names = [...new Set(all.map(({ table }) => table))];
  for (const name of tables ?? []) {
    if (names.includes(name)) continue;
    throw new QueryError(`there is no table of samples ${name}; tables: ${names.join(', ')}`);
  }
  const chosen = tables ?? names.filter((name) => !MANY_SERIES.test(name));
  const text = new Blocks(sink);
  let samples = 0;
  for (const name of chosen) {
    const columns = all.filter(({ table }) => table === name);
    const labels = columns.filter(isLabel);
    const families = new Set<string>();
    for (const column of columns) {
      if (isLabel(column) || isNoValue(column)) continue;
      const family = familyOf(name, column.name, column);
      // Two columns may differ in letters only that no name may have.
      if (families.has(family.name)) continue;
      families.add(family.name);
      await text.add(headText(family));
      const sql = statement(
        `${quoteName(schema)}.${quoteName(name)}`,
        column,
        labels,
        start,
        family.factor,
      );
      samples += await familyTo(connection, sql, family, labels, text);
    }
  }
  await text.add(END);
  await text.flush();
  return samples;
}

/** The labels that distinguish series. */
const isLabel = ({ type, behaviour, name }: Column): boolean =>
  (type === 'VARCHAR' && name !== 'jobids') ||
  (behaviour === 'constant' && /(^|_)id$|^process$/.test(name));

async function columnsOf(connection: DuckDBConnection, schema: string): Promise<Column[]> {
  const rows = await connection.runAndReadAll(
    `SELECT table_name, column_name, type, kind, behaviour, form, unit, help
      FROM ${quoteName(schema)}.metrics m
      WHERE EXISTS (FROM information_schema.columns c
        WHERE c.table_schema = ${quoteText(schema)} AND c.table_name = m.table_name AND c.column_name = 't')`,
  );
  return rows.getRowsJS().map((row) => {
    const [table, name, type, kind, behaviour, form, unit, help] = row.map((one) =>
      String(one ?? ''),
    );
    return { table, name, type, kind, behaviour, form, unit, help } as Column;
  });
}

/**
 * Labels, value and time of each sample, with the samples of a series together and in the order of time. For each
 * millisecond only the last one, because Prometheus keeps no finer times and rejects two of one. Without the time of day only the
 * last sample, without a time.
 */
function statement(
  from: string,
  { name, form, kind, type }: Column,
  labels: readonly Column[],
  start: bigint | null,
  factor: number,
): string {
  const keys = labels.map((label) => quoteName(label.name));
  const column = quoteName(name);
  const partition = keys.length === 0 ? '' : `PARTITION BY ${keys.join(', ')}`;
  // Counts since the last sample: the total runs over samples of the same moment, and over missing ones.
  const isSum = kind === 'event' && form === 'change';
  const sum = isSum
    ? `sum(${column}) OVER (${partition} ORDER BY t RANGE UNBOUNDED PRECEDING)`
    : column;
  const value = factor === 1 ? sum : `(${sum}) * ${factor}::${factor < 1 ? 'DOUBLE' : 'HUGEINT'}`;
  const isFloat = type === 'FLOAT' || type === 'DOUBLE' || factor < 1;
  const list = [
    ...keys.map((key) => `coalesce(${key}::VARCHAR, '')`),
    // Digits of integers unchanged: 64-bit counters do not fit doubles.
    isFloat ? `(${value})::DOUBLE` : `(${value})::VARCHAR`,
    start === null
      ? "''"
      : `printf('%d.%03d', ${millisecond(start)} // 1000, ${millisecond(start)} % 1000)`,
  ];
  const moment = [...keys, ...(start === null ? [] : [millisecond(start)])].join(', ');
  const last = `QUALIFY row_number() OVER (${moment && `PARTITION BY ${moment}`} ORDER BY t DESC) = 1`;
  const order = [...keys, 't'].join(', ');
  return `SELECT ${list.join(', ')} FROM ${from} WHERE ${column} IS NOT NULL ${last} ORDER BY ${order}`;
}

/** SQL of a sample's millisecond since 1970. */
const millisecond = (start: bigint): string =>
  `((${start} + round(t * 1e9)::HUGEINT) // 1000000)::BIGINT`;

async function familyTo(
  connection: DuckDBConnection,
  sql: string,
  family: Family,
  labels: readonly Column[],
  text: Blocks,
): Promise<number> {
  let samples = 0;
  const result = await connection.stream(sql);
  for await (const chunk of chunksOf(result)) {
    for (const row of chunk.getRows()) {
      const names = labelsText(labels.map(({ name }, k) => [name, String(row[k])]));
      const value = row[labels.length] as string | number;
      const time = String(row[labels.length + 1]);
      if (Number.isNaN(value)) continue;
      samples++;
      await text.add(sampleText(family, names, value, time));
    }
  }
  return samples;
}

/** Text in blocks. */
class Blocks {
  private readonly sink: Sink;
  private text = '';

  constructor(sink: Sink) {
    this.sink = sink;
  }

  async add(text: string): Promise<void> {
    this.text += text;
    if (this.text.length >= 1 << 20) await this.flush();
  }

  async flush(): Promise<void> {
    await this.sink.write(Buffer.from(this.text));
    this.text = '';
  }
}
