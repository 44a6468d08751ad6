/**
 * Structs of typed fields: the declared shape of an LP's state, of a message, of a sample.
 *
 * A declaration becomes a fixed byte layout and, from it, a generated accessor class (see
 * `struct-class.ts`). Natural alignment, fields in declared order, size rounded up to 8 bytes:
 *
 *     { count: 'u32', load: 'f64', route: array('u16', 3) }
 *     byte  0      4      8              16     22  24
 *           |count |  --  |     load     |route  |--|
 */

import type { CellsField } from './cells.ts';

/** A scalar field: its name says sign and width in bits; 64-bit integers are bigint in TypeScript. */
export type Scalar =
  | 'i8'
  | 'u8'
  | 'i16'
  | 'u16'
  | 'i32'
  | 'u32'
  | 'i64'
  | 'u64'
  | 'f32'
  | 'f64'
  | 'bool';

/** `length` elements of one scalar type, all present from the start (zero). */
export interface ArrayField<T extends Scalar = Scalar> {
  readonly kind: 'array';
  readonly of: T;
  readonly length: number;
}

/** A first-in first-out queue of at most `capacity` elements. */
export interface RingField<T extends Scalar = Scalar> {
  readonly kind: 'ring';
  readonly of: T;
  readonly capacity: number;
}

/** One of some words, which are declared: a number in memory, a string for handlers. */
export interface WordField<W extends string = string> {
  /** What tells it from other fields. */
  readonly kind: 'word';
  /** The words, in the order of their declaration. */
  readonly words: readonly W[];
  /** The number of each. */
  readonly numbers: ReadonlyMap<unknown, number>;
}

export type Field = Scalar | WordField | ArrayField | RingField | CellsField;

/**
 * How many: a number, or what a function makes of the model's options, by name: `array('f64', ({ places }) => places)`. Names
 * that the model does not declare are errors when it is loaded.
 */
export type Length = number | ((options: Readonly<Record<string, number>>) => number | undefined);

/** A field before the options are known that size it. */
interface SizedField {
  readonly kind: 'sized';
  make(options: Readonly<Record<string, number>>): Field;
}

const isSized = (field: Field): boolean =>
  typeof field === 'object' && field !== null && (field.kind as string) === 'sized';

/** A field of some length; one that options size is what `make` makes of them, once they are known (`sizedFields`). */
export function fieldOf<F extends Field>(length: Length, make: (length: number) => F): F {
  if (typeof length !== 'function') return make(length);
  const field: SizedField = { kind: 'sized', make: (options) => make(Number(length(options))) };
  // Nobody sees it as what it is: a model's fields are sized before they are laid out.
  return field as unknown as F;
}

/** Whether options size any of these fields. */
export const areSized = (fields: Fields): boolean => Object.values(fields).some(isSized);

/** The fields as they are for some values of the options. @throws RangeError for lengths that cannot be */
export function sizedFields(fields: Fields, options: Readonly<Record<string, unknown>>): Fields {
  if (!areSized(fields)) return fields;
  const made = (field: Field): Field =>
    isSized(field)
      ? made((field as unknown as SizedField).make(options as Readonly<Record<string, number>>))
      : field;
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, made(field)]));
}
/** Fields of a message or state by name, in the order in which they lie. */
export type Fields = Readonly<Record<string, Field>>;

/** What handlers see of a scalar field. */
export type ScalarValue<T extends Scalar> = T extends 'i64' | 'u64'
  ? bigint
  : T extends 'bool'
    ? boolean
    : number;

/** A fixed array inside a struct. Indices outside `0..length-1` throw. */
export interface ArrayView<V> {
  /** Number of elements. */
  readonly length: number;
  /** The element at `index`. @throws RangeError outside of 0…length-1 */
  get(index: number): V;
  /** Changes the element at `index`. @throws RangeError outside of 0…length-1 */
  set(index: number, value: V): void;
  /** Changes all elements to `value`. */
  fill(value: V): void;
}

/** A bounded queue inside a struct: index 0 is the oldest element. */
export interface RingView<V> {
  /** Number of elements that it holds. */
  readonly length: number;
  /** Number of elements that it can hold. */
  readonly capacity: number;
  /** The element at `index`, counted from the oldest. @throws RangeError outside of 0…length-1 */
  get(index: number): V;
  /** Appends `value`. @throws RangeError where the ring is full */
  push(value: V): void;
  /** Removes the oldest element and returns it. @throws RangeError where there is none */
  shift(): V;
  /** Removes all elements. */
  clear(): void;
}

/** An array that is only read. */
export type ReadonlyArrayView<V> = Pick<ArrayView<V>, 'length' | 'get'>;
/** A ring that is only read. */
export type ReadonlyRingView<V> = Pick<RingView<V>, 'length' | 'capacity' | 'get'>;

type FieldValue<F extends Field> = F extends Scalar
  ? ScalarValue<F>
  : F extends WordField<infer W>
    ? W
    : F extends ArrayField<infer T>
      ? ArrayView<ScalarValue<T>>
      : F extends RingField<infer T>
        ? RingView<ScalarValue<T>>
        : F extends CellsField<infer V, unknown>
          ? V
          : never;

type ScalarNames<F extends Fields> = {
  [K in keyof F]: F[K] extends Scalar | WordField ? K : never;
}[keyof F];

/** What a handler sees of a declared struct: scalars are plain properties, the rest are views. */
export type StructOf<F extends Fields> = {
  -readonly [K in ScalarNames<F>]: FieldValue<F[K]>;
} & {
  readonly [K in Exclude<keyof F, ScalarNames<F>>]: FieldValue<F[K]>;
};

/** A struct that is only read: its scalars, and of its arrays and rings what does not change them. */
export type ReadonlyStructOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Scalar
    ? ScalarValue<F[K]>
    : F[K] extends WordField<infer W>
      ? W
      : F[K] extends ArrayField<infer T>
        ? ReadonlyArrayView<ScalarValue<T>>
        : F[K] extends RingField<infer T>
          ? ReadonlyRingView<ScalarValue<T>>
          : F[K] extends CellsField<unknown, infer R>
            ? R
            : never;
};

const WIDTH: Readonly<Record<Scalar, number>> = {
  i8: 1,
  u8: 1,
  bool: 1,
  i16: 2,
  u16: 2,
  i32: 4,
  u32: 4,
  f32: 4,
  i64: 8,
  u64: 8,
  f64: 8,
};

/** Width of a scalar in bytes. */
export function widthOf(scalar: Scalar): number {
  return WIDTH[scalar];
}

/** How the number of a word is kept. */
export const wordScalar = ({ words }: WordField): 'u8' | 'u16' =>
  words.length <= 256 ? 'u8' : 'u16';

/** Where one field lies: byte offset from the struct's start. A ring has two u32 (head, count) first. */
interface FieldLayout {
  readonly name: string;
  readonly field: Field;
  readonly offset: number;
}

export interface StructLayout {
  readonly name: string;
  readonly fields: readonly FieldLayout[];
  /** Bytes, a multiple of 8; 0 for an empty struct. */
  readonly size: number;
}

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

/**
 * Lays out a declaration.
 * @throws TypeError that names the field for a name that is not an identifier or an unknown type.
 */
export function layoutOf(name: string, fields: Fields): StructLayout {
  let at = 0;
  const placed: FieldLayout[] = [];
  for (const [key, field] of Object.entries(fields)) {
    if (!NAME.test(key) || key === 'constructor') {
      throw new TypeError(`${name}.${key}: a field's name must be a plain identifier`);
    }
    if (typeof field === 'object' && field?.kind === 'cells') {
      at = Math.ceil(at / 8) * 8;
      placed.push({ name: key, field, offset: at });
      at += 8 * field.cells;
      continue;
    }
    if (typeof field === 'object' && field?.kind === 'word') {
      const bytes = widthOf(wordScalar(field));
      at = Math.ceil(at / bytes) * bytes;
      placed.push({ name: key, field, offset: at });
      at += bytes;
      continue;
    }
    const scalar = typeof field === 'string' ? field : field?.of;
    const width = WIDTH[scalar];
    const known =
      width !== undefined &&
      (typeof field === 'string' || field.kind === 'array' || field.kind === 'ring');
    if (!known) {
      throw new TypeError(
        `${name}.${key}: unknown field type ${JSON.stringify(field)}; use one of ${Object.keys(WIDTH).join(', ')}, word(…), array(…) or ring(…)`,
      );
    }
    const isRing = typeof field !== 'string' && field.kind === 'ring';
    const align = isRing ? Math.max(4, width) : width;
    at = Math.ceil(at / align) * align;
    placed.push({ name: key, field, offset: at });
    if (typeof field === 'string') at += width;
    else if (field.kind === 'array') at += width * field.length;
    else at += 8 + width * field.capacity;
  }
  return { name, fields: placed, size: Math.ceil(at / 8) * 8 };
}
