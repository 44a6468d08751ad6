/**
 * Numbers and fixed texts as ASCII. One block of bytes a thread: its address is a constant of the compiled code, which
 * makes it one and a half times as fast. Digits are stored four at a time from a table, fixed texts eight bytes at a
 * time. Each function takes the place to write at and returns the place after what it wrote; a store may go up to seven
 * bytes beyond: what comes next overwrites that.
 */

const WORD = 8;
const ZERO = 48;
const DOT = 46;
const MINUS = 45;
/** Below this, a number times 1e9 is an exact integer part of a double. */
const FIXED_LIMIT = 4e6;

/** Bytes from which on a block is full. */
export const FULL_BYTES = 1 << 20;
/** Behind them: the longest record, and what stores go beyond. */
const ROOM_BYTES = 1 << 10;

export const BYTES = new Uint8Array(FULL_BYTES + ROOM_BYTES);
const VIEW = new DataView(BYTES.buffer);

/** By number below 10,000: its four digits, the first in the lowest byte. */
const DIGITS = Uint32Array.from({ length: 10_000 }, (_, value) => {
  const digit = (scale: number) => ZERO + (Math.floor(value / scale) % 10);
  return digit(1000) | (digit(100) << 8) | (digit(10) << 16) | (digit(1) << 24);
});

/** Fixed texts, as doubles, which are copied fastest: no eight bytes of ASCII are a double that is no number. */
export interface Pieces {
  readonly words: Float64Array;
  /** By piece: its length in bytes, and its first word. */
  readonly lengths: Uint32Array;
  readonly firsts: Uint32Array;
}

/** @param texts ASCII */
export function piecesOf(texts: readonly string[]): Pieces {
  const wordsOf = ({ length }: string) => Math.ceil(length / WORD);
  const words = new Float64Array(texts.reduce((sum, text) => sum + wordsOf(text), 0));
  const bytes = new Uint8Array(words.buffer);
  const firsts = new Uint32Array(texts.length);
  let first = 0;
  for (const [k, text] of texts.entries()) {
    firsts[k] = first;
    new TextEncoder().encodeInto(text, bytes.subarray(first * WORD));
    first += wordsOf(text);
  }
  return { words, lengths: Uint32Array.from(texts, ({ length }) => length), firsts };
}

/** A text of up to eight ASCII characters as one store. */
export const wordOf = (text: string): number =>
  new DataView(new TextEncoder().encode(text.padEnd(WORD)).buffer).getFloat64(0, true);

/** Puts a text of `length` characters. */
export function putWord(at: number, word: number, length: number): number {
  VIEW.setFloat64(at, word, true);
  return at + length;
}

export function putPiece(at: number, { words, lengths, firsts }: Pieces, number: number): number {
  const length = lengths[number];
  let word = firsts[number];
  for (let k = 0; k < length; k += WORD) VIEW.setFloat64(at + k, words[word++], true);
  return at + length;
}

/** Below 10^4. */
function putShort(at: number, value: number): number {
  const count = value >= 100 ? (value >= 1000 ? 4 : 3) : value >= 10 ? 2 : 1;
  VIEW.setUint32(at, DIGITS[value] >>> (8 * (4 - count)), true);
  return at + count;
}

function putFour(at: number, value: number): number {
  VIEW.setUint32(at, DIGITS[value], true);
  return at + 4;
}

/** An integer from 0 to 2^53. */
export function putInteger(at: number, value: number): number {
  if (value >= 1e9) return putLong(at, value);
  const small = value | 0;
  if (small < 1e4) return putShort(at, small);
  const high = (small / 1e4) | 0;
  const low = small - Math.imul(high, 1e4);
  if (high < 1e4) return putFour(putShort(at, high), low);
  const top = (high / 1e4) | 0;
  return putFour(putFour(putShort(at, top), high - Math.imul(top, 1e4)), low);
}

/** From 10^9 on. */
function putLong(at: number, value: number): number {
  const high = Math.floor(value / 1e8);
  const low = (value - high * 1e8) | 0;
  const middle = (low / 1e4) | 0;
  return putFour(putFour(putInteger(at, high), middle), low - Math.imul(middle, 1e4));
}

/** Nanoseconds, an integer from 0, as microseconds with three decimals: what trace events count in. */
export function putMicros(at: number, nanoseconds: number): number {
  const whole = Math.floor(nanoseconds / 1000);
  const rest = (nanoseconds - whole * 1000) | 0;
  const behind = putInteger(at, whole);
  if (rest === 0) return behind;
  // Of four digits the first is 0: the point takes its place.
  VIEW.setUint32(behind, DIGITS[rest] - ZERO + DOT, true);
  return behind + 4;
}

/** Any number, to 9 decimals where it is small enough for them to be exact; what is no number in JSON is null. */
export function putDecimal(at: number, value: number): number {
  const size = Math.abs(value);
  if (!(size < FIXED_LIMIT) || (size < 1e-3 && size > 0)) return putText(at, value);
  if (value < 0) BYTES[at++] = MINUS;
  const whole = size | 0;
  const rest = Math.round((size - whole) * 1e9) | 0;
  if (rest === 1e9) return putInteger(at, whole + 1);
  const point = putInteger(at, whole);
  if (rest === 0) return point;
  const first = (rest / 1e8) | 0;
  const eight = rest - Math.imul(first, 1e8);
  const high = (eight / 1e4) | 0;
  VIEW.setUint16(point, DOT | ((ZERO + first) << 8), true);
  VIEW.setUint32(point + 2, DIGITS[high], true);
  VIEW.setUint32(point + 6, DIGITS[eight - Math.imul(high, 1e4)], true);
  let end = point + 10;
  while (BYTES[end - 1] === ZERO) end--;
  return end;
}

function putText(at: number, value: number): number {
  const text = Number.isFinite(value) ? String(value) : 'null';
  for (let k = 0; k < text.length; k++) BYTES[at + k] = text.charCodeAt(k);
  return at + text.length;
}
