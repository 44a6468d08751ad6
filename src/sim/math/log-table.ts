/**
 * Table shared by `log` and the extended logarithm of `pow`.
 *
 * A positive x is written 2^k z with z in [0.69, 1.38). That range is cut into 128 cells in the
 * order of the bits of a double, shifted by half a cell so that 1 lies in the middle of one. A
 * cell holds `inv`, the multiple of 2^-8 nearest to the reciprocal of its middle, and -log(inv).
 *
 * With r = z inv - 1, log x = k ln 2 - log(inv) + log(1 + r). z is a multiple of 2^-52 below 1.38
 * (2^-53 below 1) and |r| < 2^-7.2, so r is a multiple of 2^-60 (2^-61) that fits a double exactly.
 */
import { LN2 } from './table-data.ts';

/** Upper word of the lower end of z's range. */
export const LOG_OFFSET = 0x3fe61000;

const BITS = new Float64Array(1);
const WORDS = new Int32Array(BITS.buffer);
BITS[0] = 1;

/** Index of the 32-bit half of a double with sign and exponent: 1 on little-endian machines. */
export const UPPER_WORD = WORDS[1] === 0x3ff00000 ? 1 : 0;

/** High parts are multiples of 2^-42, so that k * LN2_HIGH + logHigh is exact for |k| < 2^11. */
const GRID = 4398046511104;
export const LN2_HIGH: number = Math.round(LN2[0] * GRID) / GRID;
export const LN2_LOW: number = LN2[0] - LN2_HIGH + LN2[1];

/**
 * 2^-k at index k + 1023, for all k from -1023 to 1074. Filled here, as that takes less
 * time than reading the numbers would.
 */
export const SCALE_TABLE: Float64Array = new Float64Array(2098);
for (let i = 2097, power = 5e-324; i >= 0; i--, power *= 2) SCALE_TABLE[i] = power;
