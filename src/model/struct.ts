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
interface ArrayField<T extends Scalar = Scalar> {
  readonly kind: 'array';
  readonly of: T;
  readonly length: number;
}

/** A first-in first-out queue of at most `capacity` elements. */
interface RingField<T extends Scalar = Scalar> {
  readonly kind: 'ring';
  readonly of: T;
  readonly capacity: number;
}

export type Field = Scalar | ArrayField | RingField | CellsField;
/** Fields of a message or state by name, in the order in which they lie. */
export type Fields = Readonly<Record<string, Field>>;

type ScalarValue<T extends Scalar> = T extends 'i64' | 'u64'
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
  : F extends ArrayField<infer T>
    ? ArrayView<ScalarValue<T>>
    : F extends RingField<infer T>
      ? RingView<ScalarValue<T>>
      : F extends CellsField<infer V, unknown>
        ? V
        : never;

type ScalarNames<F extends Fields> = {
  [K in keyof F]: F[K] extends Scalar ? K : never;
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
    : F[K] extends ArrayField<infer T>
      ? ReadonlyArrayView<ScalarValue<T>>
      : F[K] extends RingField<infer T>
        ? ReadonlyRingView<ScalarValue<T>>
        : F[K] extends CellsField<unknown, infer R>
          ? R
          : never;
};

/**
 * A field that is an array of fixed length.
 * @param length number of elements
 * @throws RangeError for a length that is not a positive integer
 * @example
 * ```ts
 * import { array, defineModel } from 'triscope/sim';
 *
 * export default defineModel({
 *   name: 'faces',
 *   lps: () => 10,
 *   state: { seen: array('u32', 6) },
 *   message: {},
 *   init: (lp) => void lp.send(lp.id, 1),
 *   forward(lp) {
 *     const face = lp.integer(0, 5);
 *     lp.state.seen.set(face, lp.state.seen.get(face) + 1);
 *     lp.send(lp.id, 1);
 *   },
 * });
 * ```
 */
export function array<T extends Scalar>(of: T, length: number): ArrayField<T> {
  if (!Number.isInteger(length) || length < 1) {
    throw new RangeError(`array('${of}', ${length}): the length must be a positive integer`);
  }
  return { kind: 'array', of, length };
}

/**
 * A field that is a queue of bounded length.
 * @param capacity number of elements that it can hold
 * @throws RangeError for a capacity that is not a positive integer
 * @example
 * ```ts
 * import { defineModel, ring } from 'triscope/sim';
 *
 * export default defineModel({
 *   name: 'line',
 *   lps: () => 10,
 *   state: { waiting: ring('f64', 100) }, // at most 100 times of arrival
 *   message: {},
 *   init: (lp) => void lp.send(lp.id, 1),
 *   forward(lp) {
 *     lp.state.waiting.push(lp.now);
 *     if (lp.state.waiting.length > 3) lp.state.waiting.shift();
 *     lp.send(lp.id, lp.exponential(1));
 *   },
 * });
 * ```
 */
export function ring<T extends Scalar>(of: T, capacity: number): RingField<T> {
  if (!Number.isInteger(capacity) || capacity < 1) {
    throw new RangeError(`ring('${of}', ${capacity}): the capacity must be a positive integer`);
  }
  return { kind: 'ring', of, capacity };
}

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
    const scalar = typeof field === 'string' ? field : field?.of;
    const width = WIDTH[scalar];
    const known =
      width !== undefined &&
      (typeof field === 'string' || field.kind === 'array' || field.kind === 'ring');
    if (!known) {
      throw new TypeError(
        `${name}.${key}: unknown field type ${JSON.stringify(field)}; use one of ${Object.keys(WIDTH).join(', ')}, array(…) or ring(…)`,
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
