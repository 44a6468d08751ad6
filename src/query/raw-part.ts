/**
 * Records of one type of a raw stats file. Such files are text, and an archive of them may be larger than memory: up to
 * a budget their columns are kept, beyond it each query reads its type's lines again.
 */

import { FormatError } from '../formats/format.ts';
import type { RawColumn, RawRows } from '../formats/frames/index.ts';
import { openFile } from '../formats/source.ts';
import { blocksOf, RawParser, type RawVisitor } from '../formats/tacc/index.ts';
import { type Batch, CELL_BYTES, type Schema } from '../model/metric.ts';
import type { RawOrigin, TablePart, TimeSpan, Within } from './part.ts';

/** Rows read at once. */
const ROWS = 4096;
/** Columns before the keys: time, host, jobids, device; of a mark the last is its text. */
const FIRST_KEY = 4;
const MARKS = 'node_mark';

/** What is left for the columns of files read so far. */
export class KeptBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** Takes bytes; false where there are not so many, then and from then on. */
  take(bytes: number): boolean {
    this.#left -= bytes;
    return !this.isSpent;
  }
}

/** Codes of a column's texts, as they come. */
class Codes {
  readonly labels: string[] = [];
  readonly #codes = new Map<string, number>();
  #text: string | null = null;
  #code = 0;

  of(text: string): number {
    if (text === this.#text) return this.#code;
    let code = this.#codes.get(text);
    if (code === undefined) {
      code = this.labels.push(text) - 1;
      this.#codes.set(text, code);
    }
    this.#text = text;
    this.#code = code;
    return code;
  }
}

export class RawPart implements TablePart {
  readonly schema: Schema;
  readonly raw: RawOrigin;
  readonly labels: readonly (readonly string[] | null)[];
  readonly #path: string;
  /** It is the n-th schema of its type in the file, from 0. */
  readonly #nth: number;
  readonly #codes: readonly (Codes | null)[];
  #rows: RawRows[] | null = [];
  #total = 0;
  #from = Number.POSITIVE_INFINITY;
  #to = Number.NEGATIVE_INFINITY;
  #ordered = true;

  constructor(path: string, schema: Schema, nth: number, raw: RawOrigin) {
    this.#path = path;
    this.schema = schema;
    this.#nth = nth;
    this.raw = raw;
    this.#codes = schema.metrics.map(({ cell }) => (cell === 'label' ? new Codes() : null));
    this.labels = this.#codes.map((codes) => codes?.labels ?? null);
  }

  get rows(): number {
    return this.#total;
  }

  get span(): TimeSpan {
    return { from: this.#from, to: this.#to, ordered: this.#ordered };
  }

  get kept(): boolean {
    return this.#rows !== null;
  }

  /** Counts a batch in, and keeps it while `budget` lasts; its columns are not copied. */
  add({ columns, length }: Batch, budget: KeptBudget): void {
    if (length === 0) return;
    this.#total += length;
    for (const time of (columns[0] as Float64Array).subarray(0, length)) {
      if (time < this.#to) this.#ordered = false;
      if (time < this.#from) this.#from = time;
      if (time > this.#to) this.#to = time;
    }
    let bytes = 0;
    const raw = columns.map((column, k): RawColumn => {
      const codes = this.#codes[k];
      bytes += CELL_BYTES[this.schema.metrics[k].cell] * length;
      // A copy where the reader's array is longer: the rest of it would stay too.
      if (codes === null) return exact(column as RawColumn, length);
      const coded = new Uint32Array(length);
      for (let row = 0; row < length; row++) coded[row] = codes.of(column[row] as string);
      return coded;
    });
    if (this.#rows !== null && budget.take(bytes)) this.#rows.push({ rows: length, columns: raw });
    else this.#rows = null;
  }

  /** Lets go of the columns: from now on they are read from the file. */
  release(): void {
    this.#rows = null;
  }

  *read(columns: readonly number[], within?: Within): Generator<RawRows, void, undefined> {
    if (this.#rows === null) {
      yield* this.#again(columns);
      return;
    }
    for (const { rows, columns: all } of this.#rows) {
      if (within !== undefined && this.#ordered) {
        const times = all[within.time];
        if (times[0] > within.to || times[rows - 1] < within.from) continue;
      }
      yield { rows, columns: columns.map((column) => all[column]) };
    }
  }

  /** Reads the file. What came to it since it was opened is left out. */
  *#again(columns: readonly number[]): Generator<RawRows, void, undefined> {
    const ready: RawRows[] = [];
    const gather = new Gather(this.schema, this.#nth, columns, this.#codes, (rows) =>
      ready.push(rows),
    );
    const parser = new RawParser(gather, { types: [gather.type] });
    let left = this.#total;
    const source = openFile(this.#path);
    try {
      for (const block of blocksOf(source)) {
        parser.push(block);
        for (const rows of ready.splice(0)) {
          yield cut(rows, left);
          left -= rows.rows;
        }
        if (left <= 0) return;
      }
    } catch (error) {
      // Damage was told when the file was opened; what came before it is there.
      if (!(error instanceof FormatError)) throw error;
    } finally {
      source.close();
    }
    gather.flush();
    for (const rows of ready) {
      if (left > 0) yield cut(rows, left);
      left -= rows.rows;
    }
  }
}

const exact = (column: RawColumn, length: number): RawColumn =>
  column.byteLength === column.buffer.byteLength && column.length === length
    ? column
    : column.slice(0, length);

const cut = ({ rows, columns }: RawRows, most: number): RawRows =>
  rows <= most
    ? { rows, columns }
    : { rows: most, columns: columns.map((column) => column.subarray(0, most) as RawColumn) };

/** Takes the asked columns of one type's records out of a file. */
class Gather implements RawVisitor {
  readonly type: string;
  readonly #nth: number;
  readonly #asked: readonly number[];
  readonly #codes: readonly (Codes | null)[];
  readonly #send: (rows: RawRows) => void;
  readonly #isMark: boolean;
  #seen = -1;
  #host = '';
  #jobs = '-';
  #groupHost = '';
  #seconds = 0;
  #rows = 0;
  #arrays: RawColumn[] = [];
  /** By asked column: the memory of a key's values as words; null for other columns. */
  #words: (Uint32Array | null)[] = [];
  #values: BigUint64Array | null = null;
  #valueWords: Uint32Array = new Uint32Array(0);

  constructor(
    schema: Schema,
    nth: number,
    asked: readonly number[],
    codes: readonly (Codes | null)[],
    send: (rows: RawRows) => void,
  ) {
    this.#isMark = schema.name === MARKS;
    this.type = schema.name.replace(/^node_/, '');
    this.#nth = nth;
    this.#asked = asked;
    this.#codes = codes;
    this.#send = send;
  }

  property(name: string, value: string): void {
    if (name === 'hostname') this.#host = value.trim();
  }

  schema({ type }: { readonly type: string }): void {
    if (type === this.type && !this.#isMark) this.#seen++;
  }

  group({
    seconds,
    host,
    jobIds,
  }: {
    seconds: number;
    host: string | null;
    jobIds: readonly string[];
  }): void {
    this.#seconds = seconds;
    this.#groupHost = host ?? this.#host;
    this.#jobs = jobIds.length === 0 ? '-' : jobIds.join(',');
  }

  mark(text: string): void {
    if (this.#isMark) this.#add(text, null);
  }

  record(_: unknown, device: string, values: BigUint64Array): void {
    if (!this.#isMark && this.#seen === this.#nth) this.#add(device, values);
  }

  flush(): void {
    if (this.#rows === 0) return;
    const rows = this.#rows;
    this.#rows = 0;
    this.#send({
      rows,
      columns: this.#arrays.map((array) => array.subarray(0, rows) as RawColumn),
    });
  }

  #add(name: string, values: BigUint64Array | null): void {
    if (this.#rows === 0) this.#begin();
    const row = this.#rows++;
    if (values !== null && values !== this.#values) {
      this.#values = values;
      this.#valueWords = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
    }
    const from = this.#valueWords;
    for (let k = 0; k < this.#asked.length; k++) {
      const column = this.#asked[k];
      const words = this.#words[k];
      if (words !== null) {
        const at = 2 * (column - FIRST_KEY);
        words[2 * row] = from[at];
        words[2 * row + 1] = from[at + 1];
      } else if (column === 0) this.#arrays[k][row] = this.#seconds;
      else this.#arrays[k][row] = this.#codes[column]?.of(this.#text(column, name)) ?? 0;
    }
    if (this.#rows === ROWS) this.flush();
  }

  #text(column: number, name: string): string {
    return column === 1 ? this.#groupHost : column === 2 ? this.#jobs : name;
  }

  /** New arrays for each block: the last one's are the receiver's. */
  #begin(): void {
    this.#arrays = this.#asked.map((column) => {
      if (column === 0) return new Float64Array(ROWS);
      return column < FIRST_KEY ? new Uint32Array(ROWS) : new BigUint64Array(ROWS);
    });
    this.#words = this.#arrays.map((array) =>
      array instanceof BigUint64Array ? new Uint32Array(array.buffer) : null,
    );
  }
}
