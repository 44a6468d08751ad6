/** The layout of a model's bytes: a list of typed fields, packed unless a field states its place. */
import { EXIT, TriscopeError } from '../model/error.ts';

export const PAYLOAD_TYPES = {
  u8: 1,
  u16: 2,
  u32: 4,
  i32: 4,
  u64: 8,
  f32: 4,
  f64: 8,
} as const;

/** How a field's bytes are read; see `PAYLOAD_TYPES`. */
export type PayloadType = keyof typeof PAYLOAD_TYPES;

/** A field of a model's own bytes: `count` values of a type, at a byte from the record's beginning. */
export interface PayloadField {
  /** Name of the field. */
  readonly name: string;
  /** How its bytes are read. */
  readonly type: PayloadType;
  /** Number of values; 1 by default. */
  readonly count?: number;
  /** Byte at which it begins, counted from the record's first byte of the model; by default after the previous field. */
  readonly at?: number;
}

/** One value of a payload. */
export interface PayloadColumn {
  /** The field's name, with `_k` for each of several. */
  readonly key: string;
  readonly type: PayloadType;
  readonly at: number;
}

export interface PayloadLayout {
  readonly fields: readonly (PayloadField & { readonly at: number; readonly count: number })[];
  readonly columns: readonly PayloadColumn[];
  /** Bytes in all. */
  readonly size: number;
}

/**
 * A layout file that is invalid. The message is for the user.
 * @example
 * ```ts
 * import { checkPayload, PayloadLayoutError } from 'triscope/formats';
 *
 * try {
 *   checkPayload([{ name: 'hops', type: 'u33' }], 'layout.json');
 * } catch (error) {
 *   if (error instanceof PayloadLayoutError) console.error(error.message);
 * }
 * ```
 */
export class PayloadLayoutError extends TriscopeError {
  override readonly name = 'PayloadLayoutError';
  override readonly exitCode = EXIT.input;
}

const MOST_VALUES = 4096;

/**
 * Checks a list of fields that `JSON.parse` read from a file named `where`.
 * @throws PayloadLayoutError naming the field and what it must be
 * @example
 * ```ts
 * import { checkPayload } from 'triscope/formats';
 *
 * const fields = checkPayload([{ name: 'hops', type: 'u32' }], 'layout.json');
 * ```
 */
export function checkPayload(value: unknown, where: string): readonly PayloadField[] {
  const wrong = (what: string): never => {
    throw new PayloadLayoutError(`${where}: ${what}`);
  };
  if (!Array.isArray(value) || value.length === 0) {
    return wrong('must be a list of fields such as [{"name": "lp", "type": "u32"}]');
  }
  const types = Object.keys(PAYLOAD_TYPES).join(', ');
  const names = new Set<string>();
  let values = 0;
  value.forEach((field: Partial<PayloadField> | null, k) => {
    const { name, type, count, at } = field ?? {};
    if (typeof name !== 'string' || name === '') wrong(`field ${k} has no name`);
    if (names.has(name as string)) wrong(`field ${k}: the name ${name} is taken`);
    names.add(name as string);
    if (typeof type !== 'string' || !Object.hasOwn(PAYLOAD_TYPES, type)) {
      wrong(`field ${name}: type must be one of ${types}`);
    }
    const isCount = (n: unknown) => Number.isInteger(n) && (n as number) >= 0;
    if (count !== undefined && !(isCount(count) && count >= 1)) {
      wrong(`field ${name}: count must be an integer of at least 1`);
    }
    if (at !== undefined && !(isCount(at) && at < 2 ** 24)) {
      wrong(`field ${name}: at must be a byte of the payload`);
    }
    values += count ?? 1;
  });
  if (values > MOST_VALUES) wrong(`${values} values; at most ${MOST_VALUES}`);
  return value as readonly PayloadField[];
}

/** Whether a record's bytes match a layout: exactly, or up to the next multiple of 4, which Triscope writes in frames. */
export const fits = (bytes: number, size: number): boolean =>
  bytes === size || bytes === ((size + 3) & ~3);

export function payloadLayout(fields: readonly PayloadField[]): PayloadLayout {
  let next = 0;
  let size = 0;
  const placed = fields.map((field) => {
    const at = field.at ?? next;
    const count = field.count ?? 1;
    next = at + count * PAYLOAD_TYPES[field.type];
    size = Math.max(size, next);
    return { ...field, at, count };
  });
  const columns = placed.flatMap(({ name, type, at, count }) =>
    Array.from({ length: count }, (_, k) => ({
      key: count === 1 ? name : `${name}_${k}`,
      type,
      at: at + k * PAYLOAD_TYPES[type],
    })),
  );
  return { fields: placed, columns, size };
}
