/**
 * The time axis. Windows and samples are in seconds of real time; this places them by what the axis counts. Virtual
 * time and GVT index never go back as real time goes on, so one brush means the same in all three.
 */
import type { AxisKind } from './state.ts';

/** Moments of a run by all three clocks, in order; arrays of one length. */
export interface Clock {
  /** Seconds since the recording's zero. */
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

/** y at x, straight between neighbours, `xs` never falling. */
function between(xs: ArrayLike<number>, ys: ArrayLike<number>, x: number): number {
  const last = xs.length - 1;
  let [low, high] = [0, last];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (xs[middle] < x) low = middle + 1;
    else high = middle;
  }
  // Beyond the ends the clocks go on as between the last two.
  const right = Math.max(1, low);
  const width = xs[right] - xs[right - 1];
  if (!(width > 0)) return ys[right];
  return ys[right - 1] + ((x - xs[right - 1]) / width) * (ys[right] - ys[right - 1]);
}

/** Digits after the point that tell multiples of a step apart: one more than its size where it is 2.5 of it. */
function digits(step: number): number {
  const size = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const rest = Math.abs(step * 10 ** size - Math.round(step * 10 ** size));
  return Math.min(9, rest > 0.01 ? size + 1 : size);
}

export const REAL: Axis = {
  kind: 'real',
  title: 'Real time',
  of: (seconds) => seconds,
  seconds: (value) => value,
  text: (value, step = 0.001) => `${value.toFixed(digits(step))} s`,
};

/** Of a recording whose times are virtual ones: see `Facts.clock`. */
export const VIRTUAL: Axis = {
  ...REAL,
  kind: 'virtual',
  title: 'Virtual time',
  text: (value, step = 0.01) => value.toFixed(digits(step)),
};

/** Columns that rise everywhere, if only a little: the way back from an axis value must be one moment. */
function rising(values: ArrayLike<number>): Float64Array {
  const made = Float64Array.from(values);
  const span = made.length === 0 ? 0 : made[made.length - 1] - made[0];
  const least = (span > 0 ? span : 1) * 1e-9;
  for (let k = 1; k < made.length; k++) made[k] = Math.max(made[k], made[k - 1] + least);
  return made;
}

/** The axis of a kind; real time where the recording does not say how the clocks go together. */
export function axisFor(kind: AxisKind, clock: Clock | null): Axis {
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
