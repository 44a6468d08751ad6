/** Values as GEOPM's files have them: C's numbers, hashes, quoted texts. */

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const NOT_A_NUMBER = /^[+-]?\.?nan$/i;
const INFINITE = /^([+-]?)\.?inf(?:inity)?$/i;
const HEX = /^0x[0-9a-f]+$/i;

/** A number: `3e+06`, `nan` and `NAN` (NaN), `inf`; null where the text is none. */
export function numberOf(text: string): number | null {
  if (NUMBER.test(text)) return Number(text);
  if (NOT_A_NUMBER.test(text)) return Number.NaN;
  const infinite = INFINITE.exec(text);
  if (infinite !== null) return infinite[1] === '-' ? -Infinity : Infinity;
  return null;
}

/** A hash: 32 bits, written with 8 digits, or by old versions with 16. Null where the text is none. */
export function hashOf(text: string): number | null {
  if (!HEX.test(text)) return null;
  const value = BigInt(text);
  return value > 0xffff_ffffn ? null : Number(value);
}

/** `0x` and eight digits, as GEOPM prints hashes. */
export const hashText = (hash: number): string => `0x${hash.toString(16).padStart(8, '0')}`;

const RAW = new DataView(new ArrayBuffer(8));

/** The 64 bits of a register, which `value` has as a double: `0x` and 16 digits, as GEOPM prints them. */
export function rawText(value: number): string {
  RAW.setFloat64(0, value);
  return `0x${RAW.getBigUint64(0).toString(16).padStart(16, '0')}`;
}

/** A text in quotes without them, one without quotes as it is. `exact`: whether it was well quoted. */
export function unquoted(text: string): { readonly text: string; readonly exact: boolean } {
  if (!text.startsWith('"') || text.length < 2 || !text.endsWith('"')) {
    return { text, exact: !text.startsWith('"') };
  }
  const inner = text.slice(1, -1);
  // GEOPM escapes nothing: what is no text of JSON is taken as it stands between the outer quotes.
  if (!/["\\]/.test(inner)) return { text: inner, exact: true };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'string') return { text: value, exact: true };
  } catch {
    // Not escaped.
  }
  return { text: inner, exact: !inner.includes('"') };
}
