/**
 * Exponential function, bit-identical on every JavaScript engine.
 *
 * Method: x = (128 k + i) ln 2 / 128 + r with |r| <= ln 2 / 256, so e^x = 2^k 2^(i/128) e^r. The
 * powers 2^(i/128) are tabulated with twice the precision of a double, and e^r - 1 is a short
 * Taylor polynomial, whose error is scaled down by |r|.
 */
import { SCALE_TABLE } from './log-table.ts';
import { EXP_TABLE, LN2 } from './table-data.ts';

const STEPS = 128;
/** 2^(i/128): leading part at 2i, rest at 2i + 1. */
const TABLE = EXP_TABLE;
/** 2^k at index 1023 - k, for the exponents of all doubles. */
const SCALE = SCALE_TABLE;

/** ln 2 / 128; the high part is a multiple of 2^-42, so its products with 18-bit integers are exact. */
const GRID = 4398046511104;
const STEP_HIGH = Math.round((LN2[0] / STEPS) * GRID) / GRID;
const STEP_LOW = LN2[0] / STEPS - STEP_HIGH + LN2[1] / STEPS;
const INVERSE_STEP = STEPS / LN2[0];

/**
 * e to the power `x`, error below 0.52 ulp (0.77 ulp for subnormal results).
 *
 * @returns Infinity above 709.78, 0 below -745.13, NaN for NaN
 * @example
 * ```ts
 * import { exp } from 'triscope/sim';
 *
 * const decay = exp(-0.5); // 0.6065306597126334 on every machine
 * ```
 */
export function exp(x: number): number {
  return expOfSum(x, 0);
}

/** e^(x + low) where |low| is at most about an ulp of x. */
export function expOfSum(x: number, low: number): number {
  if (!(x < 709.79)) return x > 0 ? Number.POSITIVE_INFINITY : Number.NaN;
  if (x < -745.2) return 0;
  const n = Math.floor(x * INVERSE_STEP + 0.5);
  const r = x - n * STEP_HIGH - n * STEP_LOW + low;
  const i = n & (STEPS - 1);
  const k = n >> 7;
  const p = r + r * r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120))));
  const high = TABLE[2 * i] as number;
  const y = high + ((TABLE[2 * i + 1] as number) + high * p);
  if (k > -1022 && k < 1023) return y * (SCALE[1023 - k] as number);
  // Two steps: 2^k may not be a double. Only the second one can round, so the result is the
  // rounded subnormal, or Infinity where it has to be.
  const half = k >> 1;
  return y * (SCALE[1023 - half] as number) * (SCALE[1023 - k + half] as number);
}
