/** Real time of a run: seconds since its zero, the same on all threads. */

/** The run's zero. */
export interface RunZero {
  /** Nanoseconds of the monotonic clock (`process.hrtime`). */
  readonly monotonic: bigint;
  /** Nanoseconds since 1970 at the same moment, good to a millisecond or so. */
  readonly wall: bigint;
}

export function runZero(): RunZero {
  const monotonic = process.hrtime.bigint();
  const wall = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e3)) * 1000n;
  return { monotonic, wall };
}

/** Tries for a pair of reads of both clocks close together. */
const TRIES = 50;

/**
 * A thread's `performance.now()` counts from its own start, so its offset to the monotonic clock is measured once:
 * the pair of reads that lie closest together is within a fraction of a microsecond.
 */
export class RunClock {
  /** Milliseconds of this thread's `performance.now()` at the run's zero. */
  private readonly offset: number;

  constructor(zero: RunZero) {
    let least = Infinity;
    let offset = 0;
    for (let k = 0; k < TRIES; k++) {
      const before = performance.now();
      const at = process.hrtime.bigint();
      const after = performance.now();
      if (after - before < least) {
        least = after - before;
        offset = (before + after) / 2 - Number(at - zero.monotonic) / 1e6;
      }
    }
    this.offset = offset;
  }

  /** Seconds since the run's zero. */
  now(): number {
    return (performance.now() - this.offset) / 1000;
  }
}
