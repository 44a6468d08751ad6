/** Round places on an axis of time. Pure. */
import { type Axis, STEPS_OF_TIME } from '../axis.ts';

export interface AxisTick {
  /** Fraction of the width. */
  readonly at: number;
  readonly text: string;
}

/** CSS pixels of a letter, and between two texts. */
const LETTER = 7;
const BETWEEN = 18;

/** As many as there is room for in `width` CSS pixels, none cut off at its end. */
export function ticksOf(
  axis: Axis,
  [from, to]: readonly [number, number],
  width: number,
): readonly AxisTick[] {
  const [first, last] = [axis.of(from), axis.of(to)];
  const long = last - first;
  if (!(long > 0) || width <= 0) return [];
  const room = (step: number) => LETTER * axis.text(last, step).length + BETWEEN;
  const fits = (step: number) => (step / long) * width >= room(step);
  const step = STEPS_OF_TIME.find(fits) ?? 10 ** Math.ceil(Math.log10(long));
  const ticks: AxisTick[] = [];
  for (let k = Math.ceil(first / step - 1e-9); k * step <= last; k++) {
    const text = axis.text(k * step, step);
    const at = (k * step - first) / long;
    if (at * width + LETTER * text.length <= width) ticks.push({ at, text });
  }
  return ticks;
}
