/**
 * Natural logarithm, bit-identical on every JavaScript engine.
 *
 * `Math.log` may differ in the last bit between engines, versions and C libraries, and one bit in
 * one timestamp is enough to change a simulation. This one uses only correctly rounded operations
 * (+ - * and bit access), so its result is a function of the argument alone. The method is in
 * `log-table.ts`. It is the hottest function of a simulation besides the generator.
 */
import {
  LN2_HIGH as HIGH,
  LOG_OFFSET,
  LN2_LOW as LOW,
  SCALE_TABLE,
  UPPER_WORD,
} from './log-table.ts';
import { LOG_TABLE } from './table-data.ts';

// Copies local to the module: V8 folds these into the machine code, but not imported bindings.
const OFFSET = LOG_OFFSET;
const UPPER = UPPER_WORD;
const LN2_HIGH = HIGH;
const LN2_LOW = LOW;
const TABLE = LOG_TABLE;
/** Multiplying by 2^-k, not rewriting the exponent bits, avoids a store-to-load stall. */
const SCALE = SCALE_TABLE;
const BITS = new Float64Array(1);
const WORDS = new Int32Array(BITS.buffer);

// log(1 + r) = r + r^2 q(r): the series -1/2 + r/3 - r^2/4 + r^3/5 - r^4/6 + r^5/7 - r^6/8, its
// last term spread over the lower ones by the Chebyshev polynomial T6 on |r| <= R (error 2^-51).
const R = 0.0066;
const R2 = R * R;
const Q0 = -1 / 2 - (R2 * R2 * R2) / 256;
const Q1 = 1 / 3;
const Q2 = -1 / 4 + ((9 / 16) * R2 * R2) / 8;
const Q3 = 1 / 5;
const Q4 = -1 / 6 - ((3 / 2) * R2) / 8;
const Q5 = 1 / 7;

/**
 * Natural logarithm of `x`, error below 0.51 ulp.
 *
 * @returns -Infinity for 0, NaN for x < 0 and for NaN, Infinity for Infinity
 * @example
 * ```ts
 * import { log } from 'triscope/sim';
 *
 * const time = -3 * log(0.25); // the same last bit on every machine
 * ```
 */
export function log(x: number): number {
  BITS[0] = x;
  let upper = WORDS[UPPER] as number;
  let bias = 0;
  if (upper < 0x00100000 || upper >= 0x7ff00000) {
    if (x === 0) return Number.NEGATIVE_INFINITY;
    if (!(x > 0)) return Number.NaN;
    if (x === Number.POSITIVE_INFINITY) return x;
    // Subnormal: 2^54 x is normal.
    x *= 18014398509481984;
    BITS[0] = x;
    upper = WORDS[UPPER] as number;
    bias = 54;
  }
  const t = (upper - OFFSET) | 0;
  const k = t >> 20;
  const cell = (t >> 11) & 0x1fc;
  const inv = TABLE[cell] as number;
  const z = x * (SCALE[k + 1023] as number);

  // Adding and subtracting 384 rounds z to a multiple of 2^-44, which makes both products exact.
  const zHigh = z + 384 - 384;
  const r = zHigh * inv - 1 + (z - zHigh) * inv;

  const n = k - bias;
  const base = n * LN2_HIGH + (TABLE[cell + 1] as number);
  const low = n * LN2_LOW + (TABLE[cell + 2] as number);
  const high = base + r;
  const square = r * r;
  const q = Q0 + r * Q1 + square * (Q2 + r * Q3 + square * (Q4 + r * Q5));
  // base - high + r is the exact rounding error of high, since |base| >= |r| or base = 0.
  return high + (base - high + r + low + square * q);
}
