/** Columns of a table as arrays, read without DuckDB, which saves its start. */
import type { RawColumn } from '../../formats/part.ts';
import { sharedDoubles, sharedWords } from '../../formats/trace-event/index.ts';
import { withinOf } from '../scan.ts';
import type { Table } from '../table.ts';
import type { TimeRange } from '../time-range.ts';

type NumberArray = Float64Array | Uint32Array;

class Growing {
  private array: NumberArray;

  constructor(array: NumberArray) {
    this.array = array;
  }

  /** Of `column` the rows that `kept` lists, or all `rows`. */
  append(at: number, column: RawColumn | null, rows: number, kept: Uint32Array | null): void {
    if (at + rows > this.array.length) {
      const length = Math.max(at + rows, 2 * this.array.length);
      const larger =
        this.array instanceof Float64Array ? sharedDoubles(length) : sharedWords(length);
      larger.set(this.array);
      this.array = larger;
    }
    const array = this.array;
    if (column === null) array.fill(Number.NaN, at, at + rows);
    else if (kept !== null) {
      for (let k = 0; k < rows; k++) array[at + k] = Number(column[kept[k]]);
    } else if (column instanceof BigUint64Array) {
      for (let k = 0; k < rows; k++) array[at + k] = Number(column[k]);
    } else array.set(column.length === rows ? column : column.subarray(0, rows), at);
  }

  take(length: number): NumberArray {
    return this.array.subarray(0, length);
  }
}

export interface ExportedColumns {
  readonly rows: number;
  /** Seconds since the recording's start. */
  readonly t: Float64Array;
  /** By name that was asked for, as what was asked for; missing values are NaN, 0 among integers. */
  readonly columns: Readonly<Record<string, NumberArray>>;
}

/** Rows that there is room for at first, where the table does not know how many it has. */
const FIRST = 1 << 16;

/**
 * The rows of a timed table that have a time within `range`, in shared memory.
 * @param asked by column: integers or numbers
 * @param most rows; `tooMany` makes the error for more
 */
export function columnsOfTable(
  table: Table,
  asked: Readonly<Record<string, 'u32' | 'f64'>>,
  range: TimeRange,
  most: number,
  tooMany: () => Error,
): ExportedColumns {
  const names = Object.keys(asked);
  const places = names.map((name) => table.columns.findIndex((column) => column.name === name));
  const isWhole = range.from === -Infinity && range.to === Infinity;
  const first = isWhole && table.rows !== null ? Math.min(most, table.rows) : FIRST;
  const times = new Growing(sharedDoubles(first));
  const columns = names.map(
    (name) => new Growing(asked[name] === 'u32' ? sharedWords(first) : sharedDoubles(first)),
  );
  let rows = 0;
  for (const piece of table.pieces) {
    const { part, time, shift, from: sources } = piece;
    if (time === null) continue;
    const wanted = places.map((place) => (place < 0 ? -1 : sources[place]));
    const read = [...new Set([time, ...wanted.filter((source) => source >= 0)])];
    for (const step of part.read(read, withinOf(piece, range) ?? undefined)) {
      const t = new Float64Array(step.rows);
      const kept = new Uint32Array(step.rows);
      const own = step.columns[read.indexOf(time)];
      let count = 0;
      for (let row = 0; row < step.rows; row++) {
        const at = (own[row] as number) + shift;
        // A missing time lies in no range.
        if (!(at >= range.from && at <= range.to)) continue;
        t[count] = at;
        kept[count++] = row;
      }
      if (rows + count > most) throw tooMany();
      const some = count === step.rows ? null : kept;
      times.append(rows, t, count, null);
      for (const [k, source] of wanted.entries()) {
        const column = source < 0 ? null : step.columns[read.indexOf(source)];
        columns[k].append(rows, column, count, some);
      }
      rows += count;
    }
  }
  return {
    rows,
    t: times.take(rows) as Float64Array,
    columns: Object.fromEntries(names.map((name, k) => [name, columns[k].take(rows)])),
  };
}
