/**
 * Checksums of any stretch of a stream in bounded time: in a damaged or manipulated file, thousands of false frame
 * heads may each claim the rest of it.
 *
 * ```
 * origin      +1 KiB      +2 KiB        CRC from the origin to each mark is known
 * |-----------|-----------|-------      CRC of s…e = CRC to e, without CRC to s moved on by e - s bytes
 *        s..........e
 * ```
 */
import { crc32 } from './crc32.ts';

/** Bytes between marks; this many before the first byte that is asked for must still be held. */
export const MARK_BYTES = 1024;

const POLYNOMIAL = 0xedb88320;

/** Product of two polynomials modulo CRC-32's, reflected: bit 31 is x^0. */
function times(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= factor;
    factor = (factor & 1) === 1 ? (factor >>> 1) ^ POLYNOMIAL : factor >>> 1;
  }
  return product >>> 0;
}

/** `POWERS[k]`: x^(8 * 2^k). */
const POWERS = [times(1 << 27, 1 << 27)];
while (POWERS.length < 32) POWERS.push(times(POWERS[POWERS.length - 1], POWERS[POWERS.length - 1]));

/** The CRC after so many zero bytes, without those bytes' own part. */
function movedOn(crc: number, bytes: number): number {
  let moved = crc;
  for (let k = 0, left = bytes; left > 0; k++, left = Math.floor(left / 2)) {
    if (left % 2 === 1) moved = times(POWERS[k], moved);
  }
  return moved >>> 0;
}

export class CrcIndex {
  private readonly origin: number;
  private readonly marks = [0];

  /** `origin`: offset in the stream from which on checksums are asked for. */
  constructor(origin: number) {
    this.origin = origin;
  }

  /** Learns the marks of the held bytes: `bytes` from offset `base` on, up to `end`. */
  extend(bytes: Uint8Array, base: number, end: number): void {
    for (;;) {
      const from = this.origin + (this.marks.length - 1) * MARK_BYTES;
      if (from + MARK_BYTES > end) return;
      const part = bytes.subarray(from - base, from - base + MARK_BYTES);
      this.marks.push(crc32(part, this.marks[this.marks.length - 1]));
    }
  }

  /** The CRC of offsets `from` to `to` that continues `before`. */
  of(bytes: Uint8Array, base: number, from: number, to: number, before: number): number {
    const start = this.to(bytes, base, from);
    return (this.to(bytes, base, to) ^ movedOn(start ^ before, to - from)) >>> 0;
  }

  private to(bytes: Uint8Array, base: number, offset: number): number {
    const mark = Math.floor((offset - this.origin) / MARK_BYTES);
    const from = this.origin + mark * MARK_BYTES;
    return crc32(bytes.subarray(from - base, offset - base), this.marks[mark]);
  }
}
