/** Rows of one schema, gathered to a batch. */
import type { Batch, Cell, Column, Schema } from './metric.ts';

type Value = number | bigint | string;

const MAKE: Readonly<Record<Cell, (values: readonly Value[]) => Column>> = {
  u32: (values) => Uint32Array.from(values, Number),
  i32: (values) => Int32Array.from(values, Number),
  u64: (values) => BigUint64Array.from(values as bigint[]),
  f32: (values) => Float32Array.from(values, Number),
  f64: (values) => Float64Array.from(values, Number),
  label: (values) => values.map(String),
};

export class RowBatch {
  private readonly schema: Schema;
  private rows: (readonly Value[])[] = [];

  constructor(schema: Schema) {
    this.schema = schema;
  }

  /** @param row by column of the schema; of 64 bits as bigint */
  add(row: readonly Value[]): void {
    this.rows.push(row);
  }

  /** What was added since the last; null where there is nothing. */
  take(): Batch | null {
    const rows = this.rows;
    if (rows.length === 0) return null;
    this.rows = [];
    const { metrics } = this.schema;
    return {
      schema: this.schema,
      rows: rows.length,
      columns: metrics.map(({ cell }, k) => MAKE[cell](rows.map((row) => row[k]))),
    };
  }
}
