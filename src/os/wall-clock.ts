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
