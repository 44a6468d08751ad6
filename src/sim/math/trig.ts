/**
 * Sine and cosine, bit-identical on every JavaScript engine, for angles in turns (any finite
 * angle, exact at quarter turns) and in radians (up to 2^20).
 *
 * Both reduce the angle to n quarter turns plus p + e with |p| <= pi/4 (e is what p lacks), then
 * to a tabulated point plus d with |d| <= 1/128, and use short Taylor polynomials in d.
 */
import { upperHalf } from './double-double.ts';
import { PI, QUARTER, TRIG_TABLE } from './table-data.ts';

/** 2 pi. */
const TAU_HIGH = 2 * PI[0];
const TAU_LOW = 2 * PI[1];
const TAU_UPPER = upperHalf(TAU_HIGH);
const TAU_REST = TAU_HIGH - TAU_UPPER;

const [A, B, C, D] = QUARTER;
const INVERSE_QUARTER = 2 / PI[0];
const MAX_RADIANS = 1048576;

/** Grid points c = i / 64 from 0 to beyond pi/4. */
const STEPS = 64;
/** Four doubles per point: the upper 26 bits of sin c, the rest, the same for cos c. */
const TABLE = TRIG_TABLE;

/**
 * sin(p + e), or cos(p + e), for |p| <= 0.8 and tiny e, from the nearest grid point c and
 * d = p - c: sin c cos d + cos c sin d, and cos c cos d - sin c sin d. The product of d with the
 * other function is the only large correction; its leading part is exact, as both factors have 26 bits.
 */
function kernel(p: number, e: number, cosine: boolean): number {
  const sign = p < 0 ? -1 : 1;
  const a = sign * p;
  const i = Math.floor(a * STEPS + 0.5);
  const d = a - i / STEPS;
  const dh = upperHalf(d);
  const square = d * d;
  const sinLow = d * square * (-1 / 6 + square * (1 / 120 - square / 5040)) + sign * e; // sin d - d
  const cosLow = square * (-1 / 2 + square * (1 / 24 - square / 720)); // cos d - 1
  const own = 4 * i + (cosine ? 2 : 0);
  const other = 4 * i + (cosine ? 0 : 2);
  const turn = cosine ? -1 : 1;
  const f = TABLE[own] as number;
  const fRest = TABLE[own + 1] as number;
  const g = turn * (TABLE[other] as number);
  const gRest = turn * (TABLE[other + 1] as number);
  const step = g * dh;
  const sum = f + step;
  // f is at least twice the step, or 0.
  const low = fRest + g * (d - dh) + gRest * d + ((f + fRest) * cosLow + (g + gRest) * sinLow);
  const rest = f - sum + step + low;
  return cosine ? sum + rest : sign * (sum + rest);
}

/** sin of n quarter turns plus p + e. `0 - x` keeps half turns at +0. */
function sinOfQuarters(n: number, p: number, e: number): number {
  const quadrant = n - 4 * Math.floor(n / 4);
  if (quadrant === 0) return kernel(p, e, false);
  if (quadrant === 1) return kernel(p, e, true);
  return 0 - (quadrant === 2 ? kernel(p, e, false) : kernel(p, e, true));
}

/** sin(2 pi t + offset quarter turns). */
function turn(t: number, offset: number): number {
  if (t - t !== 0) return Number.NaN;
  // From 2^53 on every double is a whole number of turns.
  const whole = Math.abs(t) >= 9007199254740992;
  const n = whole ? 0 : Math.floor(4 * t + 0.5);
  const f = whole ? 0 : t - n / 4; // exact
  const p = f * TAU_HIGH;
  // Below this size the error term would be lost to underflow, and a rounded p is all there is.
  if (Math.abs(f) < 1e-280) return sinOfQuarters(n + offset, p, 0);
  const fh = upperHalf(f);
  const fl = f - fh;
  const error = fl * TAU_REST - (p - fh * TAU_UPPER - fl * TAU_UPPER - fh * TAU_REST);
  return sinOfQuarters(n + offset, p, error + f * TAU_LOW);
}

/** sin(x + offset quarter turns) for x in radians. */
function radians(x: number, offset: number): number {
  if (!(Math.abs(x) <= MAX_RADIANS)) return Number.NaN;
  const n = Math.floor(x * INVERSE_QUARTER + 0.5);
  const a = x - n * A; // exact
  // a - n B - n C, each difference with Knuth's error term, as neither operand is always the larger.
  const b = n * B;
  const ab = a - b;
  const backA = ab - a;
  const c = n * C;
  const p = ab - c;
  const backP = p - ab;
  const e = ab - (p - backP) - (c + backP) + (a - (ab - backA) - (b + backA)) - n * D;
  const sum = p + e;
  return sinOfQuarters(n + offset, sum, p - sum + e);
}

/** sin(2 pi t), error below 0.51 ulp; exact at quarter turns; NaN unless t is finite. */
export function sinTurn(t: number): number {
  return turn(t, 0);
}

/** cos(2 pi t), error below 0.51 ulp; exact at quarter turns; NaN unless t is finite. */
export function cosTurn(t: number): number {
  return turn(t, 1);
}

/**
 * Sine, error below 0.51 ulp; NaN beyond 2^20 radians, which would need a longer pi.
 * @param x in radians
 * @example
 * ```ts
 * import { sin } from 'triscope/sim';
 *
 * console.log(sin(Math.PI / 6)); // 0.49999999999999994, on every machine
 * ```
 */
export function sin(x: number): number {
  return radians(x, 0);
}

/**
 * Cosine, error below 0.51 ulp; NaN beyond 2^20 radians, which would need a longer pi.
 * @param x in radians
 * @example
 * ```ts
 * import { cos } from 'triscope/sim';
 *
 * console.log(cos(Math.PI / 3)); // 0.5000000000000001, on every machine
 * ```
 */
export function cos(x: number): number {
  return radians(x, 1);
}
