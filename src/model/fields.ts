/** Fields with parts: arrays and queues, of one type or of records, and words. */
import type { CellsField } from './cells.ts';
import {
  type ReadonlyRecordArray,
  type ReadonlyRecordRing,
  type RecordArray,
  type RecordFields,
  type RecordRing,
  recordArray,
  recordRing,
} from './records.ts';
import {
  type ArrayField,
  type Field,
  fieldOf,
  type Length,
  type RingField,
  type Scalar,
  type WordField,
} from './struct.ts';

/** @throws RangeError unless it is a positive integer */
function expectLength(what: string, length: number): void {
  if (!Number.isInteger(length) || length < 1)
    throw new RangeError(`${what} must be a positive integer`);
}

const shown = (of: Scalar | RecordFields) => (typeof of === 'object' ? '{ … }' : `'${of}'`);

/**
 * A field that is an array of fixed length: of one type (`array('f64', 8)`), or of records (`array({ at: 'f64', by: 'u32' }, 8)`),
 * whose fields take 8 bytes each.
 * @param length number of elements, or what makes it of the model's options
 * @throws RangeError for a length that is not a positive integer; TypeError for fields that a record cannot have
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
export function array<T extends Scalar>(of: T, length: Length): ArrayField<T>;
/**
 * The same of records.
 * @param length number of records, or what makes it of the model's options
 * @throws RangeError for a length that is not a positive integer; TypeError for fields that a record cannot have
 */
export function array<const F extends RecordFields>(
  of: F,
  length: Length,
): CellsField<RecordArray<F>, ReadonlyRecordArray<F>>;
export function array(of: Scalar | RecordFields, length: Length): Field {
  return fieldOf<Field>(length, (n) => {
    expectLength(`array(${shown(of)}, ${n}): the length`, n);
    return typeof of === 'object' ? recordArray(of, n) : { kind: 'array', of, length: n };
  });
}

/**
 * A field that is a queue of bounded length: of one type (`ring('f64', 50)`), or of records (`ring({ at: 'f64', by: 'u32' }, 50)`),
 * whose fields take 8 bytes each.
 * @param capacity number of elements that it can hold, or what makes it of the model's options
 * @throws RangeError for a capacity that is not a positive integer; TypeError for fields that a record cannot have
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
export function ring<T extends Scalar>(of: T, capacity: Length): RingField<T>;
/**
 * The same of records.
 * @param capacity number of records that it can hold, or what makes it of the model's options
 * @throws RangeError for a capacity that is not a positive integer; TypeError for fields that a record cannot have
 */
export function ring<const F extends RecordFields>(
  of: F,
  capacity: Length,
): CellsField<RecordRing<F>, ReadonlyRecordRing<F>>;
export function ring(of: Scalar | RecordFields, capacity: Length): Field {
  return fieldOf<Field>(capacity, (n) => {
    expectLength(`ring(${shown(of)}, ${n}): the capacity`, n);
    return typeof of === 'object' ? recordRing(of, n) : { kind: 'ring', of, capacity: n };
  });
}

/** Most words of a field: their numbers take 16 bits. */
const MOST_WORDS = 65536;

/**
 * A field of a state or a message that is one of these words; the first at the start. In memory it is a number of 8 bits, or
 * of 16 where there are more than 256 words.
 * @param words distinct, and known before the run: other texts cannot be kept
 * @throws RangeError for no words, more than 65,536, or one that is there twice
 * @example
 * ```ts
 * import { defineModel, word } from 'triscope/sim';
 *
 * export default defineModel({
 *   name: 'lamp',
 *   lps: () => 2,
 *   end: 10,
 *   state: { light: word(['red', 'green']) },
 *   message: { kind: word(['switch', 'fail']) },
 *   init: (lp) => void lp.send(lp.id, 1),
 *   forward(lp, { kind }) {
 *     if (kind === 'fail') return;
 *     lp.state.light = lp.state.light === 'red' ? 'green' : 'red';
 *     lp.send(lp.id, 1).kind = lp.uniform() < 0.1 ? 'fail' : 'switch';
 *   },
 * });
 * ```
 */
export function word<const W extends string>(words: readonly W[]): WordField<W> {
  if (!Array.isArray(words) || words.length === 0 || words.length > MOST_WORDS)
    throw new RangeError(`word(): needs from one to ${MOST_WORDS} words`);
  const numbers = new Map<unknown, number>();
  for (const [k, one] of words.entries()) {
    if (typeof one !== 'string' || numbers.has(one))
      throw new RangeError(`word(): '${String(one)}' must be a text that occurs once`);
    numbers.set(one, k);
  }
  return { kind: 'word', words: [...words], numbers };
}
