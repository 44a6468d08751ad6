/** The random streams that a model draws from before its run begins. */
import * as clcg4 from './clcg4.ts';
import * as dist from './distributions.ts';
import type { Random } from './random.ts';

/** Numbers of the streams, past those of all LPs, which have their ids. */
export const PREPARE = 2 ** 31;
export const TABLES = 2 ** 31 + 1;

/**
 * A stream of its own, of which nothing is ever undone. The calls stand here as they do in `LpContext`, which cannot have a base class:
 * its chain of prototypes ends where unknown names are refused (`sealed.ts`).
 */
export class SetupRandom implements Random, dist.NormalSource {
  private readonly stream = new Float64Array(clcg4.STREAM_WORDS);
  private second = Number.NaN;

  /** @param stream its number, 0 to 2^53 - 1 */
  constructor(seeds: clcg4.Seeds, stream: number) {
    clcg4.seedStream(this.stream, 0, seeds, stream);
  }

  uniform(): number {
    return clcg4.next(this.stream, 0);
  }

  spare(): number {
    return this.second;
  }

  setSpare(value: number): void {
    this.second = value;
  }

  integer(lo: number, hi: number): number {
    return dist.integer(this, lo, hi);
  }

  ulong(lo: bigint, hi: bigint): bigint {
    return dist.ulong(this, lo, hi);
  }

  exponential(mean: number): number {
    return dist.exponential(this, mean);
  }

  binomial(n: number, p: number): number {
    return dist.binomial(this, n, p);
  }

  geometric(p: number): number {
    return dist.geometric(this, p);
  }

  poisson(mean: number): number {
    return dist.poisson(this, mean);
  }

  gamma(shape: number, scale: number): number {
    return dist.gamma(this, shape, scale);
  }

  pareto(scale: number, shape: number): number {
    return dist.pareto(this, scale, shape);
  }

  weibull(mean: number, shape: number): number {
    return dist.weibull(this, mean, shape);
  }

  normal01(): number {
    return dist.normal01(this);
  }

  normalSd(mean: number, sd: number): number {
    return dist.normalSd(this, mean, sd);
  }

  lognormal(mean: number, sd: number): number {
    return dist.lognormal(this, mean, sd);
  }
}
