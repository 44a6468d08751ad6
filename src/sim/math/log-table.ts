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
import { LN2, logOf } from './double-double.ts';

const CELLS = 128;

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

/** Four doubles per cell: inv, high part of -log(inv), low part of it, unused. */
export function makeLogTable(): Float64Array {
  const table = new Float64Array(CELLS * 4);
  for (let i = 0; i < CELLS; i++) {
    WORDS[UPPER_WORD] = LOG_OFFSET + (i << 13) + 0x1000;
    WORDS[1 - UPPER_WORD] = 0;
    const inv = Math.round(256 / (BITS[0] as number)) / 256;
    const [high, low] = logOf(inv);
    const rounded = Math.round(high * GRID) / GRID;
    table[i * 4] = inv;
    table[i * 4 + 1] = 0 - rounded; // not -rounded: log 1 has to be +0
    table[i * 4 + 2] = rounded - high - low;
  }
  return table;
}

/** 2^-k at index k + 1023 for k from -1023 to 1024. */
export function makeScaleTable(): Float64Array {
  const table = new Float64Array(2048);
  table[1023] = 1;
  for (let k = 1; k <= 1024; k++) table[1023 + k] = (table[1022 + k] as number) / 2;
  for (let k = 1; k <= 1023; k++) table[1023 - k] = (table[1024 - k] as number) * 2;
  return table;
}
