/**
 * Natural logarithm as an unevaluated sum of two doubles, for functions that multiply it by
 * something large (`pow`, `gamma`). Same reduction and table as `log`.
 */
import { upperHalf } from './double-double.ts';
import { LN2_HIGH, LN2_LOW, LOG_OFFSET, SCALE_TABLE, UPPER_WORD } from './log-table.ts';
import { LOG_TABLE } from './table-data.ts';

const TABLE = LOG_TABLE;
const SCALE = SCALE_TABLE;
const BITS = new Float64Array(1);
const WORDS = new Int32Array(BITS.buffer);

/**
 * Put log x into `out[0] + out[1]`, with |out[1]| at most half an ulp of out[0] and a relative
 * error below 2^-67. x must be positive and finite; the caller checks.
 */
export function logParts(x: number, out: Float64Array): void {
  let bias = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984; // 2^54: subnormal to normal
    bias = 54;
  }
  BITS[0] = x;
  const t = ((WORDS[UPPER_WORD] as number) - LOG_OFFSET) | 0;
  const k = t >> 20;
  const cell = (t >> 11) & 0x1fc;
  const inv = TABLE[cell] as number;
  const z = x * (SCALE[k + 1023] as number);
  const zHigh = z + 384 - 384;
  const r = zHigh * inv - 1 + (z - zHigh) * inv;

  // r^2 without error, because r^2 / 2 needs more than 53 bits here.
  const square = r * r;
  const rh = upperHalf(r);
  const rl = r - rh;
  const squareError = rl * rl - (square - rh * rh - 2 * rh * rl);
  const cubic =
    square *
    r *
    (1 / 3 -
      r *
        (1 / 4 -
          r * (1 / 5 - r * (1 / 6 - r * (1 / 7 - r * (1 / 8 - r * (1 / 9 - r * (1 / 10))))))));

  // base + r - square / 2 with both rounding errors, largest term first.
  const n = k - bias;
  const base = n * LN2_HIGH + (TABLE[cell + 1] as number);
  const s = base + r;
  const sError = base - s + r;
  const high = s - square / 2;
  const highError = s - high - square / 2;
  const small = n * LN2_LOW + (TABLE[cell + 2] as number);
  const low = sError + highError + (cubic + (small - squareError / 2));
  const sum = high + low;
  out[0] = sum;
  out[1] = high - sum + low;
}
