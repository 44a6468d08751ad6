/** The time of day to the nanosecond: Node's own is of milliseconds, or does not follow when the clock is set. */
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

/** Nanoseconds since 1970; where there is no FFI, good to a millisecond. */
export function wallClock(): bigint {
  read ??= reader();
  return read();
}

/** Both clocks at one moment. */
export interface ClockPair {
  /** Nanoseconds of the monotonic clock (`process.hrtime`). */
  readonly monotonic: bigint;
  /** Nanoseconds since 1970. */
  readonly wall: bigint;
  /** Nanoseconds by which the two may belong to different moments. */
  readonly apart: number;
}

/** Two readings of a clock that are nearer than this have nothing between them, ns. */
const CLOSE = 20_000;
const TRIES = 50;

/**
 * The two cannot be read at once: of several tries the closest counts, as a thread that loses its CPU between the readings
 * would be wrong by that time.
 */
export function clockPair(): ClockPair {
  let best: ClockPair | null = null;
  for (let k = 0; k < TRIES && (best === null || best.apart > CLOSE); k++) {
    const before = process.hrtime.bigint();
    const wall = wallClock();
    const took = process.hrtime.bigint() - before;
    const apart = Number(took / 2n) + 1;
    if (best === null || apart < best.apart) best = { monotonic: before + took / 2n, wall, apart };
  }
  return best as ClockPair;
}

/** A moment's time of day, ns since 1970. @param monotonic ns of CLOCK_MONOTONIC */
export function wallAt(monotonic: bigint): bigint {
  const now = clockPair();
  return now.wall - (now.monotonic - monotonic);
}
