/** A file of any known format as parts of tables: read again for each query, only the columns that it asks for. */
import type { FileSource, Format } from '../formats/format.ts';
import type { RawColumn, RawRows } from '../formats/frames/index.ts';
import type { Batch, Schema } from '../model/metric.ts';
import type { TablePart } from './part.ts';

export class FormatPart implements TablePart {
  readonly schema: Schema;
  /** Formats do not count rows beforehand. */
  readonly rows = null;
  readonly labels: readonly (string[] | null)[];
  readonly #codes: readonly (Map<string, number> | null)[];
  readonly #format: Format;
  readonly #source: FileSource;

  /** Reads the label columns once: a table's labels must be known before its rows. */
  constructor(format: Format, source: FileSource, schema: Schema) {
    this.schema = schema;
    this.labels = schema.metrics.map(({ cell }) => (cell === 'label' ? [] : null));
    this.#codes = this.labels.map((labels) => labels && new Map<string, number>());
    this.#format = format;
    this.#source = source;
    const columns = schema.metrics.flatMap(({ cell }, k) => (cell === 'label' ? [k] : []));
    if (columns.length === 0) return;
    for (const batch of this.#batches(columns)) {
      for (const column of columns) this.#coded(batch, column);
    }
  }

  *read(columns: readonly number[]): Generator<RawRows, void, undefined> {
    for (const batch of this.#batches(columns)) {
      yield { rows: batch.length, columns: columns.map((column) => this.#coded(batch, column)) };
    }
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
