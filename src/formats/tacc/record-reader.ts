/**
 * Plain record lines, `type device value…` with single blanks, read from their bytes: the hot loop of the reader. It
 * allocates nothing and examines four bytes at a time. A device's line is recognised by its first bytes, and the line
 * that followed it in the group before is tried first. Any other line is left to the parser's slower path.
 */
import { DeviceEntries, type DeviceEntry, type KnownType } from './entries.ts';

const NEWLINE = 0x0a;
const BLANK = 0x20;
const WORD = 2 ** 32;
const HALF = 2 ** 15;
const REST = 2 ** 17;
const POWERS = Float64Array.from({ length: 12 }, (_, k) => 10 ** k);
const SMALL_POWERS = Int32Array.from(POWERS.subarray(0, 4));
/** Bytes that may be read after a line's newline. */
export const BEHIND_BYTES = 4;
/*
 * Four digits at a time: `x` is a word of the text XOR ZEROS, so that the byte of a digit is its value, the first digit
 * in the lowest byte. Bit 7 of `((x + LIMIT) | x) & TOPS` is set in bytes that are no digits; the first of them is at
 * (31 - clz(m & -m)) >> 3. Shifted by what is missing to four digits, x becomes pairs, and pairs a number.
 */
const ZEROS = 0x30303030;
const LIMIT = 0x76767676;
const TOPS = 0x80808080;
const PAIRS = 0x00ff00ff;
const FOUR = 0xffff;

/** Writes `top 10^digits + low`: top of 8 digits, low of 8 to 11. */
function putLong(words: Uint32Array, at: number, top: number, digits: number, low: number): void {
  const power = POWERS[digits];
  // Split at 15 bits: each product is below 2^53.
  const upper = (top >>> 15) * power;
  const lower = (top & (HALF - 1)) * power + low;
  const carry = Math.floor(upper / REST);
  const bottom = (upper - carry * REST) * HALF + lower;
  const over = Math.floor(bottom / WORD);
  words[at] = bottom - over * WORD;
  words[at + 1] = carry + over;
}

/**
 * The rest of a number whose first eight digits are `top`. Returns the byte after it; -1 for one of 20 digits. Written
 * out like `RecordReader.read`, with 32-bit arguments: doubles would be objects.
 */
function readLong(
  view: DataView,
  from: number,
  words: Uint32Array,
  k: number,
  top: number,
): number {
  let at = from;
  let low = 0;
  let count = 0;
  for (; count <= 8; count += 4) {
    const x = view.getInt32(at, true) ^ ZEROS;
    const mask = ((x + LIMIT) | x) & TOPS;
    const digits = mask === 0 ? 4 : (31 - Math.clz32(mask & -mask)) >>> 3;
    if (digits > 0) {
      const y = x << (32 - 8 * digits);
      const pairs = (Math.imul(y, 10) + (y >>> 8)) & PAIRS;
      low = low * POWERS[digits] + ((Math.imul(pairs, 100) + (pairs >>> 16)) & FOUR);
      at += digits;
    }
    if (digits === 4) continue;
    count += digits;
    if (count > 7) putLong(words, k, top, count, low);
    else {
      const value = top * POWERS[count] + low;
      const high = Math.floor(value / WORD);
      words[k] = value - high * WORD;
      words[k + 1] = high;
    }
    return at;
  }
  return -1;
}

export class RecordReader {
  private readonly entries = new DeviceEntries();
  private last: DeviceEntry = this.entries.none;

  /** The entry of the record that was read last. */
  get entry(): DeviceEntry {
    return this.last;
  }

  /**
   * Reads the line at `from`, which must end with a newline `BEHIND_BYTES` before the end of `bytes`, or earlier: its
   * values are in `entry.type.values`, except for a type that is skipped. Returns the byte after the newline; -1 if it is not the plain line of a
   * known device.
   */
  read(bytes: Uint8Array, view: DataView, from: number): number {
    let entry = this.last.next;
    if (!this.entries.begins(view, from, entry)) {
      const known = this.entries.find(bytes, view, from);
      if (known === undefined) return -1;
      this.last.next = known;
      entry = known;
    }
    const { words, skipped } = entry.type;
    if (skipped) {
      this.last = entry;
      return bytes.indexOf(NEWLINE, from + entry.length - 1) + 1;
    }
    const end = words.length;
    let at = from + entry.length;
    // Written out: calls, and doubles passed to them, would cost more than the numbers.
    for (let k = 0; k < end; k += 2) {
      let x = view.getInt32(at, true) ^ ZEROS;
      let mask = ((x + LIMIT) | x) & TOPS;
      if (mask !== 0) {
        const digits = (31 - Math.clz32(mask & -mask)) >>> 3;
        if (digits === 0) return -1;
        x <<= 32 - 8 * digits;
        const pairs = (Math.imul(x, 10) + (x >>> 8)) & PAIRS;
        words[k] = (Math.imul(pairs, 100) + (pairs >>> 16)) & FOUR;
        words[k + 1] = 0;
        at += digits;
      } else {
        let pairs = (Math.imul(x, 10) + (x >>> 8)) & PAIRS;
        let value = (Math.imul(pairs, 100) + (pairs >>> 16)) & FOUR;
        x = view.getInt32(at + 4, true) ^ ZEROS;
        mask = ((x + LIMIT) | x) & TOPS;
        if (mask === 0) {
          pairs = (Math.imul(x, 10) + (x >>> 8)) & PAIRS;
          value = Math.imul(value, 10_000) + ((Math.imul(pairs, 100) + (pairs >>> 16)) & FOUR);
          at = readLong(view, at + 8, words, k, value);
          if (at < 0) return -1;
        } else {
          const digits = (31 - Math.clz32(mask & -mask)) >>> 3;
          if (digits > 0) {
            x <<= 32 - 8 * digits;
            pairs = (Math.imul(x, 10) + (x >>> 8)) & PAIRS;
            value = Math.imul(value, SMALL_POWERS[digits]);
            value += (Math.imul(pairs, 100) + (pairs >>> 16)) & FOUR;
          }
          words[k] = value;
          words[k + 1] = 0;
          at += 4 + digits;
        }
      }
      if (bytes[at] !== (k === end - 2 ? NEWLINE : BLANK)) return -1;
      at++;
    }
    if (end === 0) return -1;
    this.last = entry;
    return at;
  }

  /** The entry of a device whose line was read the slower way; made if it is new. */
  entryOf(type: KnownType, bytes: Uint8Array, from: number, end: number): DeviceEntry {
    const entry = this.entries.of(type, bytes, from, end);
    this.last.next = entry;
    this.last = entry;
    return entry;
  }

  /** Forgets all devices, because a type has another schema. */
  forget(): void {
    this.entries.clear();
    this.last = this.entries.none;
  }
}
