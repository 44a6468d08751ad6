/**
 * Records of one type of a raw stats file as a table. Such files are text, and an archive of them may be larger than
 * memory: as far as there is room columns are kept, beyond it each reading takes the type's lines again.
 */
import type { Schema } from '../../model/metric.ts';
import { FilePart } from '../file-part.ts';
import { type FileSource, FormatError, type PassOptions } from '../format.ts';
import {
  arrayFor,
  type Codes,
  type Part,
  type RawColumn,
  type RawOrigin,
  type RawRows,
} from '../part.ts';
import { blocksOf } from './blocks.ts';
import { RawParser } from './parser.ts';
import { MARK_SCHEMA, type RawSchema, RECORD_COLUMNS, tableSchema } from './schema.ts';
import type { RawGroup, RawVisitor } from './visitor.ts';

/** Rows of a block that is read at once, and of the first block, which is small: most types of most files have few rows. */
const ROWS = 4096;
const FIRST_ROWS = 64;
const FIRST_KEY = RECORD_COLUMNS.length;
const [TIME, HOST, JOBS, NAME] = [0, 1, 2, 3];

/** What the lines before a record say of it. */
export class RecordPlace {
  private seconds = 0;
  private host = '';
  private jobs = '-';
  private boot = Number.NaN;
  line = 0;
  private _host = '';

  property(name: string, value: string): void {
    if (name === 'hostname') this._host = value.trim();
  }

  group({ seconds, host, jobIds, boot, line }: RawGroup): void {
    this.seconds = seconds;
    this.host = host ?? this._host;
    this.jobs = jobIds.length === 0 ? '-' : jobIds.join(',');
    this.boot = boot ?? Number.NaN;
    this.line = line;
  }

  /** What stands in a column that is none of a key. @param name the device, or of a mark its text; null for a group */
  cell(column: number, name: string | null, codes: Codes | null): number {
    if (column === TIME) return this.seconds;
    if (codes === null) return column === NAME ? this.boot : this.line;
    return codes.of(column === HOST ? this.host : column === JOBS ? this.jobs : (name ?? ''));
  }
}

/** Fills the asked columns of one type's records. */
class Columns {
  private readonly schema: Schema;
  private readonly asked: readonly number[];
  private readonly codes: readonly (Codes | null)[];
  private readonly send: (rows: RawRows) => void;
  private rows = 0;
  private most = FIRST_ROWS;
  /** New ones for each block: the last one's are the receiver's. */
  private arrays: RawColumn[] = [];
  /** By asked column: the memory of a key's values as words; null for other columns. */
  private words: (Uint32Array | null)[] = [];
  private values: BigUint64Array | null = null;
  private valueWords: Uint32Array = new Uint32Array(0);

  constructor(
    schema: Schema,
    asked: readonly number[],
    codes: readonly (Codes | null)[],
    send: (rows: RawRows) => void,
  ) {
    this.schema = schema;
    this.asked = asked;
    this.codes = codes;
    this.send = send;
  }

  /** @param values null for marks and groups */
  add(place: RecordPlace, name: string | null, values: BigUint64Array | null): void {
    if (this.rows === 0) this.begin();
    const row = this.rows++;
    if (values !== null && values !== this.values) {
      // The parser gives the same array for all records of a type.
      this.values = values;
      this.valueWords = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
    }
    const from = this.valueWords;
    for (let k = 0; k < this.asked.length; k++) {
      const column = this.asked[k];
      const words = this.words[k];
      if (words !== null) {
        const at = 2 * (column - FIRST_KEY);
        words[2 * row] = from[at];
        words[2 * row + 1] = from[at + 1];
      } else this.arrays[k][row] = place.cell(column, name, this.codes[column]);
    }
    if (this.rows === this.most) this.flush();
  }

  flush(): void {
    if (this.rows === 0) return;
    const rows = this.rows;
    this.rows = 0;
    const columns = this.arrays.map((array) => array.subarray(0, rows) as RawColumn);
    // Where there was a full block there are more.
    if (rows === this.most) this.most = ROWS;
    this.send({ rows, columns });
  }

  private begin(): void {
    const { metrics } = this.schema;
    this.arrays = this.asked.map((column) => arrayFor(metrics[column].cell, this.most));
    this.words = this.arrays.map((array) =>
      array instanceof BigUint64Array ? new Uint32Array(array.buffer) : null,
    );
  }
}

/** The newest record as a row of all columns. Its values are where the parser has them: nothing is copied. */
class NewestRow implements RawRows {
  readonly rows = 1;
  private line = -1;
  columns: readonly RawColumn[] = [];
  values: BigUint64Array = new BigUint64Array(0);

  /** Whether its group is another than the one of the row before. */
  set(
    part: RawPart,
    place: RecordPlace,
    name: string | null,
    values: BigUint64Array | null,
  ): boolean {
    if (this.columns.length === 0) this.begin(part.schema, values);
    const isNext = place.line !== this.line;
    if (isNext) {
      this.line = place.line;
      for (let k = 0; k < NAME; k++) this.columns[k][0] = place.cell(k, name, part.codes[k]);
    }
    if (name !== null) this.columns[NAME][0] = place.cell(NAME, name, part.codes[NAME]);
    else for (let k = NAME; k <= FIRST_KEY; k++) this.columns[k][0] = place.cell(k, name, null);
    return isNext;
  }

  /** The parser gives the same array for all records of a schema. */
  private begin({ metrics }: Schema, values: BigUint64Array | null): void {
    this.values = values ?? this.values;
    this.columns = metrics.map(({ cell }, column) => {
      const at = column - FIRST_KEY;
      return values === null || at < 0 ? arrayFor(cell, 1) : values.subarray(at, at + 1);
    });
  }
}

interface RawPartOptions {
  /** See `PassOptions`. */
  readonly keep: PassOptions['keep'];
  /** Whether rows that come later are told. */
  readonly growing: boolean;
  /** See `RawOpenOptions`. */
  readonly inOrder: boolean;
}

/** A table of a raw stats file: of a type's records, of marks, of groups. */
export interface RawTable extends Part {
  readonly raw: RawOrigin;
  /** As the file describes its records; null for marks and groups. */
  readonly type: RawSchema | null;
  /** Of rows that are told in order: the newest record's values, side by side. */
  readonly values: BigUint64Array;
}

export class RawPart extends FilePart implements RawTable {
  readonly type: RawSchema | null;
  readonly raw: RawOrigin;
  private readonly source: FileSource;
  /** It is the n-th schema of its type in the file, from 0. */
  private readonly nth: number;
  private readonly columns: Columns;
  private readonly newest: NewestRow | null;
  /** Receivers of rows as they are read. */
  private take: ((rows: RawRows) => void) | null = null;

  constructor(
    source: FileSource,
    type: RawSchema | Schema,
    nth: number,
    raw: RawOrigin,
    { keep, growing, inOrder }: RawPartOptions,
  ) {
    const schema = 'keys' in type ? tableSchema(type) : type;
    super(schema, keep);
    this.source = source;
    this.type = 'keys' in type ? type : null;
    this.newest = inOrder ? new NewestRow() : null;
    this.nth = nth;
    this.raw = raw;
    // Without a use for its values a file is only looked through.
    const all = [...schema.metrics.keys()];
    const asked = keep === undefined && !growing ? all.slice(0, FIRST_KEY) : all;
    this.columns = new Columns(schema, asked, this.codes, (rows) => this.see(rows));
  }

  get values(): BigUint64Array {
    return this.newest?.values ?? new BigUint64Array(0);
  }

  /** Counts a record in. @param name the device, or of a mark its text; null for a group */
  add(place: RecordPlace, name: string | null, values: BigUint64Array | null): void {
    if (this.newest === null) this.columns.add(place, name, values);
    else {
      this.count++;
      if (this.newest.set(this, place, name, values)) this.course.see(this.newest.columns[TIME]);
      this.take?.(this.newest);
    }
  }

  /** Ends what was added so far. With `take`, it gets what is added from now on. */
  flush(take: ((rows: RawRows) => void) | null = null): void {
    this.columns.flush();
    this.take = take;
  }

  private see(step: RawRows): void {
    const { rows, columns } = step;
    this.count += rows;
    this.course.see(columns[TIME]);
    this.take?.(step);
    if (this.kept) this.memory.add(step);
  }

  protected *decode(asked: readonly number[]): Generator<RawRows, void, undefined> {
    const ready: RawRows[] = [];
    const columns = new Columns(this.schema, asked, this.codes, (rows) => ready.push(rows));
    const parser = this.parserInto(columns);
    let left = this.count;
    try {
      for (const block of blocksOf(this.source)) {
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
    }
    columns.flush();
    for (const rows of ready) {
      if (left > 0) yield cut(rows, left);
      left -= rows.rows;
    }
  }

  /** A parser that puts the part's records, and no others, into columns. */
  private parserInto(columns: Columns): RawParser {
    const place = new RecordPlace();
    const where = {
      property: (name: string, value: string) => place.property(name, value),
      group: (group: RawGroup) => place.group(group),
    };
    if (this.schema === MARK_SCHEMA) {
      const mark = (text: string) => columns.add(place, text, null);
      return new RawParser({ ...where, mark }, { types: [] });
    }
    if (this.type === null) {
      const group = (group: RawGroup) => {
        place.group(group);
        columns.add(place, null, null);
      };
      return new RawParser({ ...where, group }, { types: [] });
    }
    const { type } = this.type;
    let seen = -1;
    const visitor: RawVisitor = {
      ...where,
      schema: (schema: RawSchema) => {
        if (schema.type === type) seen++;
      },
      record: (_, device, values) => {
        if (seen === this.nth) columns.add(place, device, values);
      },
    };
    return new RawParser(visitor, { types: [type] });
  }
}

const cut = ({ rows, columns }: RawRows, most: number): RawRows =>
  rows <= most
    ? { rows, columns }
    : { rows: most, columns: columns.map((column) => column.subarray(0, most) as RawColumn) };
