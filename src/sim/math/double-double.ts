/**
 * Double-double arithmetic: a number held as the unevaluated sum `hi + lo` of two doubles with
 * |lo| at most half an ulp of hi, about 106 significant bits. Used at module load to build the
 * tables of the elementary functions, so it is written for clarity, not speed.
 *
 * The error-free sum is Knuth's, the error-free product Dekker's (with Veltkamp's split).
 */
export type DoubleDouble = readonly [hi: number, lo: number];

/** a + b without error. */
export function twoSum(a: number, b: number): DoubleDouble {
  const s = a + b;
  const bb = s - a;
  return [s, a - (s - bb) + (b - bb)];
}

/** Upper 26 bits of a; the rest fits in 26 bits too, so products of halves are exact. */
export function upperHalf(a: number): number {
  const t = 134217729 * a; // 2^27 + 1
  return t - (t - a);
}

/** a * b without error, barring overflow and underflow. */
export function twoProduct(a: number, b: number): DoubleDouble {
  const p = a * b;
  const ah = upperHalf(a);
  const al = a - ah;
  const bh = upperHalf(b);
  const bl = b - bh;
  return [p, al * bl - (p - ah * bh - al * bh - ah * bl)];
}

export function add(a: DoubleDouble, b: DoubleDouble): DoubleDouble {
  const [s, e] = twoSum(a[0], b[0]);
  const [t, f] = twoSum(a[1], b[1]);
  const [u, v] = twoSum(s, e + t);
  return twoSum(u, v + f);
}

export function multiply(a: DoubleDouble, b: DoubleDouble): DoubleDouble {
  const [p, e] = twoProduct(a[0], b[0]);
  return twoSum(p, e + (a[0] * b[1] + a[1] * b[0]));
}

export function negate(a: DoubleDouble): DoubleDouble {
  return [-a[0], -a[1]];
}

export function divide(a: DoubleDouble, b: DoubleDouble): DoubleDouble {
  const q0 = a[0] / b[0];
  const r0 = add(a, negate(multiply(b, [q0, 0])));
  const q1 = r0[0] / b[0];
  const r1 = add(r0, negate(multiply(b, [q1, 0])));
  const q2 = r1[0] / b[0];
  return add(twoSum(q0, q1), [q2, 0]);
}

/**
 * Natural logarithm of a double between 1/2 and 2: 2 atanh(s) = 2 (s + s^3/3 + s^5/5 + ...) with
 * s = (a - 1) / (a + 1), so |s| <= 1/3.
 */
export function logOf(a: number): DoubleDouble {
  const s = divide(twoSum(a, -1), twoSum(a, 1));
  const square = multiply(s, s);
  let term = s;
  let sum = s;
  for (let n = 3; Math.abs(term[0]) > 1e-36; n += 2) {
    term = multiply(term, square);
    sum = add(sum, divide(term, [n, 0]));
  }
  return [2 * sum[0], 2 * sum[1]];
}

/** e^a for |a| <= 1 by its power series. */
export function expOf(a: DoubleDouble): DoubleDouble {
  let term: DoubleDouble = [1, 0];
  let sum: DoubleDouble = [1, 0];
  for (let n = 1; n < 40; n++) {
    term = divide(multiply(term, a), [n, 0]);
    sum = add(sum, term);
  }
  return sum;
}

/** ln 2. */
export const LN2: DoubleDouble = logOf(2);
