/** Parses numbers from bytes without making strings: a tick may parse them thousands of times a second. */

const ZERO = 48;
const BLANK = 32;

/** Skips blanks: the first byte of a word, or `end`. */
export function skipBlanks(bytes: Uint8Array, at: number, end: number): number {
  let k = at;
  while (k < end && bytes[k] <= BLANK) k++;
  return k;
}

/** Skips the word that begins at `at`. */
export function skipWord(bytes: Uint8Array, at: number, end: number): number {
  let k = at;
  while (k < end && bytes[k] > BLANK) k++;
  return k;
}

/**
 * The decimal number (`-12`, `0.35`) in the word at `at`, after blanks; NaN if it is no number. Exact up to 2^53.
 */
export function parseDecimal(bytes: Uint8Array, at: number, end: number): number {
  let k = skipBlanks(bytes, at, end);
  const negative = bytes[k] === 45;
  if (negative) k++;
  let value = 0;
  let digits = 0;
  for (; k < end && isDigit(bytes[k]); k++, digits++) value = value * 10 + (bytes[k] - ZERO);
  if (k < end && bytes[k] === 46) {
    let scale = 1;
    for (k++; k < end && isDigit(bytes[k]); k++, digits++) {
      value = value * 10 + (bytes[k] - ZERO);
      scale *= 10;
    }
    value /= scale;
  }
  if (digits === 0 || (k < end && bytes[k] > BLANK)) return Number.NaN;
  return negative ? -value : value;
}

const isDigit = (byte: number) => byte >= ZERO && byte < ZERO + 10;

/** Number of decimal digits in the lower part of a `Wide`. */
const LOW_DIGITS = 9;
const LOW = 10 ** LOW_DIGITS;

/** A whole number of up to 20 digits: `high` · 10⁹ + `low`. Differences of two are exact, unlike those of doubles. */
export class Wide {
  high = 0;
  low = 0;

  /** Parses the digits that the text begins with; false if it is no whole number. */
  parse(bytes: Uint8Array, length: number): boolean {
    const from = skipBlanks(bytes, 0, length);
    let to = from;
    while (to < length && isDigit(bytes[to])) to++;
    if (to === from || to - from > 20 || (to < length && bytes[to] > BLANK)) return false;
    const cut = Math.max(from, to - LOW_DIGITS);
    this.high = 0;
    this.low = 0;
    for (let k = from; k < cut; k++) this.high = this.high * 10 + (bytes[k] - ZERO);
    for (let k = cut; k < to; k++) this.low = this.low * 10 + (bytes[k] - ZERO);
    return true;
  }

  /** this − other. */
  minus(other: Wide): number {
    return (this.high - other.high) * LOW + (this.low - other.low);
  }

  copy(other: Wide): void {
    this.high = other.high;
    this.low = other.low;
  }

  /** Sets it to a whole number of up to 53 bits. */
  set(value: number): void {
    this.high = Math.floor(value / LOW);
    this.low = value % LOW;
  }

  toBigInt(): bigint {
    return BigInt(this.high) * BigInt(LOW) + BigInt(this.low);
  }

  toNumber(): number {
    return this.high * LOW + this.low;
  }
}
