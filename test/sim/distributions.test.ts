import { describe, expect, it } from 'vitest';
import { MODEL_SEEDS, next, previous, seedStream } from '../../src/sim/rng/clcg4.ts';
import {
  binomial,
  exponential,
  gamma,
  geometric,
  integer,
  lognormal,
  type NormalSource,
  normal01,
  normalSd,
  pareto,
  poisson,
  ulong,
  weibull,
} from '../../src/sim/rng/distributions.ts';

/** One CLCG4 stream that counts its draws and can take them back. */
class Source implements NormalSource {
  readonly state = new Float64Array(4);
  draws = 0;
  private _spare = Number.NaN;
  constructor(stream: number) {
    seedStream(this.state, 0, MODEL_SEEDS, stream);
  }
  uniform(): number {
    this.draws++;
    return next(this.state, 0);
  }
  undo(): void {
    for (; this.draws > 0; this.draws--) previous(this.state, 0);
  }
  spare(): number {
    return this._spare;
  }
  setSpare(value: number): void {
    this._spare = value;
  }
}

const UINT64_MAX = 2n ** 64n - 1n;
const sample = (n: number, draw: () => number) => Float64Array.from({ length: n }, draw);

/** Mean and variance must lie within `deviations` standard errors (for the variance: of a normal). */
function expectMoments(values: Float64Array, mean: number, variance: number, kurtosis = 3) {
  const n = values.length;
  const m = values.reduce((s, x) => s + x, 0) / n;
  const v = values.reduce((s, x) => s + (x - mean) ** 2, 0) / n;
  expect(Math.abs(m - mean) / Math.sqrt(variance / n)).toBeLessThan(4);
  expect(Math.abs(v / variance - 1) / Math.sqrt((kurtosis - 1) / n)).toBeLessThan(4);
}

/** Kolmogorov-Smirnov: sqrt(n) D exceeds 1.95 in one case of a thousand. */
function expectDistribution(values: Float64Array, cdf: (x: number) => number) {
  const sorted = values.slice().sort();
  let d = 0;
  sorted.forEach((x, i) => {
    const f = cdf(x);
    d = Math.max(d, f - i / sorted.length, (i + 1) / sorted.length - f);
  });
  expect(d * Math.sqrt(sorted.length)).toBeLessThan(1.95);
}

/** Chi-square of whole numbers against p(k), k = first, first + 1, ...; thin cells are pooled. */
function expectCounts(values: Float64Array, first: number, p: (k: number) => number) {
  const counts = new Map<number, number>();
  for (const x of values) counts.set(x, (counts.get(x) ?? 0) + 1);
  let [chi, cells, seen, expected, total] = [0, 0, 0, 0, 0];
  const n = values.length;
  for (let k = first; total < 1 - 10 / n; k++) {
    seen += counts.get(k) ?? 0;
    expected += n * p(k);
    total += p(k);
    if (expected < 10) continue;
    chi += (seen - expected) ** 2 / expected;
    cells++;
    [seen, expected] = [0, 0];
  }
  expect(cells).toBeGreaterThan(1);
  // Mean df, deviation sqrt(2 df); the tail is heavier than a normal's for few cells.
  expect(chi).toBeLessThan(cells + 5 * Math.sqrt(2 * cells));
  expect(chi).toBeGreaterThan(cells - 5 * Math.sqrt(2 * cells));
}

/** Regularised lower incomplete gamma function, by its series. */
function gammaCdf(shape: number, x: number): number {
  if (x <= 0) return 0;
  let term = 1 / shape;
  let sum = term;
  for (let n = 1; term > sum * 1e-16; n++) {
    term *= x / (shape + n);
    sum += term;
  }
  return Math.min(1, sum * Math.exp(shape * Math.log(x) - x - logGamma(shape)));
}

function logGamma(x: number): number {
  let [w, shift] = [x, 0];
  for (; w < 30; w++) shift += Math.log(w);
  const stirling = (w - 0.5) * Math.log(w) - w + Math.log(2 * Math.PI) / 2;
  return stirling + 1 / (12 * w) - 1 / (360 * w ** 3) - shift;
}

/** Phi(x), through the chi-square distribution of x^2. */
const normalCdf = (x: number) => 0.5 + (Math.sign(x) * gammaCdf(0.5, (x * x) / 2)) / 2;
const logChoose = (n: number, k: number) => logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1);

const N = 20000;

describe('whole numbers', () => {
  it('integer: all values alike, bounds included, one draw each', () => {
    const g = new Source(1);
    const values = sample(N, () => integer(g, -3, 6));
    expect(g.draws).toBe(N);
    expectCounts(values, -3, (k) => (k <= 6 ? 0.1 : 0));
    expectMoments(values, 1.5, 8.25, 1.78);
    expect(integer(g, 7, 7)).toBe(7);
  });

  it('integer: reaches 2^53 values', () => {
    const g = new Source(2);
    const values = sample(N, () => integer(g, 0, Number.MAX_SAFE_INTEGER));
    expectDistribution(values, (x) => x / 2 ** 53);
  });

  it('ulong: narrow ranges take one draw', () => {
    const g = new Source(3);
    const lo = 2n ** 63n + 5n;
    const values = sample(N, () => Number(ulong(g, lo, lo + 9n) - lo));
    expect(g.draws).toBe(N);
    expectCounts(values, 0, (k) => (k < 10 ? 0.1 : 0));
    expect(ulong(g, lo, lo)).toBe(lo);
  });

  const ranges = [2n ** 32n + 1n, 2n ** 53n + 11n, 3n * 2n ** 62n, 2n ** 64n - 1n, 2n ** 64n];
  it.each(ranges)('ulong: uniform over %s values, with three draws', (span) => {
    const g = new Source(4);
    const lo = (UINT64_MAX + 1n - span) / 2n;
    const draws = Array.from({ length: N }, () => ulong(g, lo, lo + span - 1n) - lo);
    expect(g.draws).toBe(3 * N);
    expect(draws.every((x) => x >= 0n && x < span)).toBe(true);
    const fraction = Float64Array.from(draws, (x) => Number(x) / Number(span));
    expectDistribution(fraction, (x) => x);
    expectMoments(fraction, 1 / 2, 1 / 12, 1.8);
    // The low bits are as good as the high ones, also where 64 bits do not divide evenly.
    expectCounts(
      Float64Array.from(draws, (x) => Number(x % 16n)),
      0,
      (k) => (k < 16 ? 1 / 16 : 0),
    );
  });

  it('binomial: n draws each', () => {
    const g = new Source(5);
    const p = (k: number) =>
      k > 12 ? 0 : Math.exp(logChoose(12, k) + k * Math.log(0.35) + (12 - k) * Math.log(0.65));
    const values = sample(N, () => binomial(g, 12, 0.35));
    expect(g.draws).toBe(12 * N);
    expectCounts(values, 0, p);
    expectMoments(values, 4.2, 2.73);
    expect([binomial(g, 0, 0.5), binomial(g, 9, 0), binomial(g, 9, 1)]).toEqual([0, 0, 9]);
  });

  it('geometric: as many draws as trials', () => {
    const g = new Source(6);
    const values = sample(N, () => geometric(g, 0.3));
    expect(g.draws).toBe(values.reduce((s, x) => s + x, 0));
    expectCounts(values, 1, (k) => 0.3 * 0.7 ** (k - 1));
    expectMoments(values, 1 / 0.3, 0.7 / 0.09, 9.2);
    expect(geometric(g, 1)).toBe(1);
  });

  it.each([0.2, 4, 60, 500, 1300])('poisson with mean %d', (lambda) => {
    const g = new Source(7);
    const n = lambda > 100 ? 3000 : N;
    const values = sample(n, () => poisson(g, lambda));
    const blocks = Math.max(1, Math.ceil(lambda / 500));
    expect(g.draws).toBe(values.reduce((s, x) => s + x, 0) + n * blocks);
    expectCounts(values, 0, (k) => Math.exp(k * Math.log(lambda) - lambda - logGamma(k + 1)));
    expectMoments(values, lambda, lambda, 3 + 1 / lambda);
  });
});

describe('real numbers', () => {
  it('exponential', () => {
    const g = new Source(8);
    const values = sample(N, () => exponential(g, 2.5));
    expect(g.draws).toBe(N);
    expectDistribution(values, (x) => 1 - Math.exp(-x / 2.5));
    expectMoments(values, 2.5, 6.25, 9);
    expect(Math.abs(exponential(g, 0))).toBe(0);
  });

  it.each([0.3, 0.9, 1, 1.5, 2.5, 40])('gamma with shape %d', (shape) => {
    const g = new Source(9);
    const values = sample(N, () => gamma(g, shape, 1.2));
    expect(g.draws / N).toBeLessThan(3.1);
    expectDistribution(values, (x) => gammaCdf(shape, x / 1.2));
    expectMoments(values, shape * 1.2, shape * 1.44, 3 + 6 / shape);
  });

  it('pareto', () => {
    const g = new Source(10);
    const values = sample(N, () => pareto(g, 2, 5));
    expect(g.draws).toBe(N);
    expectDistribution(values, (x) => 1 - (2 / x) ** 5);
    expectMoments(values, 2.5, 5 / 12, 73.8);
  });

  it.each([0.7, 1, 1.5, 3])('weibull with shape %d has the mean it is given', (shape) => {
    const g = new Source(11);
    const values = sample(N, () => weibull(g, 2, shape));
    expect(g.draws).toBe(N);
    const moment = (n: number) => Math.exp(logGamma(1 + n / shape));
    const scale = 2 / moment(1);
    expectDistribution(values, (x) => 1 - Math.exp(-((x / scale) ** shape)));
    expectMoments(values, 2, scale ** 2 * moment(2) - 4, shape < 1 ? 25 : 9);
  });

  it('normal01: pairs, each from two draws', () => {
    const g = new Source(12);
    const values = sample(N, () => normal01(g));
    expect(g.draws).toBe(N);
    expectDistribution(values, normalCdf);
    expectMoments(values, 0, 1);
    // The two values of a pair are independent: their product has mean 0 and variance 1.
    let products = 0;
    for (let i = 0; i < N; i += 2) products += (values[i] as number) * (values[i + 1] as number);
    expect(Math.abs(products) / Math.sqrt(N / 2)).toBeLessThan(4);
  });

  it('normal01: nothing but the stream and the spare has to be restored', () => {
    const g = new Source(13);
    const a = [normal01(g), normal01(g), normal01(g)];
    expect(g.spare()).not.toBeNaN();
    g.undo();
    g.setSpare(Number.NaN);
    expect([normal01(g), normal01(g), normal01(g)]).toEqual(a);
  });

  it('normalSd', () => {
    const g = new Source(14);
    const values = sample(N, () => normalSd(g, -3, 0.5));
    expectDistribution(values, (x) => normalCdf((x + 3) / 0.5));
    expectMoments(values, -3, 0.25);
    expect(normalSd(g, 5, 0)).toBe(5);
  });

  it('lognormal: mean and deviation are those of the logarithm', () => {
    const g = new Source(15);
    const values = sample(N, () => lognormal(g, 1, 0.25));
    expectDistribution(values, (x) => normalCdf((Math.log(x) - 1) / 0.25));
    const [mean, w] = [Math.exp(1 + 0.25 ** 2 / 2), Math.exp(0.25 ** 2)];
    expectMoments(values, mean, mean ** 2 * (w - 1), w ** 4 + 2 * w ** 3 + 3 * w ** 2 - 3);
  });
});

describe('impossible parameters', () => {
  const g = new Source(16);
  const calls: [string, () => unknown][] = [
    ['integer bounds in the wrong order', () => integer(g, 2, 1)],
    ['integer fractions', () => integer(g, 0.5, 2)],
    ['integer NaN', () => integer(g, Number.NaN, 2)],
    ['integer more than 2^53 values', () => integer(g, -(2 ** 53), 2 ** 53)],
    ['ulong bounds in the wrong order', () => ulong(g, 2n, 1n)],
    ['ulong below 0', () => ulong(g, -1n, 1n)],
    ['ulong beyond 64 bits', () => ulong(g, 0n, 2n ** 64n)],
    ['exponential negative', () => exponential(g, -1)],
    ['exponential NaN', () => exponential(g, Number.NaN)],
    ['binomial fraction', () => binomial(g, 1.5, 0.5)],
    ['binomial probability', () => binomial(g, 2, 1.5)],
    ['geometric never', () => geometric(g, 0)],
    ['geometric NaN', () => geometric(g, Number.NaN)],
    ['poisson negative', () => poisson(g, -1)],
    ['poisson endless', () => poisson(g, Infinity)],
    ['gamma shape', () => gamma(g, 0, 1)],
    ['gamma scale', () => gamma(g, 1, -1)],
    ['pareto scale', () => pareto(g, -1, 1)],
    ['pareto shape', () => pareto(g, 1, 0)],
    ['weibull mean', () => weibull(g, Number.NaN, 1)],
    ['weibull shape', () => weibull(g, 1, 0.001)],
    ['normal mean', () => normalSd(g, Number.NaN, 1)],
    ['normal deviation', () => normalSd(g, 0, -1)],
    ['lognormal deviation', () => lognormal(g, 0, Number.NaN)],
  ];
  it.each(calls)('%s', (_, call) => {
    expect(call).toThrow(RangeError);
    expect(call).toThrow(/^[^\n]+, got [^\n]+$/);
    expect(g.draws).toBe(0);
  });
});
