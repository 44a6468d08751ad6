/** Student’s t distribution: how far a mean of few values may be from the true one. */

/** The share of Student's distribution beyond ±t. */
export function studentTail(t: number, freedom: number, scale = logBeta(freedom)): number {
  return incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5, scale);
}

/** The t beyond ±which lies this share. @param near where the search begins: a good guess halves its steps */
export function studentQuantile(freedom: number, share: number, near = 2): number {
  const scale = logBeta(freedom);
  let [low, high, t] = [0, Infinity, near];
  for (let k = 0; k < STEPS; k++) {
    const beyond = studentTail(t, freedom, scale);
    if (beyond > share) low = t;
    else high = t;
    const density =
      Math.exp(-((freedom + 1) / 2) * Math.log1p((t * t) / freedom) - scale) / Math.sqrt(freedom);
    // Newton's, on the logarithm of the share, which is nearly straight; or half of where it must be.
    const step = (Math.log(beyond / share) * beyond) / (2 * density);
    if (Math.abs(step) <= CLOSE * t) return t + step;
    const isNear = t + step > low && t + step < Math.min(high, 2 * t);
    const far = high === Infinity ? 2 * t : (low + high) / 2;
    t = isNear ? t + step : far;
  }
  return t;
}

/** Steps of the iteration, more than any quantile needs. */
const STEPS = 100;
/** Relative length of the last step of a quantile: its error is of the order of the square. */
const CLOSE = 1e-7;

/** Logarithm of the beta function of half the degrees of freedom and a half. */
const logBeta = (freedom: number): number =>
  logGamma(freedom / 2) + logGamma(0.5) - logGamma((freedom + 1) / 2);

/** Lanczos' series (g = 7, 9 terms). */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
];

function logGamma(x: number): number {
  const t = x + 6.5;
  const sum = LANCZOS.reduce((all, one, k) => all + (k === 0 ? one : one / (x - 1 + k)));
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** The regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun 26.5.8). @param scale log B(a, b) */
function incompleteBeta(x: number, a: number, b: number, scale: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a, scale);
  const front = Math.exp(a * Math.log(x) + b * Math.log(1 - x) - scale);
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 1000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return (front * fraction) / a;
}
