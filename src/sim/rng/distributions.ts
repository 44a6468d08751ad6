/**
 * Random variates from uniform ones, with ROSS's parameters and ROSS's order of draws: from the
 * same generator state they give ROSS's values. Elementary functions come from `../math`, so the
 * values are the same bits on every engine.
 *
 * Each function names how many uniforms it draws. The functions keep no state of their own; a
 * rollback only has to take the draws back (and, for the normal family, the spare value).
 */
import { cos, exp, gammaFunction, log, pow, sin } from '../math/index.ts';

/** A generator of uniform numbers between 0 and 1; every call is one draw. */
interface UniformSource {
  uniform(): number;
}

/**
 * A generator that also keeps the second value of a Box-Muller pair. The spare is NaN when there
 * is none; it is part of the stream's state and has to be restored in a rollback.
 */
export interface NormalSource extends UniformSource {
  spare(): number;
  setSpare(value: number): void;
}

const UINT32 = 4294967296;
const UINT64 = 18446744073709551616n;

/** 2 pi as in ROSS's normal variates, which use 12 digits; the full value would change their bits. */
const ROSS_TAU = 6.28318530718;

/** e^-lambda and the running product stay normal numbers up to here. */
const POISSON_BLOCK = 500;

function reject(what: string, value: number | bigint): never {
  throw new RangeError(`${what}, got ${value}`);
}

/** @throws RangeError for a mean of an exponential distribution that cannot be */
export function refuseMean(mean: number): never {
  throw new RangeError(`an exponential mean must not be negative, got ${mean}`);
}

/** Whole number from 0 to n - 1. The bound matters once in 2^53 draws, when u has rounded to 1. */
function below(g: UniformSource, n: number): number {
  return Math.min(Math.floor(g.uniform() * n), n - 1);
}

/**
 * Whole number from `lo` to `hi`, both included, all equally likely. One draw.
 *
 * @throws RangeError unless lo <= hi are integers less than 2^53 apart
 */
export function integer(g: UniformSource, lo: number, hi: number): number {
  const span = hi + 1 - lo;
  if (!(span >= 1 && span <= 9007199254740992 && Math.floor(lo) === lo && Math.floor(hi) === hi)) {
    throw new RangeError(`a random integer needs integer bounds lo <= hi, got ${lo} and ${hi}`);
  }
  return lo + below(g, span);
}

/**
 * Whole number from `lo` to `hi`, both included, within 0..2^64 - 1. One draw if there are at most
 * 2^32 values to choose from, else three: 96 random bits keep every value's probability within
 * 2^-32 of the others'. (The algorithm is ours.)
 *
 * @throws RangeError unless 0 <= lo <= hi < 2^64
 */
export function ulong(g: UniformSource, lo: bigint, hi: bigint): bigint {
  if (lo < 0n || hi < lo || hi >= UINT64) {
    throw new RangeError(`a random ulong needs bounds 0 <= lo <= hi < 2^64, got ${lo} and ${hi}`);
  }
  const span = hi - lo + 1n;
  if (span <= 4294967296n) return lo + BigInt(below(g, Number(span)));
  let bits = 0n;
  for (let i = 0; i < 3; i++) bits = (bits << 32n) | BigInt(below(g, UINT32));
  return lo + ((bits * span) >> 96n);
}

/**
 * Exponential with the given mean (same unit as the result), by inversion: -mean ln u. One draw.
 *
 * @throws RangeError for a mean that is negative or NaN
 */
export function exponential(g: UniformSource, mean: number): number {
  if (!(mean >= 0)) reject('an exponential mean must not be negative', mean);
  return -mean * log(g.uniform());
}

/**
 * Successes in `n` independent trials that succeed with probability `p`. n draws.
 *
 * @throws RangeError unless n is a non-negative integer and 0 <= p <= 1
 */
export function binomial(g: UniformSource, n: number, p: number): number {
  if (!(n >= 0 && Number.isSafeInteger(n))) reject('a number of trials must be an integer >= 0', n);
  if (!(p >= 0 && p <= 1)) reject('a probability must be from 0 to 1', p);
  let successes = 0;
  for (let i = 0; i < n; i++) if (g.uniform() <= p) successes++;
  return successes;
}

/**
 * Trials up to and including the first success, each succeeding with probability `p`: 1, 2, ...
 * with mean 1/p. As many draws as the result says.
 *
 * @throws RangeError unless 0 < p <= 1
 */
export function geometric(g: UniformSource, p: number): number {
  if (!(p > 0 && p <= 1)) reject('a geometric probability must be above 0 and at most 1', p);
  let trials = 1;
  while (!(g.uniform() <= p)) trials++;
  return trials;
}

/**
 * Poisson: events in an interval in which `lambda` are expected. One draw more than the result
 * (Knuth: multiply uniforms until the product falls below e^-lambda); above lambda = 500, where
 * that product would underflow, the sum of independent parts, one more draw for each.
 *
 * @throws RangeError unless lambda is finite and not negative
 */
export function poisson(g: UniformSource, lambda: number): number {
  if (!(lambda >= 0 && lambda < Number.POSITIVE_INFINITY)) {
    reject('a Poisson mean must be finite and not negative', lambda);
  }
  let count = 0;
  let rest = lambda;
  do {
    const part = Math.min(rest, POISSON_BLOCK);
    const limit = exp(-part);
    for (let product = g.uniform(); product >= limit; product *= g.uniform()) count++;
    rest -= part;
  } while (rest > 0);
  return count;
}

/**
 * Gamma with the given shape and scale: mean shape * scale, variance shape * scale^2; the scale
 * has the result's unit. By rejection, two draws per round, between 1.1 and 1.5 rounds on
 * average; one draw for shape 1, which is the exponential distribution.
 *
 * Shapes above 1 use Cheng's GB (1977), shapes below 1 Ahrens and Dieter's GS (1974), both as
 * given in Law and Kelton, "Simulation Modeling and Analysis".
 *
 * @throws RangeError unless shape > 0 and scale >= 0 are finite
 */
export function gamma(g: UniformSource, shape: number, scale: number): number {
  if (!(shape > 0 && shape < Number.POSITIVE_INFINITY)) {
    reject('a gamma shape must be positive and finite', shape);
  }
  if (!(scale >= 0 && scale < Number.POSITIVE_INFINITY)) {
    reject('a gamma scale must be finite and not negative', scale);
  }
  if (shape > 1) return scale * gammaAbove1(g, shape);
  if (shape === 1) return exponential(g, scale);
  return scale * gammaBelow1(g, shape);
}

const LOG_4 = log(4);
/** Cheng's theta and 1 + ln theta, for the quick acceptance test. */
const THETA = 4.5;
const THETA_D = 1 + log(THETA);

function gammaAbove1(g: UniformSource, shape: number): number {
  const a = 1 / Math.sqrt(2 * shape - 1);
  const b = shape - LOG_4;
  const q = shape + 1 / a;
  for (;;) {
    const u = g.uniform();
    const w = g.uniform();
    const v = a * log(u / (1 - u));
    const y = shape * exp(v);
    const z = u * u * w;
    const bound = b + q * v - y;
    if (bound + THETA_D - THETA * z >= 0 || bound >= log(z)) return y;
  }
}

const INVERSE_E = 1 / exp(1);

function gammaBelow1(g: UniformSource, shape: number): number {
  const b = 1 + shape * INVERSE_E;
  for (;;) {
    const p = b * g.uniform();
    const u = g.uniform();
    if (p <= 1) {
      const y = pow(p, 1 / shape);
      if (u <= exp(-y)) return y;
    } else {
      const y = -log((b - p) / shape);
      if (u <= pow(y, shape - 1)) return y;
    }
  }
}

/**
 * Pareto: values from `scale` (the minimum, in the result's unit) up, with P(X > x) =
 * (scale / x)^shape. By inversion, one draw. Note that ROSS names the shape first.
 *
 * @throws RangeError unless scale >= 0 and shape > 0
 */
export function pareto(g: UniformSource, scale: number, shape: number): number {
  if (!(scale >= 0)) reject('a Pareto scale must not be negative', scale);
  if (!(shape > 0)) reject('a Pareto shape must be positive', shape);
  return scale / pow(g.uniform(), 1 / shape);
}

/** The last shape and Gamma(1 + 1/shape), which takes most of the time and seldom changes. */
const lastWeibull = new Float64Array([Number.NaN, Number.NaN]);

/**
 * Weibull with the given *mean* (in the result's unit; the scale parameter is mean / Gamma(1 +
 * 1/shape)) and shape. By inversion, one draw.
 *
 * @throws RangeError unless mean >= 0 and shape >= 1/170, below which the scale vanishes
 */
export function weibull(g: UniformSource, mean: number, shape: number): number {
  if (!(mean >= 0)) reject('a Weibull mean must not be negative', mean);
  if (!(shape >= 1 / 170)) reject('a Weibull shape must be at least 1/170', shape);
  const inverse = 1 / shape;
  if (shape !== lastWeibull[0]) {
    lastWeibull[0] = shape;
    lastWeibull[1] = gammaFunction(1 + inverse);
  }
  return (mean / (lastWeibull[1] as number)) * pow(-log(g.uniform()), inverse);
}

/**
 * Standard normal, by Box and Muller's method. Two draws for the first value of a pair (the sine),
 * none for the second (the cosine), which waits in the source's spare.
 */
export function normal01(g: NormalSource): number {
  const spare = g.spare();
  if (!Number.isNaN(spare)) {
    g.setSpare(Number.NaN);
    return spare;
  }
  const radius = Math.sqrt(-2 * log(g.uniform()));
  const angle = ROSS_TAU * g.uniform();
  g.setSpare(radius * cos(angle));
  return radius * sin(angle);
}

/**
 * Normal with the given mean and standard deviation. Draws as {@link normal01}.
 *
 * @throws RangeError for a NaN mean or a deviation that is negative or NaN
 */
export function normalSd(g: NormalSource, mean: number, sd: number): number {
  if (Number.isNaN(mean)) reject('a normal mean must be a number', mean);
  if (!(sd >= 0)) reject('a standard deviation must not be negative', sd);
  return mean + sd * normal01(g);
}

/**
 * Log-normal: e^X with X normal. As in ROSS, `mean` and `sd` are those of X, the logarithm, not of
 * the result, whose mean is e^(mean + sd^2 / 2). Draws as {@link normal01}.
 *
 * @throws RangeError as {@link normalSd}
 */
export function lognormal(g: NormalSource, mean: number, sd: number): number {
  return exp(normalSd(g, mean, sd));
}
