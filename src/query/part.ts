/** Rows of one schema from one place: what a table is made of. */
import type { RawColumn, RawRows } from '../formats/frames/index.ts';
import type { Batch, Schema } from '../model/metric.ts';

/** What a raw stats file says about the records of one of its headers, which its counters' repair needs. */
export interface RawOrigin {
  /** When the host was started, s since 1970; null where that is not known. */
  readonly boot: number | null;
  /** See `scalesEnergy`. */
  readonly scaledEnergy: boolean;
}

/** Rows that can be read again and again, a few columns at a time. `FrameTable` is one. */
export interface TablePart {
  readonly schema: Schema;
  /** Null where only reading tells. */
  readonly rows: number | null;
  /** By column: the labels that its cells are indexes into; null for a column of numbers. '' is missing. */
  readonly labels: readonly (readonly string[] | null)[];
  /** Of records of a raw stats file. */
  readonly raw?: RawOrigin | null;
  /** Reads the columns of these numbers, some rows a step. */
  read(columns: readonly number[]): Iterable<RawRows>;
}

/** Batches kept in memory: for formats that can only be read as a whole. */
export class MemoryPart implements TablePart {
  readonly schema: Schema;
  readonly labels: readonly (string[] | null)[];
  readonly raw: RawOrigin | null;
  readonly #codes: readonly (Map<string, number> | null)[];
  readonly #rows: RawRows[] = [];
  #total = 0;

  constructor(schema: Schema, raw: RawOrigin | null = null) {
    this.schema = schema;
    this.raw = raw;
    this.labels = schema.metrics.map(({ cell }) => (cell === 'label' ? [] : null));
    this.#codes = this.labels.map((labels) => labels && new Map<string, number>());
  }

  get rows(): number {
    return this.#total;
  }

  /** Keeps a batch; its columns are not copied. */
  add({ columns, length }: Batch): void {
    if (length === 0) return;
    this.#total += length;
    const raw = columns.map((column, k) => {
      const labels = this.labels[k];
      if (labels === null) return (column as RawColumn).subarray(0, length);
      const codes = this.#codes[k] as Map<string, number>;
      return Uint32Array.from(column as readonly string[], (text) => {
        let code = codes.get(text);
        if (code === undefined) {
          code = labels.push(text) - 1;
          codes.set(text, code);
        }
        return code;
      });
    });
    this.#rows.push({ rows: length, columns: raw });
  }

  *read(columns: readonly number[]): Generator<RawRows, void, undefined> {
    for (const { rows, columns: all } of this.#rows) {
      yield { rows, columns: columns.map((column) => all[column]) };
    }
  }
}

/** Where a part's time column lies on the recording's timeline. */
export interface PlacedPart {
  readonly part: TablePart;
  /** Number of the column with the time; null where there is none. */
  readonly time: number | null;
  /** Seconds to add to it: then it is the time since the recording's start. */
  readonly shift: number;
  /** Where it is from. */
  readonly file: string;
}

/** What a reader could not use, or found doubtful. */
export interface Suspect {
  readonly file: string;
  readonly what: string;
}
