/** Parts of a compressed stream that are made independently, in any thread, and joined. */
import { constants, crc32, deflateRawSync } from 'node:zlib';
import type { BytePart } from './byte-part.ts';

/**
 * Each part ends at a whole byte and does not refer to earlier ones, which adds less than a hundredth to the size.
 */
const APART = { level: 1, finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 1 << 18 };

export const deflated = (bytes: Uint8Array): BytePart => ({
  bytes: deflateRawSync(bytes, APART),
  size: bytes.length,
  crc: crc32(bytes),
});

// Polynomials over bits, reflected: bit 31 is x^0 (RFC 1952, section 8).
const CRC = 0xedb88320;
const ONE = 0x80000000;

/** a × b modulo the CRC's polynomial. */
function product(a: number, b: number): number {
  let sum = 0;
  let power = b;
  for (let bit = 31; bit >= 0; bit--) {
    if ((a >>> bit) & 1) sum ^= power;
    power = (power >>> 1) ^ (power & 1 ? CRC : 0);
  }
  return sum >>> 0;
}

/** By k: x^(8 × 2^k). */
const SHIFTS = [0x00800000];
for (let k = 1; k < 53; k++) SHIFTS.push(product(SHIFTS[k - 1], SHIFTS[k - 1]));

/** The CRC-32 of bytes followed by more bytes, from the CRCs of both. */
export function crcOfBoth(first: number, second: number, secondSize: number): number {
  let shift = ONE;
  let rest = secondSize;
  for (let k = 0; rest > 0; k++) {
    if (rest % 2 === 1) shift = product(SHIFTS[k], shift);
    rest = Math.floor(rest / 2);
  }
  return (product(first, shift) ^ second) >>> 0;
}
