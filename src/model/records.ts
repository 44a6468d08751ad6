/**
 * Fields that hold records: arrays and queues whose elements have several fields. Each field of a record takes a cell, 8 bytes.
 *
 *     ring   head (u32) · count (u32)     record 0: a cell per field     record 1 …
 *     array                               record 0: a cell per field     record 1 …
 */
import type { Cells, CellsField } from './cells.ts';
import { FieldOverflowError, FieldUseError } from './field-error.ts';
import { didYouMean } from './nearest.ts';
import type { Scalar, ScalarValue, WordField } from './struct.ts';
import { check, fail, sealed, wordIndex } from './struct-class.ts';

/** What a field of a record may be: 64-bit integers are left out. */
export type RecordFields = Readonly<Record<string, Exclude<Scalar, 'i64' | 'u64'> | WordField>>;

/** A record: a value for each of its fields. */
export type RecordOf<F extends RecordFields> = {
  readonly [K in keyof F]: F[K] extends WordField<infer W>
    ? W
    : F[K] extends Scalar
      ? ScalarValue<F[K]>
      : never;
};

/** An array of records that is only read. */
export interface ReadonlyRecordArray<F extends RecordFields> {
  /** Number of records. */
  readonly length: number;
  /** A copy of the record at `index`. @throws RangeError outside of 0…length-1 */
  get(index: number): RecordOf<F>;
}

/** An array of records, all zero at the start. */
export interface RecordArray<F extends RecordFields> extends ReadonlyRecordArray<F> {
  /** Changes those fields of the record at `index` that `values` has. @throws RangeError outside of 0…length-1 */
  set(index: number, values: Partial<RecordOf<F>>): void;
}

/** A queue of records that is only read: index 0 is the oldest. */
export interface ReadonlyRecordRing<F extends RecordFields> extends ReadonlyRecordArray<F> {
  /** Number of records that it can hold. */
  readonly capacity: number;
}

/** A bounded queue of records: index 0 is the oldest. */
export interface RecordRing<F extends RecordFields> extends ReadonlyRecordRing<F>, RecordArray<F> {
  /** Appends a record. @throws RangeError where the ring is full */
  push(record: RecordOf<F>): void;
  /** Removes the oldest record and returns it. @throws RangeError where there is none */
  shift(): RecordOf<F>;
  /** Removes all records. */
  clear(): void;
}

type AnyRecord = Readonly<Record<string, number | boolean | string>>;

/** Reads and writes one record at some cell. */
interface Codec {
  /** Cells of a record. */
  readonly cells: number;
  read(cells: Cells, at: number): AnyRecord;
  /** Writes all fields. */
  write(cells: Cells, at: number, record: AnyRecord): void;
  /** Writes those that are given. */
  change(cells: Cells, at: number, values: Partial<AnyRecord>): void;
}

const isWord = (field: Scalar | WordField): field is WordField => typeof field === 'object';

const SCALARS = ['i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'f32', 'f64', 'bool'];
const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

/** @throws TypeError for fields that a record cannot have */
function expectFields(what: string, fields: RecordFields): void {
  for (const [name, field] of Object.entries(fields)) {
    if (!NAME.test(name) || name === 'constructor')
      throw new TypeError(`${what}.${name}: a field's name must be a plain identifier`);
    if (isWord(field) ? field.kind === 'word' : SCALARS.includes(field)) continue;
    throw new TypeError(
      `${what}.${name}: a field of a record is one of ${SCALARS.join(', ')}, or word(…)`,
    );
  }
  if (Object.keys(fields).length === 0) throw new TypeError(`${what}: a record needs a field`);
}

/** Source that writes `v` into the cell of a field. */
function writing(name: string, field: Scalar | WordField, where: string, cell: string): string {
  if (isWord(field)) return `c.set(${cell}, indexOf(words.${name}, ${where} + '.${name}', v));`;
  const stored = { f64: 'v', f32: 'Math.fround(v)', bool: '(v ? 1 : 0)' };
  // Of integers, -0 is 0, as in a field of that width.
  const kept = field in stored ? stored[field as keyof typeof stored] : '(v + 0)';
  return `${check(field, `${where} + '.${name}'`)} c.set(${cell}, ${kept});`;
}

/** Functions made for these fields: objects with fields by name are several times slower to make in a loop. */
function codecOf(fields: RecordFields): Codec {
  const names = Object.entries(fields);
  const known = names.map(([name]) => name);
  const words: Record<string, WordField> = {};
  for (const [name, field] of names) if (isWord(field)) words[name] = field;
  const unknown = (where: string, given: object): never => {
    const missing = known.find((name) => !(name in given));
    const odd = Object.keys(given).find((name) => !known.includes(name));
    if (odd === undefined) throw new FieldUseError(`${where}: the record lacks ${missing}`);
    const near = didYouMean(odd, known);
    throw new FieldUseError(
      `${where}.${odd}: no such field${near === '' ? `; there are ${known.join(', ')}` : near}`,
    );
  };
  const read = names.map(([name, field], k) => {
    const cell = `c.get(at + ${k})`;
    if (isWord(field)) return `${name}: words.${name}.words[${cell}]`;
    return `${name}: ${field === 'bool' ? `${cell} !== 0` : cell}`;
  });
  const write = names.map(
    ([name, field], k) => `v = r.${name}; ${writing(name, field, 'c.where', `at + ${k}`)}`,
  );
  const change = names.map(
    ([name, field], k) =>
      `case '${name}': v = r.${name}; ${writing(name, field, 'c.where', `at + ${k}`)} break;`,
  );
  const source = `return {
    cells: ${names.length},
    read(c, at) { return { ${read.join(', ')} }; },
    write(c, at, r) {
      let n = 0;
      for (const key in r) n++;
      if (n !== ${names.length}) unknown(c.where, r);
      let v; ${write.join('\n')}
    },
    change(c, at, r) {
      let v;
      for (const key in r) switch (key) { ${change.join('\n')} default: unknown(c.where, r); }
    },
  };`;
  return new Function('fail', 'words', 'indexOf', 'unknown', source)(
    fail,
    words,
    wordIndex,
    unknown,
  ) as Codec;
}

function expectIndex(where: string, index: number, length: number): void {
  if (index >>> 0 === index && index < length) return;
  throw new FieldOverflowError(`${where}[${String(index)}]: index outside 0..${length - 1}`);
}

class LpRecords {
  readonly length: number;
  private readonly cells: Cells;
  private readonly codec: Codec;

  constructor(cells: Cells, codec: Codec, length: number) {
    this.cells = cells;
    this.codec = codec;
    this.length = length;
  }

  get(index: number): AnyRecord {
    expectIndex(this.cells.where, index, this.length);
    return this.codec.read(this.cells, index * this.codec.cells);
  }

  set(index: number, values: Partial<AnyRecord>): void {
    expectIndex(this.cells.where, index, this.length);
    this.codec.change(this.cells, index * this.codec.cells, values);
  }

  toJSON(): AnyRecord[] {
    return Array.from({ length: this.length }, (_, k) => this.get(k));
  }
}
sealed(LpRecords, 'an array of records', ['cells', 'codec', 'length']);

class LpRecordRing {
  readonly capacity: number;
  private readonly cells: Cells;
  private readonly codec: Codec;

  constructor(cells: Cells, codec: Codec, capacity: number) {
    this.cells = cells;
    this.codec = codec;
    this.capacity = capacity;
  }

  get length(): number {
    return this.cells.half(1);
  }

  /** First cell of the record at `index`, counted from the oldest. */
  private at(index: number): number {
    const slot = this.cells.half(0) + index;
    return 1 + (slot < this.capacity ? slot : slot - this.capacity) * this.codec.cells;
  }

  get(index: number): AnyRecord {
    expectIndex(this.cells.where, index, this.length);
    return this.codec.read(this.cells, this.at(index));
  }

  set(index: number, values: Partial<AnyRecord>): void {
    expectIndex(this.cells.where, index, this.length);
    this.codec.change(this.cells, this.at(index), values);
  }

  push(record: AnyRecord): void {
    const { cells, capacity, length } = this;
    if (length === capacity)
      throw new FieldOverflowError(`${cells.where}: the ring is full (capacity ${capacity})`);
    this.codec.write(cells, this.at(length), record);
    cells.setHalf(1, length + 1);
  }

  shift(): AnyRecord {
    const { cells, length } = this;
    if (length === 0) throw new FieldOverflowError(`${cells.where}: the ring is empty`);
    const oldest = this.codec.read(cells, this.at(0));
    const next = cells.half(0) + 1;
    cells.setHalf(0, next === this.capacity ? 0 : next);
    cells.setHalf(1, length - 1);
    return oldest;
  }

  clear(): void {
    this.cells.setHalf(0, 0);
    this.cells.setHalf(1, 0);
  }

  toJSON(): AnyRecord[] {
    return Array.from({ length: this.length }, (_, k) => this.get(k));
  }
}
sealed(LpRecordRing, 'a ring of records', ['cells', 'codec', 'capacity']);

/** A field that is `length` records. @throws TypeError for fields that a record cannot have */
export function recordArray<F extends RecordFields>(
  fields: F,
  length: number,
): CellsField<RecordArray<F>, ReadonlyRecordArray<F>> {
  expectFields('array()', fields);
  const codec = codecOf(fields);
  return {
    kind: 'cells',
    cells: codec.cells * length,
    view: (cells) => new LpRecords(cells, codec, length) as unknown as RecordArray<F>,
  };
}

/** A field that is a queue of at most `capacity` records. @throws TypeError for fields that a record cannot have */
export function recordRing<F extends RecordFields>(
  fields: F,
  capacity: number,
): CellsField<RecordRing<F>, ReadonlyRecordRing<F>> {
  expectFields('ring()', fields);
  const codec = codecOf(fields);
  return {
    kind: 'cells',
    cells: 1 + codec.cells * capacity,
    view: (cells) => new LpRecordRing(cells, codec, capacity) as unknown as RecordRing<F>,
  };
}
