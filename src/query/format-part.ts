/** A file of any known format as parts of tables: read again for each query, only the columns that it asks for. */
import type { FileSource, Format } from '../formats/format.ts';
import type { RawColumn, RawRows } from '../formats/frames/index.ts';
import type { Batch, Schema } from '../model/metric.ts';
import type { TablePart, Within } from './part.ts';
import { timeColumnOf } from './table.ts';

/** Times of rows in the order of the file, as far as it was read. */
class Course {
  #from = Infinity;
  #to = -Infinity;
  /** By how much a row is earlier than one before it, at most. */
  #back = 0;
  /** Whether all rows were seen. */
  whole = false;

  see(times: RawColumn): void {
    for (const time of times as Float64Array) {
      if (time < this.#from) this.#from = time;
      if (time > this.#to) this.#to = time;
      else if (this.#to - time > this.#back) this.#back = this.#to - time;
    }
  }

  isOutside({ from, to }: Within): boolean {
    return this.whole && (this.#to < from || this.#from > to);
  }

  /** Whether no row behind one of this time is within. */
  isBehind(time: number, { to }: Within): boolean {
    return this.whole && time - this.#back > to;
  }
}

export class FormatPart implements TablePart {
  readonly schema: Schema;
  /** Formats do not count rows beforehand. */
  readonly rows = null;
  readonly labels: readonly (string[] | null)[];
  readonly #codes: readonly (Map<string, number> | null)[];
  readonly #format: Format;
  readonly #source: FileSource;
  readonly #time: number | null;
  #course = new Course();

  /** Reads the label columns once: a table's labels must be known before its rows. */
  constructor(format: Format, source: FileSource, schema: Schema) {
    this.schema = schema;
    this.labels = schema.metrics.map(({ cell }) => (cell === 'label' ? [] : null));
    this.#codes = this.labels.map((labels) => labels && new Map<string, number>());
    this.#format = format;
    this.#source = source;
    this.#time = timeColumnOf(this);
    const columns = schema.metrics.flatMap(({ cell }, k) => (cell === 'label' ? [k] : []));
    if (columns.length === 0) return;
    for (const _ of this.read(this.#time === null ? columns : [...columns, this.#time]));
  }

  /** Ends where what follows is later than `within`, by what an earlier reading told of the order of times. */
  *read(columns: readonly number[], within?: Within): Generator<RawRows, void, undefined> {
    const time = this.#time;
    const range = within?.time === time ? within : undefined;
    if (range !== undefined && this.#course.isOutside(range)) return;
    const asked =
      range !== undefined && time !== null && !columns.includes(time)
        ? [...columns, time]
        : columns;
    const seen = !this.#course.whole && time !== null && asked.includes(time) ? new Course() : null;
    for (const batch of this.#batches(asked)) {
      const times = time !== null && asked.includes(time) ? this.#coded(batch, time) : null;
      if (times !== null) seen?.see(times);
      yield { rows: batch.length, columns: columns.map((column) => this.#coded(batch, column)) };
      const last = Number(times?.[batch.length - 1]);
      if (range !== undefined && this.#course.isBehind(last, range)) return;
    }
    if (seen === null) return;
    seen.whole = true;
    this.#course = seen;
  }

  /** Damage was told when the file was opened. */
  #batches(columns: readonly number[]): Iterable<Batch> {
    const { name, metrics } = this.schema;
    return this.#format.batches(this.#source, {
      salvage: true,
      reuse: true,
      tables: [name],
      columns: columns.map((column) => metrics[column].key),
    });
  }

  #coded({ schema, length, columns }: Batch, column: number): RawColumn {
    const { key } = this.schema.metrics[column];
    const values = columns[schema.metrics.findIndex((metric) => metric.key === key)];
    const labels = this.labels[column];
    const codes = this.#codes[column];
    if (labels === null || codes === null) return (values as RawColumn).subarray(0, length);
    const coded = new Uint32Array(length);
    let last: string | undefined;
    let code = 0;
    for (let row = 0; row < length; row++) {
      const text = (values as readonly string[])[row];
      if (text !== last) {
        code = codes.get(text) ?? -1;
        if (code < 0) {
          code = labels.push(text) - 1;
          codes.set(text, code);
        }
        last = text;
      }
      coded[row] = code;
    }
    return coded;
  }
}
