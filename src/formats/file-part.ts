/** What the parts of all files share that are decoded anew for each reading: labels, times, and rows in memory. */
import type { Schema } from '../model/metric.ts';
import { KeptRows } from './kept-rows.ts';
import {
  type Codes,
  Course,
  codesFor,
  type Part,
  type RawRows,
  rowsWithin,
  type TimeSpan,
  timeColumnOf,
  type Within,
} from './part.ts';

export abstract class FilePart implements Part {
  readonly schema: Schema;
  readonly codes: readonly (Codes | null)[];
  readonly labels: readonly (readonly string[] | null)[];
  protected readonly time: number | null;
  protected readonly course = new Course();
  protected readonly memory: KeptRows;
  protected count = 0;

  /** @param keep whether so many more bytes may stay in memory; without it nothing does */
  constructor(schema: Schema, keep: ((bytes: number) => boolean) | undefined) {
    this.schema = schema;
    this.codes = codesFor(schema);
    this.labels = this.codes.map((codes) => codes?.labels ?? null);
    this.time = timeColumnOf(schema);
    this.memory = new KeptRows(schema, keep);
  }

  get rows(): number {
    return this.count;
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

  read(columns: readonly number[], within?: Within): Iterable<RawRows> {
    const range = within?.time === this.time ? within : undefined;
    if (this.kept) return this.memory.read(columns, range, this.span);
    return rowsWithin((asked) => this.decode(asked), columns, this.course, range);
  }

  /** Reads these columns of the file. What came to it since it was opened is left out. */
  protected abstract decode(columns: readonly number[]): Iterable<RawRows>;
}
