/** A table as a DuckDB table function: streams the columns that a query asks for, nothing else. */
import type { DuckDBConnection, DuckDBTableFunctionBindInfo, DuckDBType } from '@duckdb/node-api';
import type { RawColumn, RawRows, Within } from '../formats/part.ts';
import type { Cell } from '../model/metric.ts';
import { bindings, CHUNK_ROWS, fill, fillMissing, type RawChunk } from './bulk.ts';
import { DOUBLE, DuckDBTableFunction, FLOAT, INTEGER, UBIGINT, UINTEGER } from './duckdb.ts';
import { THREADS } from './settings.ts';
import type { Table, TablePiece } from './table.ts';
import { ALWAYS, type TimeRange } from './time-range.ts';

const TYPES: Readonly<Record<Cell, DuckDBType>> = {
  u32: UINTEGER,
  i32: INTEGER,
  u64: UBIGINT,
  f32: FLOAT,
  f64: DOUBLE,
  // Labels leave as numbers; the table's view turns them into texts.
  label: UINTEGER,
};

/** One run of the function. */
class Scan {
  private readonly table: Table;
  /** Numbers of the result's columns: 0 is `t` where the table is timed. */
  private readonly asked: readonly number[];
  private readonly pieces: readonly TablePiece[];
  private piece = -1;
  private steps: Iterator<RawRows> | null = null;
  private now: RawRows | null = null;
  /** Rows of `#now` that are out already. */
  private out = 0;
  /** By asked column: where it is among the columns read; -1 missing. */
  private slots: readonly number[] = [];
  private readonly t = new Float64Array(CHUNK_ROWS);
  private readonly codes = new Uint32Array(CHUNK_ROWS);

  /** Times outside of which no rows are needed. */
  private readonly range: TimeRange;

  constructor(table: Table, asked: readonly number[], range: TimeRange) {
    this.table = table;
    // What a counter counted needs the record before.
    this.range = table.begin === undefined ? range : ALWAYS;
    this.pieces = table.begin?.() ?? table.pieces;
    this.asked = asked;
  }

  next(out: RawChunk): void {
    while (this.now === null || this.out >= this.now.rows) {
      if (!this.step()) {
        bindings.data_chunk_set_size(out, 0);
        return;
      }
    }
    const rows = Math.min(CHUNK_ROWS, this.now.rows - this.out);
    bindings.data_chunk_set_size(out, rows);
    const piece = this.pieces[this.piece];
    for (let k = 0; k < this.asked.length; k++) {
      const slot = this.slots[k];
      if (slot < 0) {
        fillMissing(out, k, rows);
        continue;
      }
      const column = this.now.columns[slot].subarray(this.out, this.out + rows);
      fill(out, k, this.turned(column, this.asked[k], piece));
    }
    this.out += rows;
  }

  /** Times moved to the recording's timeline, labels to the table's; others as they are. */
  private turned(column: RawColumn, asked: number, { shift, codes }: TablePiece): RawColumn {
    const { timed } = this.table;
    if (timed && asked === 0) {
      return shift === 0 ? column : moved(column as Float64Array, shift, this.t);
    }
    const map = codes[asked - (timed ? 1 : 0)];
    if (map === null) return column;
    const turned = this.codes.subarray(0, column.length);
    for (let row = 0; row < turned.length; row++) turned[row] = map[column[row] as number] ?? 0;
    return turned;
  }

  /** Goes on to the next rows. False where there are none. */
  private step(): boolean {
    for (;;) {
      const step = this.steps?.next();
      if (step !== undefined && step.done !== true) {
        this.now = step.value;
        this.out = 0;
        return true;
      }
      const piece = this.pieces[++this.piece];
      if (piece === undefined) return false;
      const within = withinOf(piece, this.range);
      if (within !== null && isOutside(piece, within)) continue;
      const { timed } = this.table;
      const sources = this.asked.map((asked) => {
        if (timed && asked === 0) return piece.time ?? -1;
        return piece.from[asked - (timed ? 1 : 0)];
      });
      const read = [...new Set(sources.filter((source) => source >= 0))];
      this.slots = sources.map((source) => read.indexOf(source));
      this.steps = piece.part.read(read, within ?? undefined)[Symbol.iterator]();
    }
  }
}

function moved(times: Float64Array, shift: number, into: Float64Array): Float64Array {
  const { length } = times;
  for (let row = 0; row < length; row++) into[row] = times[row] + shift;
  return into.subarray(0, length);
}

/** Relative error of a time that was moved to the timeline, with a margin. */
const ROUNDING = 2 ** -50;

/** The range on the piece's own clock; null for all times. */
export function withinOf({ time, shift }: TablePiece, { from, to }: TimeRange): Within | null {
  if (time === null || (from === -Infinity && to === Infinity)) return null;
  const error = (at: number) => ROUNDING * (Math.abs(at) + Math.abs(shift));
  return {
    time,
    from: from === -Infinity ? from : from - shift - error(from),
    to: to === Infinity ? to : to - shift + error(to),
  };
}

const isOutside = ({ part }: TablePiece, { from, to }: Within): boolean =>
  part.span != null && (part.span.to < from || part.span.from > to);

/** What the scans of a connection's queries have to know, by its number. */
export class ScanHints {
  private readonly bound = new Map<number, Map<string, number>>();
  private readonly ranges = new Map<number, ReadonlyMap<string, TimeRange>>();

  /** Counts a scan that a statement names. */
  bind(connection: number, scan: string): void {
    const counts = this.bound.get(connection) ?? new Map<string, number>();
    this.bound.set(connection, counts.set(scan, (counts.get(scan) ?? 0) + 1));
  }

  /** By scan: how often it was named since the last call. */
  takeBound(connection: number): ReadonlyMap<string, number> {
    const counts = this.bound.get(connection) ?? new Map<string, number>();
    this.bound.delete(connection);
    return counts;
  }

  set(connection: number, ranges: ReadonlyMap<string, TimeRange>): void {
    this.ranges.set(connection, ranges);
  }

  rangeOf(connection: number, scan: string): TimeRange {
    return this.ranges.get(connection)?.get(scan) ?? ALWAYS;
  }

  forget(connection: number): void {
    this.bound.delete(connection);
    this.ranges.delete(connection);
  }
}

/**
 * Tables with a function of their own, whose scans are told which times are needed. Node looks at all functions of
 * JavaScript whenever one is called: of thousands of tables all others share one, by their number.
 */
const OWN = 128;

/** How many tables of a recording have one, of so many recordings. */
export const ownScans = (recordings: number): number => Math.ceil(OWN / recordings);

/** What SQL calls for the rows of the table with number `n`. @param scan how names of functions begin */
export const scanCall = (scan: string, n: number, own = OWN): string =>
  n < own ? `${scan}_${n}()` : `${scan}_others(${n})`;

/** Makes `scanCall` of each table known in the connection's database. */
export function registerScans(
  connection: DuckDBConnection,
  scan: string,
  tables: readonly Table[],
  hints: ScanHints | null = null,
  own = OWN,
): void {
  for (const [n, table] of tables.slice(0, own).entries()) {
    const name = `${scan}_${n}`;
    register(connection, name, () => table, hints);
  }
  if (tables.length <= own) return;
  register(connection, `${scan}_others`, (bind) => tables[Number(bind.getParameter(0))], null);
}

function register(
  connection: DuckDBConnection,
  name: string,
  tableOf: (bind: DuckDBTableFunctionBindInfo) => Table,
  hints: ScanHints | null,
): void {
  const scan = new DuckDBTableFunction();
  scan.setName(name);
  if (name.endsWith('_others')) scan.addParameter(INTEGER);
  scan.setSupportsProjectionPushdown(true);
  scan.setBindFunction((bind) => {
    const table = tableOf(bind);
    const connectionId = hints === null ? -1 : bind.getClientContext().connectionId;
    hints?.bind(connectionId, name);
    bind.setBindData({ connectionId, table } satisfies Bound);
    if (table.timed) bind.addResultColumn('t', DOUBLE);
    for (const { name, metric } of table.columns) bind.addResultColumn(name, TYPES[metric.cell]);
    bind.setCardinality(table.rows, true);
  });
  scan.setInitFunction((init) => {
    // Each thread of DuckDB goes on with its rows while this one fills the next; where order matters, it takes one.
    init.setMaxThreads(THREADS);
    const { connectionId, table } = init.getBindData() as Bound;
    const range = hints?.rangeOf(connectionId, name) ?? ALWAYS;
    init.setInitData(new Scan(table, init.getColumnIndexes(), range));
  });
  // Called for every 2,048 rows: node-api's objects around the chunk would cost more than to fill it.
  bindings.table_function_set_function(scan.table_function, (info, out) => {
    try {
      (bindings.function_get_init_data(info) as Scan).next(out);
    } catch (error) {
      bindings.data_chunk_set_size(out, 0);
      bindings.function_set_error(info, error instanceof Error ? error.message : String(error));
    }
  });
  connection.registerTableFunction(scan);
}

/** What a statement knows of a scan that it names. */
interface Bound {
  readonly connectionId: number;
  readonly table: Table;
}
