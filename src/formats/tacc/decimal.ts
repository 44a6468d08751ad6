/** Unsigned 64-bit decimals, read without a double, which would round them, and without an object for each. */

const ZERO = 0x30;
const WORD = 2 ** 32;
/** Digits that a double certainly holds. */
const EXACT = 15;
/** Digits of 2^64 - 1. */
const MOST = 20;
const LOW_DIGITS = 9;
const LOW = 1e9;

function digits(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let k = from; k < to; k++) {
    const digit = bytes[k] - ZERO;
    // Also true for bytes below '0', which are negative here.
    if (digit >>> 0 > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/**
 * Reads the decimal in `bytes[from, to)` into `words[2 at]` (low) and `words[2 at + 1]` (high): the two halves of a
 * little-endian 64-bit cell. Returns whether it was one: digits only, less than 2^64.
 */
export function readDecimal(
  bytes: Uint8Array,
  from: number,
  to: number,
  words: Uint32Array,
  at: number,
): boolean {
  let start = from;
  while (to - start > MOST && bytes[start] === ZERO) start++;
  const length = to - start;
  if (length === 0 || length > MOST) return false;
  if (length <= EXACT) {
    const value = digits(bytes, start, to);
    if (value < 0) return false;
    words[2 * at] = value % WORD;
    words[2 * at + 1] = value / WORD;
    return true;
  }
  // value = top 10^9 + low, with top split at 16 bits so that each product stays below 2^53.
  const top = digits(bytes, start, to - LOW_DIGITS);
  const low = digits(bytes, to - LOW_DIGITS, to);
  if (top < 0 || low < 0) return false;
  const upper = Math.floor(top / 65536);
  const middle = upper * LOW;
  const bottom = (top - upper * 65536) * LOW + low + (middle % 65536) * 65536;
  const high = Math.floor(middle / 65536) + Math.floor(bottom / WORD);
  if (high >= WORD) return false;
  words[2 * at] = bottom % WORD;
  words[2 * at + 1] = high;
  return true;
}
