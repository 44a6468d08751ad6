/**
 * Reference values for the elementary functions, and errors against them: fixed point with P
 * fraction bits in BigInt, P far beyond what any check needs.
 */
const P = 320n;
const ONE = 1n << P;
export const mul = (a: bigint, b: bigint) => (a * b) >> P;

export const F64 = new Float64Array(1);
export const U64 = new BigUint64Array(F64.buffer);

/** |x| = mantissa * 2^exponent, exactly. */
export function parts(x: number): { mantissa: bigint; exponent: number } {
  F64[0] = Math.abs(x);
  const bits = U64[0] as bigint;
  const biased = Number(bits >> 52n);
  const fraction = bits & 0xfffffffffffffn;
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: biased - 1075 };
}

export const shift = (a: bigint, by: number) => (by >= 0 ? a << BigInt(by) : a >> BigInt(-by));

/** A double as fixed point (exact above 2^-260). */
export function fixed(x: number): bigint {
  const { mantissa, exponent } = parts(x);
  const value = shift(mantissa, exponent + Number(P));
  return x < 0 ? -value : value;
}

/** ln(a) of a fixed-point a in [1/2, 2] by the atanh series. */
function lnNear1(a: bigint): bigint {
  const s = ((a - ONE) << P) / (a + ONE);
  const square = mul(s, s);
  let sum = s;
  let term = s;
  for (let n = 3n; term > 1n || term < -1n; n += 2n) {
    term = mul(term, square);
    sum += term / n;
  }
  return 2n * sum;
}
const LN2 = lnNear1(2n * ONE);

export function refLn(x: number): bigint {
  const { mantissa, exponent } = parts(x);
  let k = mantissa.toString(2).length;
  // Around 1 the parts of k ln 2 + ln z must not cancel, so z is kept in [0.7, 1.4].
  if (shift(mantissa, 60 - k) < (7n << 60n) / 10n) k--;
  return BigInt(k + exponent) * LN2 + lnNear1(shift(mantissa, Number(P) - k));
}

/** e^a as fixed-point value * 2^k. */
export function refExp(a: bigint): { value: bigint; k: number } {
  const k = a / LN2;
  const r = a - k * LN2;
  let sum = ONE;
  let term = ONE;
  for (let n = 1n; term > 1n || term < -1n; n++) {
    term = mul(term, r) / n;
    sum += term;
  }
  return { value: sum, k: Number(k) };
}

function arctanOfInverse(n: bigint): bigint {
  let power = ONE / n;
  let sum = power;
  for (let k = 3n; power > 1n || power < -1n; k += 2n) {
    power = -power / (n * n);
    sum += power / k;
  }
  return sum;
}
export const PI = 16n * arctanOfInverse(5n) - 4n * arctanOfInverse(239n);

/** [sin, cos] of a fixed-point angle in radians. */
export function refSinCos(angle: bigint): [bigint, bigint] {
  let a = angle % (2n * PI);
  if (a > PI) a -= 2n * PI;
  if (a < -PI) a += 2n * PI;
  const result: [bigint, bigint] = [0n, 0n];
  let term = ONE;
  for (let n = 0n; term > 1n || term < -1n; n++) {
    const odd = (n & 1n) === 1n;
    const signed = (n & 2n) === 2n ? -term : term;
    if (odd) result[0] += signed;
    else result[1] += signed;
    term = mul(term, a) / (n + 1n);
  }
  return result;
}

/** Gamma(x) by the same kind of series as the code, but shifted to 200 with 40 terms. */
export function refGamma(x: number): { value: bigint; k: number } {
  let w = fixed(x);
  let product = ONE;
  let scale = 0;
  while (w < 200n * ONE) {
    product = mul(product, w);
    while (product > 2n * ONE) {
      product >>= 1n;
      scale++;
    }
    w += ONE;
  }
  const wScaled = w >> 8n; // w < 512
  const lnW = lnNear1(wScaled > ONE / 2n ? wScaled : 2n * wScaled);
  const full = lnW + BigInt(wScaled > ONE / 2n ? 8 : 7) * LN2;
  let sum = mul(w - ONE / 2n, full) - w + (lnNear1(PI / 2n) + 2n * LN2) / 2n;
  let power = (ONE << P) / w;
  const square = mul(power, power);
  for (let k = 1; k < BERNOULLI.length; k++) {
    const [p, q] = BERNOULLI[k] as [bigint, bigint];
    sum += (power * p) / (q * BigInt(2 * k * (2 * k - 1)));
    power = mul(power, square);
  }
  return refExp(sum - lnNear1(product) - BigInt(scale) * LN2);
}

/** Even Bernoulli numbers as fractions, from the defining recurrence. */
const BERNOULLI: [bigint, bigint][] = (() => {
  const all: [bigint, bigint][] = [[1n, 1n]];
  for (let n = 1n; n <= 60n; n++) {
    let [p, q] = [0n, 1n];
    let choose = 1n;
    for (let k = 0n; k < n; k++) {
      const [bp, bq] = all[Number(k)] as [bigint, bigint];
      [p, q] = [p * bq + choose * bp * q, q * bq];
      choose = (choose * (n + 1n - k)) / (k + 1n);
      const d = gcd(p < 0n ? -p : p, q);
      [p, q] = [p / d, q / d];
    }
    all.push([-p, q * (n + 1n)]);
  }
  return all.filter((_, i) => i % 2 === 0);
})();
function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}

/** Error of y, in units of its last place, against value * 2^k. */
export function ulps(y: number, value: bigint, k = 0): number {
  const { mantissa, exponent } = parts(y);
  // Both over 2^exponent, with 40 more bits.
  const reference = shift(value, 40 + k - Number(P) - exponent);
  const own = (y < 0 ? -mantissa : mantissa) << 40n;
  return Math.abs(Number(own - reference)) / 1099511627776;
}
