/** Entry of a session's thread. It sleeps until absolute moments, so a shorter period follows a late sample. */
import { isAlive } from '../../os/alive.ts';
import { doTask } from '../../os/thread.ts';
import { Platform, type PlatformOptions } from '../platform.ts';
import type { SignalDomain } from '../signals/provider.ts';

/** One reading: values in the order of the columns (NaN: absent), seconds since the session's start, seconds since 1970. */
export interface SessionRow {
  /** In the order of the columns; NaN where absent. */
  readonly values: Float64Array;
  /** Seconds since time zero. */
  readonly time: number;
  /** Milliseconds since 1970. */
  readonly wall: number;
}

export interface SessionTask {
  readonly platform: Pick<PlatformOptions, 'root' | 'synthetic'>;
  readonly columns: readonly {
    readonly signal: string;
    readonly domain: SignalDomain;
    readonly index: number;
  }[];
  /** Seconds; 0: a single sample. */
  readonly period: number;
  /** Seconds; 0: without an end. */
  readonly duration: number;
  /** 0: none. */
  readonly pid: number;
  /** One word; any value but 0 asks for the end. */
  readonly stop: Int32Array;
}

/** How a session went. */
export interface SessionEnd {
  readonly rows: number;
  /** Samples that were more than a period late. */
  readonly late: number;
  /** Samples that were skipped because they were far too late. */
  readonly missed: number;
}

/** Milliseconds until a first sample with absent values is repeated: some signals need two. */
const REPEAT_MS = 5;
/** A process is checked at least this often, in ms. */
const PID_MS = 100;
/** If the delay exceeds this many periods, and a second, the missed samples are skipped. */
const MOST_BEHIND = 10;

function watch(task: SessionTask, tell: (row: SessionRow) => void): SessionEnd {
  const { platform: options, columns, period, duration, pid, stop } = task;
  const platform = Platform.open(options);
  const time = platform.push('TIME', 'board', 0);
  const handles = columns.map(({ signal, domain, index }) => platform.push(signal, domain, index));
  const values = new Float64Array(handles.length);
  const take = () => {
    platform.readBatch();
    for (let k = 0; k < handles.length; k++) values[k] = platform.sample(handles[k]);
  };
  /** Waits until `performance.now()` is `until`; false if the end was asked for first. */
  const wait = (until: number): boolean => {
    for (;;) {
      const rest = until - performance.now();
      if (Atomics.load(stop, 0) !== 0 || (pid > 0 && !isAlive(pid))) return false;
      if (rest <= 0) return true;
      Atomics.wait(stop, 0, 0, pid > 0 ? Math.min(rest, PID_MS) : rest);
    }
  };
  // Rounding of a quotient such as 1.1 / 0.1 must not add a sample.
  const last =
    period === 0
      ? 0
      : duration === 0
        ? Number.POSITIVE_INFINITY
        : Math.ceil(duration / period - 1e-9);
  let [rows, late, missed] = [0, 0, 0];
  try {
    take();
    if (values.some(Number.isNaN)) {
      wait(performance.now() + REPEAT_MS);
      take();
    }
    const start = performance.now();
    const say = () => {
      tell({
        values: values.slice(),
        time: platform.sample(time),
        wall: performance.timeOrigin + performance.now(),
      });
      rows++;
    };
    say();
    for (let tick = 1; tick <= last; tick++) {
      const at = start + tick * period * 1000;
      const behind = (performance.now() - at) / 1000;
      if (behind > Math.max(1, MOST_BEHIND * period)) {
        missed++;
        continue;
      }
      if (behind > period) late++;
      if (!wait(at)) break;
      take();
      say();
    }
  } finally {
    platform.close();
  }
  return { rows, late, missed };
}

void doTask(watch);
