/**
 * Measures how far a rank's clocks are ahead of rank 0's, by round trips (after F. Cristian, "Probabilistic clock
 * synchronization", 1989).
 *
 *     rank 0   t0 ───────┐           ┌──────► t1      offset = answer - (t0 + t1) / 2
 *     rank r             └► answer ──┘                uncertain by (t1 - t0) / 2
 *
 * The shortest of many round trips counts: it leaves the least room for the two directions to differ.
 */
import { wallClock } from '../wall-clock.ts';
import type { MpiWorld } from './world.ts';

/** Nanoseconds that a rank's clocks are ahead of rank 0's. */
export interface ClockOffset {
  /** CLOCK_MONOTONIC, which counts from a machine's boot. */
  readonly monotonic: bigint;
  /** Time of day. */
  readonly wall: bigint;
  /** Half of the round trip: the error of both offsets is at most this. */
  readonly uncertainty: bigint;
  /** Time of day at rank 0, ns since 1970. */
  readonly at: bigint;
}

/** Round trips per rank; the number in a hurry; ns after which a rank gets no more round trips than that. */
const TRIPS = 200;
const FEW = 8;
const MOST_NS = 100_000_000n;

/** First word of what rank 0 sends. */
const ASK = 0n;
const RESULT = 1n;
const WORDS = 5;

function measure(world: MpiWorld, rank: number, trips: number): ClockOffset {
  const ask = BigInt64Array.of(ASK, 0n, 0n, 0n, 0n);
  const answer = new BigInt64Array(WORDS);
  const begun = process.hrtime.bigint();
  let best: ClockOffset | null = null;
  for (let k = 0; k < trips; k++) {
    const wall = wallClock();
    const t0 = process.hrtime.bigint();
    world.put(ask, rank);
    world.take(answer, rank);
    const t1 = process.hrtime.bigint();
    const half = (t1 - t0) / 2n;
    if (best === null || half < best.uncertainty) {
      best = {
        monotonic: answer[0] - t0 - half,
        wall: answer[1] - wall - half,
        uncertainty: half,
        at: wall,
      };
    }
    if (k >= FEW && t1 - begun > MOST_NS) break;
  }
  return best as ClockOffset;
}

/** Answers rank 0 until it has measured. */
function answerTo(world: MpiWorld): ClockOffset {
  const words = new BigInt64Array(WORDS);
  for (;;) {
    world.take(words, 0);
    if (words[0] === RESULT) break;
    words[0] = process.hrtime.bigint();
    words[1] = wallClock();
    world.put(words, 0);
  }
  const [, monotonic, wall, uncertainty, at] = words;
  return { monotonic, wall, uncertainty, at };
}

/** This rank's offset. All ranks call it; rank 0 measures them one after the other, with fewer round trips if `hurry` is set. */
export function clockOffset(world: MpiWorld, hurry = false): ClockOffset {
  if (world.rank > 0) return answerTo(world);
  for (let rank = 1; rank < world.size; rank++) {
    const { monotonic, wall, uncertainty, at } = measure(world, rank, hurry ? FEW : TRIPS);
    world.put(BigInt64Array.of(RESULT, monotonic, wall, uncertainty, at), rank);
  }
  return { monotonic: 0n, wall: 0n, uncertainty: 0n, at: wallClock() };
}
