/**
 * Power function, bit-identical on every JavaScript engine: x^y = e^(y log x), with log x and the
 * product carried as sums of two doubles.
 */
import { upperHalf } from './double-double.ts';
import { expOfSum } from './exp.ts';
import { logParts } from './log-parts.ts';

const LOG = new Float64Array(2);

/** Doubles from 2^53 on are even integers, so only the ones below can be odd. */
function isOddInteger(y: number): boolean {
  const a = Math.abs(y);
  return a < 9007199254740992 && Math.floor(a) === a && Math.floor(a / 2) * 2 !== a;
}

/**
 * `x` to the power `y`, error below 0.55 ulp (0.8 ulp for subnormal results).
 *
 * Special cases are those of ECMAScript's `Math.pow`: x^0 = 1 even for NaN, and 1 or -1 to the
 * power of an infinity is NaN. A negative x gives NaN unless y is an integer.
 * @example
 * ```ts
 * import { pow } from 'triscope/sim';
 *
 * const cells = pow(2, 10); // 1024
 * ```
 */
export function pow(x: number, y: number): number {
  if (y === 0) return 1;
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  const a = Math.abs(x);
  if (y === Number.POSITIVE_INFINITY || y === Number.NEGATIVE_INFINITY) {
    if (a === 1) return Number.NaN;
    return a > 1 === y > 0 ? Number.POSITIVE_INFINITY : 0;
  }
  const negative = (x < 0 || 1 / x === Number.NEGATIVE_INFINITY) && isOddInteger(y);
  if (a === 0 || a === Number.POSITIVE_INFINITY) {
    const magnitude = (a === 0) === y > 0 ? 0 : Number.POSITIVE_INFINITY;
    return negative ? -magnitude : magnitude;
  }
  if (x < 0 && Math.floor(y) !== y) return Number.NaN;
  const magnitude = positivePower(a, y);
  return negative ? -magnitude : magnitude;
}

/** x^y for finite x > 0 and finite y other than 0. */
function positivePower(x: number, y: number): number {
  if (x === 1 || y === 1) return x;
  // |log x| lies between 2^-53 and 745, so beyond these bounds nothing is left to compute (and
  // the splitting below could overflow or underflow).
  const size = Math.abs(y);
  if (size > 1.9e19) return x > 1 === y > 0 ? Number.POSITIVE_INFINITY : 0;
  if (size < 2.7e-20) return 1;
  logParts(x, LOG);
  const high = LOG[0] as number;
  const product = y * high;
  if (product > 710) return Number.POSITIVE_INFINITY;
  if (product < -746) return 0;
  const yh = upperHalf(y);
  const yl = y - yh;
  const hh = upperHalf(high);
  const hl = high - hh;
  const error = yl * hl - (product - yh * hh - yl * hh - yh * hl);
  return expOfSum(product, error + y * (LOG[1] as number));
}
