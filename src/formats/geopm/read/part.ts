/** A table of one of GEOPM's files: turns rows into the columns that are asked for. */

import { FilePart } from '../../file-part.ts';
import type { PassOptions } from '../../format.ts';
import { arrayFor, type RawColumn, type RawRows } from '../../part.ts';
import type { TextRow } from './records.ts';
import type { GeopmTable } from './tables.ts';

export class GeopmPart extends FilePart {
  private readonly table: GeopmTable;
  private readonly _read: () => Iterable<readonly TextRow[]>;

  /** @param read gives the file's rows, some at a time @param keep where reading them again is slow */
  constructor(
    table: GeopmTable,
    read: () => Iterable<readonly TextRow[]>,
    keep?: PassOptions['keep'],
  ) {
    super(table.schema, keep);
    this.table = table;
    this._read = read;
  }

  /** Counts rows. */
  see(rows: readonly TextRow[]): void {
    this.count += rows.length;
    this.codes.forEach((codes, k) => {
      if (codes !== null) this.column(k, rows);
    });
    if (this.time !== null) this.course.see(this.column(this.time, rows));
    if (this.kept) this.memory.add(this.rowsOf(rows));
  }

  /** Columns of the rows that were counted; all columns if none are named. */
  rowsOf(rows: readonly TextRow[], asked: Iterable<number> = this.schema.metrics.keys()): RawRows {
    return { rows: rows.length, columns: Array.from(asked, (k) => this.column(k, rows)) };
  }

  protected *decode(asked: readonly number[]): Generator<RawRows, void, undefined> {
    for (const rows of this._read()) yield this.rowsOf(rows, asked);
  }

  private column(column: number, rows: readonly TextRow[]): RawColumn {
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
