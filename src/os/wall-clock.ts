/** The time of day in nanoseconds: Node's own clocks have milliseconds, or do not follow when the clock is set. */
import { koffi } from './koffi.ts';

const CLOCK_REALTIME = 0;

let read: (() => bigint) | undefined;

function reader(): () => bigint {
  try {
    const call = koffi().load(null).func('int clock_gettime(int, void *)');
    const time = new BigInt64Array(2);
    return () => {
      call(CLOCK_REALTIME, time);
      return time[0] * 1_000_000_000n + time[1];
    };
  } catch {
    return () => BigInt(Date.now()) * 1_000_000n;
  }
}

/** Nanoseconds since 1970; accurate to a millisecond without FFI. */
export function wallClock(): bigint {
  read ??= reader();
  return read();
}

/** Both clocks at the same moment. */
export interface ClockPair {
  /** Nanoseconds of the monotonic clock (`process.hrtime`). */
  readonly monotonic: bigint;
  /** Nanoseconds since 1970. */
  readonly wall: bigint;
  /** Nanoseconds by which the two readings may be apart. */
  readonly apart: number;
}

/** Readings at most this many nanoseconds apart are close enough. */
const CLOSE_NS = 20_000;
const TRIES = 50;

/**
 * The two clocks cannot be read at once. The closest of several tries counts: a thread that loses its CPU between the readings
 * would be wrong by that time.
 */
export function clockPair(): ClockPair {
  let best: ClockPair | null = null;
  for (let k = 0; k < TRIES && (best === null || best.apart > CLOSE_NS); k++) {
    const before = process.hrtime.bigint();
    const wall = wallClock();
    const took = process.hrtime.bigint() - before;
    const apart = Number(took / 2n) + 1;
    if (best === null || apart < best.apart) best = { monotonic: before + took / 2n, wall, apart };
  }
  return best as ClockPair;
}

/** The time of day of a moment, ns since 1970. @param monotonic ns of CLOCK_MONOTONIC */
export function wallAt(monotonic: bigint): bigint {
  const now = clockPair();
  return now.wall - (now.monotonic - monotonic);
}
