/** What draws from a random stream. */

/** Draws from a random stream, as `distributions.ts` makes them; an LP's own stream is rolled back by the engine. */
export interface Random {
  /** Uniform in (0, 1). One draw. */
  uniform(): number;
  /** Uniform integer in `lo`…`hi`, both included. One draw. */
  integer(lo: number, hi: number): number;
  /** Uniform 64-bit unsigned integer in `lo`…`hi`, both included. */
  ulong(lo: bigint, hi: bigint): bigint;
  /** Exponential, with this `mean` in the unit of the result. One draw. */
  exponential(mean: number): number;
  /** Number of successes in `n` independent trials that succeed with probability `p`, 0 to 1. n draws. */
  binomial(n: number, p: number): number;
  /** Number of trials up to and including the first success of probability `p`; mean 1 / p. As many draws as the result says. */
  geometric(p: number): number;
  /** Number of events where `mean` are expected (Poisson). One draw more than the result. */
  poisson(mean: number): number;
  /**
   * Gamma: mean shape × scale, variance shape × scale². By rejection: two draws per round; one draw for shape 1, which is
   * the exponential distribution.
   * @param shape above 0, without a unit
   * @param scale at least 0, in the unit of the result
   */
  gamma(shape: number, scale: number): number;
  /**
   * Pareto: P(X > x) = (scale / x)^shape. The mean is shape × scale / (shape - 1) for a shape above 1, else infinite. One draw.
   * @param scale the least value, at least 0, in the unit of the result
   * @param shape above 0, without a unit. ROSS takes the shape first
   */
  pareto(scale: number, shape: number): number;
  /**
   * Weibull, by its mean: the usual scale parameter is mean / Γ(1 + 1 / shape). One draw.
   * @param mean at least 0, in the unit of the result
   * @param shape at least 1/170, without a unit; 1 is the exponential distribution
   */
  weibull(mean: number, shape: number): number;
  /** Standard normal (mean 0, standard deviation 1). Two draws for every second value. */
  normal01(): number;
  /** Normal with `mean` and standard deviation `sd` in the unit of the result. Draws as `normal01`. */
  normalSd(mean: number, sd: number): number;
  /** e^X with X normal; `mean` and `sd` are those of X, the logarithm. Draws as `normal01`. */
  lognormal(mean: number, sd: number): number;
}
