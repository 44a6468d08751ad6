/**
 * Double-double arithmetic: a number held as the unevaluated sum `hi + lo` of two doubles with
 * |lo| at most half an ulp of hi, about 106 significant bits. Written for clarity, not speed:
 * only `gammaFunction` and the script that makes the tables compute with pairs.
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
