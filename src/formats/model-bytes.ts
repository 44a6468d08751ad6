/**
 * What a user, a recording or a README tells about files that do not describe themselves: their layout, and the bytes that
 * models add to their records, by type of LP.
 */
import { checkPayload, type PayloadField, PayloadLayoutError, payloadLayout } from './payload.ts';

/** What the LPs of one type add to each of their records. */
export interface TypeBytes {
  /** The type's name; '' if all LPs are alike. */
  readonly name: string;
  /** Bytes of the model in each record. */
  readonly bytes: number;
  /** The fields in these bytes; null if they are unknown. */
  readonly fields: readonly PayloadField[] | null;
}

/**
 * What the caller knows about a file of ROSS that the file does not tell: its layout, the bytes of a model in records, by type, and
 * which LP is of which type.
 */
export interface GivenLayout {
  /** Name of the layout, such as `ross-2017`; null if unknown. */
  readonly layout: string | null;
  /** Empty: nothing is known about the model's bytes. */
  readonly types: readonly TypeBytes[];
  /** Which LP has which type, in the one line of `ross/lp-types.ts`; null if all are alike, or others tell it. */
  readonly lps: string | null;
  /** False for a list of fields alone: records may have more bytes than these. */
  readonly exact: boolean;
}

/** Most bytes of a model after a record that are credible. */
const MOST_BYTES = 2 ** 24;

const EXAMPLE = '{"lps": "router*4,terminal*16", "types": {"router": 168, "terminal": 40}}';

/**
 * Checks a layout that `JSON.parse` read from a file named `where`.
 * @throws PayloadLayoutError naming the part and what it must be
 * @example
 * ```ts
 * import { checkGiven } from 'triscope/formats';
 *
 * const given = checkGiven({ bytes: 4 }, 'layout.json'); // each record has 4 bytes of the model
 * ```
 */
export function checkGiven(value: unknown, where: string): GivenLayout {
  const wrong = (what: string): never => {
    throw new PayloadLayoutError(`${where}: ${what}`);
  };
  const bytesOf = (given: unknown, of: string): number =>
    Number.isInteger(given) && (given as number) >= 0 && (given as number) <= MOST_BYTES
      ? (given as number)
      : wrong(`${of}: must be a number of bytes, 0 to ${MOST_BYTES}`);
  const ofFields = (name: string, given: unknown, bytes?: number): TypeBytes => {
    const fields = checkPayload(given, name === '' ? where : `${where}: type ${name}`);
    const { size } = payloadLayout(fields);
    if (bytes !== undefined && size > bytes) {
      wrong(`type ${name}: its fields take ${size} bytes, more than the ${bytes} given`);
    }
    return { name, bytes: bytes ?? size, fields };
  };
  if (Array.isArray(value)) {
    return { layout: null, lps: null, types: [ofFields('', value)], exact: false };
  }
  if (typeof value !== 'object' || value === null) {
    wrong(`must be a list of fields such as [{"name": "lp", "type": "u32"}], or ${EXAMPLE}`);
  }
  const given = value as Readonly<Record<string, unknown>>;
  const known = ['layout', 'bytes', 'lps', 'types'];
  const strange = Object.keys(given).find((key) => !known.includes(key));
  if (strange !== undefined) wrong(`unknown key ${strange}; known: ${known.join(', ')}`);
  const { layout = null, lps = null } = given;
  if (layout !== null && typeof layout !== 'string') wrong('layout: must be a layout’s name');
  if (lps !== null && typeof lps !== 'string') wrong(`lps: must be a line as in ${EXAMPLE}`);
  const said = { layout: layout as string | null, lps: lps as string | null, exact: true };
  if (given.bytes !== undefined) {
    if (given.types !== undefined) wrong('bytes are all LPs’, types are by type of LP: give one');
    const type: TypeBytes = { name: '', bytes: bytesOf(given.bytes, 'bytes'), fields: null };
    return { ...said, types: [type] };
  }
  if (given.types === undefined) return { ...said, types: [] };
  if (typeof given.types !== 'object' || given.types === null || Array.isArray(given.types)) {
    wrong(`types: must be an object as in ${EXAMPLE}`);
  }
  const types = Object.entries(given.types as object).map(([name, of]): TypeBytes => {
    if (Array.isArray(of)) return ofFields(name, of);
    if (typeof of !== 'object' || of === null) {
      return { name, bytes: bytesOf(of, `type ${name}`), fields: null };
    }
    const { bytes, fields } = of as { bytes?: unknown; fields?: unknown };
    const size = bytesOf(bytes, `type ${name}: bytes`);
    return fields === undefined
      ? { name, bytes: size, fields: null }
      : ofFields(name, fields, size);
  });
  return { ...said, types };
}
