/** Tables whose columns are known beforehand, with the types of their schemas. */
import type { Cell, Metric, Schema } from '../model/metric.ts';
import {
  PROCESS,
  PROCESS_HEAT,
  PROCESS_IO,
  PROCESS_LIMIT,
  PROCESS_LINK,
  PROCESS_MEMORY,
  PROCESS_PRESSURE,
  PROCESS_QUOTA,
  PROCESS_REFAULT,
  PROCESS_SWITCH,
  PROCESS_THREAD,
  PROCESS_WEIGHT,
} from '../model/schemas/process.ts';
import { ROSS_SCHEMAS } from '../model/schemas/ross.ts';
import {
  REGION_PHASE,
  SIM_HANDLER,
  SIM_LINK,
  SIM_PE,
  SIM_PLACE,
  SIM_PROCESS,
  SIM_RUN,
  SIM_STREAM,
  SIM_THREAD,
} from '../model/schemas/sim.ts';
import { quoteName } from '../model/sql.ts';
import type { ColumnBatch, ColumnData } from './column-batches.ts';
import { QueryError } from './errors.ts';
import { type OpenCell, openCell } from './open-tables.ts';
import { SQL_TYPES } from './table.ts';

const SCHEMAS = [
  ...ROSS_SCHEMAS,
  SIM_THREAD,
  SIM_PROCESS,
  SIM_STREAM,
  REGION_PHASE,
  PROCESS,
  PROCESS_THREAD,
  PROCESS_SWITCH,
  PROCESS_MEMORY,
  PROCESS_IO,
  PROCESS_QUOTA,
  PROCESS_WEIGHT,
  PROCESS_PRESSURE,
  PROCESS_LIMIT,
  PROCESS_REFAULT,
  PROCESS_LINK,
  PROCESS_HEAT,
  SIM_RUN,
  SIM_PE,
  SIM_HANDLER,
  SIM_PLACE,
  SIM_LINK,
] as const;

/** What a column of these cells comes as. */
interface CellColumns {
  u32: Uint32Array;
  i32: Int32Array;
  u64: BigUint64Array;
  f32: Float32Array;
  f64: Float64Array;
  label: readonly (string | null)[];
}

type SchemaColumns<S extends Schema> = {
  readonly [M in S['metrics'][number] as M['key']]: CellColumns[M['cell']];
} & { readonly t: Float64Array };

/** By name: the columns of the tables that are always alike. */
export type KnownTables = {
  readonly [S in (typeof SCHEMAS)[number] as S['name']]: SchemaColumns<S>;
};

/** The columns of table `N`; of one that only its files list, any names. */
export type TableColumns<N extends string> = N extends keyof KnownTables
  ? KnownTables[N]
  : Readonly<Record<string, ColumnData>>;

/** What column `K` of table `N` comes as. */
export type TableColumn<N extends string, K extends string> = N extends keyof KnownTables
  ? K extends keyof KnownTables[N]
    ? KnownTables[N][K]
    : never
  : [OpenCell<N, K>] extends [never]
    ? ColumnData
    : CellColumns[OpenCell<N, K>];

/** Which rows: seconds since the recording's start from `from` on, before `to`, and those of which a condition in SQL holds. */
export interface TableOptions {
  /** Only rows whose `t`, in seconds since the recording's start, is at least this. */
  readonly from?: number;
  /** Only rows whose `t`, in seconds since the recording's start, is below this. */
  readonly to?: number;
  /** SQL condition. */
  readonly where?: string;
}

/** A table of which the columns are known to the type checker. */
export interface TypedTable<N extends string> {
  /** Its name in SQL. */
  readonly name: N;
  /**
   * Its rows, some ten thousand at a time. Leaving the loop ends the query.
   * @throws QueryError where there is no such table or column
   */
  batches<const K extends keyof TableColumns<N> & string>(
    columns: readonly K[],
    options?: TableOptions,
  ): AsyncIterable<ColumnBatch<{ readonly [C in K]: TableColumn<N, C> }>>;
}

const T: Pick<Metric, 'key' | 'cell'> = { key: 't', cell: 'f64' };

/** The query for some columns of a table. Where its schema is known, they have its types whatever the files hold. */
export function selectOf(
  name: string,
  columns: readonly string[],
  { from, to, where }: TableOptions,
): string {
  if (columns.length === 0) throw new QueryError(`table ${name}: choose at least one column`);
  const metrics: readonly Pick<Metric, 'key' | 'cell'>[] | undefined = SCHEMAS.find(
    (one) => one.name === name,
  )?.metrics;
  const cellOf = (key: string): Cell | undefined =>
    [T, ...(metrics ?? [])].find((metric) => metric.key === key)?.cell ??
    openCell(name, key) ??
    undefined;
  const list = columns.map((key) => {
    const cell = cellOf(key);
    const column = quoteName(key);
    return cell === undefined ? column : `${column}::${SQL_TYPES[cell]} AS ${column}`;
  });
  const conditions = [
    ...(from === undefined ? [] : [`t >= ${Number(from)}`]),
    ...(to === undefined ? [] : [`t < ${Number(to)}`]),
    // On lines of its own: a comment in it must not swallow the parenthesis.
    ...(where === undefined ? [] : [`(\n${where}\n)`]),
  ];
  const filter = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return `SELECT ${list.join(', ')} FROM ${quoteName(name)}${filter}`;
}
