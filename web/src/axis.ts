/**
 * The time axis. Windows and samples are in seconds of real time; this maps them to what the axis counts. Virtual
 * time and GVT index never fall as real time goes on, so one brush means the same in all three.
 */
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../../src/model/units.ts';
import type { AxisKind } from './state.ts';

/** Moments of a run by all three clocks, in order; arrays of one length. */
export interface Clock {
  /** Seconds since the recording's start. */
  readonly real: ArrayLike<number>;
  readonly virtual: ArrayLike<number>;
  readonly gvt: ArrayLike<number>;
}

export interface Axis {
  readonly kind: AxisKind;
  readonly title: string;
  /** Axis value at a moment of real time. */
  of(seconds: number): number;
  /** Moment of real time at an axis value. */
  seconds(value: number): number;
  /** An axis value as text, exact to `step`. */
  text(value: number, step?: number): string;
}

/** y at x, interpolated linearly; `xs` never falls. */
function between(xs: ArrayLike<number>, ys: ArrayLike<number>, x: number): number {
  const last = xs.length - 1;
  let [low, high] = [0, last];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (xs[middle] < x) low = middle + 1;
    else high = middle;
  }
  // Beyond the ends, the clocks continue at the rate of the last two moments.
  const right = Math.max(1, low);
  const width = xs[right] - xs[right - 1];
  if (!(width > 0)) return ys[right];
  return ys[right - 1] + ((x - xs[right - 1]) / width) * (ys[right] - ys[right - 1]);
}

/** Decimal digits that tell multiples of a step apart: one more than the step's magnitude if it is 2.5 of it. */
function digits(step: number): number {
  const size = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const rest = Math.abs(step * 10 ** size - Math.round(step * 10 ** size));
  return Math.min(9, rest > 0.01 ? size + 1 : size);
}

/** “1:06:40.5”: with hours if there are any, or if `always`. */
function clockText(seconds: number, step: number, always: boolean): string {
  const size = digits(Math.min(1, step));
  const whole = Number(Math.abs(seconds).toFixed(size));
  const [hours, minutes] = [
    Math.floor(whole / HOUR_SECONDS),
    Math.floor((whole % HOUR_SECONDS) / MINUTE_SECONDS),
  ];
  const rest = (whole % MINUTE_SECONDS).toFixed(size).padStart(size === 0 ? 2 : size + 3, '0');
  const two = (value: number) => String(value).padStart(2, '0');
  const sign = seconds < 0 ? '−' : '';
  return hours > 0 || always
    ? `${sign}${always ? two(hours) : hours}:${two(minutes)}:${rest}`
    : `${sign}${minutes}:${rest}`;
}

export const REAL: Axis = {
  kind: 'real',
  title: 'Real time',
  of: (seconds) => seconds,
  seconds: (value) => value,
  text: (value, step = 0.001) =>
    Math.abs(value) < MINUTE_SECONDS
      ? `${value.toFixed(digits(step))} s`
      : `${clockText(value, step, false)} ${Math.abs(value) < HOUR_SECONDS ? 'min' : 'h'}`,
};

/** For a recording whose times are virtual times: see `PageFacts.clock`. */
export const VIRTUAL: Axis = {
  ...REAL,
  kind: 'virtual',
  title: 'Virtual time',
  text: (value, step = 0.01) => value.toFixed(digits(step)),
};

/** The time of day in UTC: axis values are seconds from the midnight before the recording's start. */
function wall(zero: number): Axis {
  const midnight = Math.floor(zero / DAY_SECONDS) * DAY_SECONDS;
  const shift = zero - midnight;
  return {
    kind: 'wall',
    title: 'Wall clock (UTC)',
    of: (seconds) => seconds + shift,
    seconds: (value) => value - shift,
    text: (value, step = 0.001) => {
      const days = Math.floor(value / DAY_SECONDS);
      const day = new Date((midnight + days * DAY_SECONDS) * 1000).toISOString().slice(5, 10);
      if (step >= DAY_SECONDS) return day;
      const time = clockText(value - days * DAY_SECONDS, step, true);
      // A day later, the date is shown too.
      return days === 0 ? time : `${day} ${time}`;
    },
  };
}

/** Distances between ticks on axes of time: round in seconds, minutes, hours, days. */
export const STEPS_OF_TIME: readonly number[] = [
  ...Array.from({ length: 10 }, (_, k) => [1, 2, 5].map((n) => n * 10 ** (k - 9))).flat(),
  ...[10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE_SECONDS),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR_SECONDS),
  ...[1, 2, 5, 10, 20, 50, 100].map((n) => n * DAY_SECONDS),
];

/** Makes columns rise everywhere, if only a little, because an axis value must map back to one moment. */
function rising(values: ArrayLike<number>): Float64Array {
  const made = Float64Array.from(values);
  const span = made.length === 0 ? 0 : made[made.length - 1] - made[0];
  const least = (span > 0 ? span : 1) * 1e-9;
  for (let k = 1; k < made.length; k++) made[k] = Math.max(made[k], made[k - 1] + least);
  return made;
}

/**
 * The axis of a kind; real time if the recording does not tell how the clocks relate. `zero`: seconds since
 * 1970 at the recording's start; 0 if unknown.
 */
export function axisFor(kind: AxisKind, clock: Clock | null, zero = 0): Axis {
  if (kind === 'wall') return zero > 0 ? wall(zero) : REAL;
  if (kind === 'real' || clock === null || clock.real.length < 2) return REAL;
  const real = rising(clock.real);
  const values = rising(clock[kind]);
  return {
    kind,
    title: kind === 'virtual' ? 'Virtual time' : 'GVT index',
    of: (seconds) => between(real, values, seconds),
    seconds: (value) => between(values, real, value),
    text: (value, step = kind === 'gvt' ? 1 : 0.01) => value.toFixed(digits(step)),
  };
}
