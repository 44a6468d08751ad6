/** A table of one of GEOPM's files: turns rows into the columns that are asked for. */

import type { OpenOptions } from '../../format.ts';
import { KeptRows } from '../../kept-rows.ts';
import {
  arrayFor,
  type Codes,
  Course,
  codesFor,
  type Part,
  type RawColumn,
  type RawRows,
  rowsWithin,
  type TimeSpan,
  timeColumnOf,
  type Within,
} from '../../part.ts';
import type { Row } from './records.ts';
import type { GeopmTable } from './tables.ts';

export class GeopmPart implements Part {
  readonly schema;
  readonly labels;
  private readonly table: GeopmTable;
  private readonly _read: () => Iterable<readonly Row[]>;
  private readonly codes: readonly (Codes | null)[];
  private readonly time: number | null;
  private readonly course = new Course();
  private readonly memory: KeptRows;
  private _rows = 0;

  /** @param read gives the file's rows, some at a time @param keep where reading them again is slow */
  constructor(table: GeopmTable, read: () => Iterable<readonly Row[]>, keep?: OpenOptions['keep']) {
    this.schema = table.schema;
    this.table = table;
    this._read = read;
    this.codes = codesFor(table.schema);
    this.labels = this.codes.map((codes) => codes?.labels ?? null);
    this.time = timeColumnOf(table.schema);
    this.memory = new KeptRows(table.schema, keep);
  }

  get rows(): number {
    return this._rows;
  }

  get span(): TimeSpan | null {
    return this.course.span;
  }

  get kept(): boolean {
    return this.memory.isThere;
  }

  release(): void {
    this.memory.release();
  }

  /** Counts rows. */
  see(rows: readonly Row[]): void {
    this._rows += rows.length;
    this.codes.forEach((codes, k) => {
      if (codes !== null) this.column(k, rows);
    });
    if (this.time !== null) this.course.see(this.column(this.time, rows));
    if (this.memory.isThere) this.memory.add(this.rowsOf(rows));
  }

  /** Columns of the rows that were counted; all columns if none are named. */
  rowsOf(rows: readonly Row[], asked: Iterable<number> = this.schema.metrics.keys()): RawRows {
    return { rows: rows.length, columns: Array.from(asked, (k) => this.column(k, rows)) };
  }

  read(columns: readonly number[], within?: Within): Iterable<RawRows> {
    const range = within?.time === this.time ? within : undefined;
    if (this.memory.isThere) return this.memory.read(columns, range, this.span);
    return rowsWithin((asked) => this.all(asked), columns, this.course, range);
  }

  private *all(asked: readonly number[]): Generator<RawRows, void, undefined> {
    for (const rows of this._read()) yield this.rowsOf(rows, asked);
  }

  private column(column: number, rows: readonly Row[]): RawColumn {
    const { metric, of } = this.table.columns[column];
    const codes = this.codes[column];
    const values = arrayFor(metric.cell, rows.length);
    for (let k = 0; k < rows.length; k++) {
      const value = of(rows[k]);
      values[k] = codes === null ? (value as number) : codes.of(String(value));
    }
    return values;
  }
}
