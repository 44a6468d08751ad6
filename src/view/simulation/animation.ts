/** What the page draws of LPs over virtual time: their places, and a value of each in each frame. */

export interface AnimationFacts {
  /** What the model recorded of its LPs. */
  readonly fields: readonly string[];
  /** Virtual times of the frames, in order. */
  readonly times: readonly number[];
  /** Numbers of the LPs that are drawn. */
  readonly lps: readonly number[];
  /** Their places; y grows downwards. */
  readonly x: readonly number[];
  readonly y: readonly number[];
  /** Lines, each between two of them: indices into `lps`, the first below the second, each pair once. */
  readonly links: readonly (readonly [number, number])[];
  /** Whether there are samples of links: rows with the fields `link` and `link_to`. */
  readonly hasLinks: boolean;
}

/** Frame by frame, a value of each LP of `AnimationFacts.lps`; NaN: not recorded. */
export interface AnimationFrames {
  readonly field: string;
  readonly values: Float32Array;
}

/** A field of each link that was recorded, frame by frame. */
export interface LinkFrames {
  readonly field: string;
  /** LPs at both ends of link k, and its number among those of the first. In order of these. */
  readonly from: readonly number[];
  readonly to: readonly number[];
  readonly link: readonly number[];
  /** Link by link, a value in each frame; NaN: not recorded. */
  readonly values: Float32Array;
}

/**
 * How much each value grew per unit of virtual time since the frame before: of the time that a link has sent, its utilisation.
 * NaN in the first frame, and where either value was not recorded.
 */
export function ratesOf(values: Float32Array, times: readonly number[]): Float32Array {
  const rates = new Float32Array(values.length).fill(Number.NaN);
  for (let k = 0; k < values.length; k++) {
    const frame = k % times.length;
    if (frame > 0) rates[k] = (values[k] - values[k - 1]) / (times[frame] - times[frame - 1]);
  }
  return rates;
}

/** Each pair once, whichever end told it; a line from an LP to itself is none. */
export function linksOf(
  pairs: readonly (readonly [number, number])[],
  lps: readonly number[],
): [number, number][] {
  const index = new Map(lps.map((lp, k) => [lp, k]));
  const links = new Map<number, [number, number]>();
  for (const [from, to] of pairs) {
    const [a, b] = [index.get(from), index.get(to)];
    if (a === undefined || b === undefined || a === b) continue;
    const [first, second] = a < b ? [a, b] : [b, a];
    links.set(first * lps.length + second, [first, second]);
  }
  return [...links.values()];
}

/** By how much each value differs from the one of the frame before; NaN in the first frame. */
export function changesOf(values: Float32Array, lps: number): Float32Array {
  const changes = new Float32Array(values.length).fill(Number.NaN);
  for (let k = lps; k < values.length; k++) changes[k] = values[k] - values[k - lps];
  return changes;
}

/** Pixels: where each LP is drawn, and how large. */
export interface DrawnPlaces {
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Half the width of an LP's mark. */
  readonly radius: number;
  readonly height: number;
}

const LARGEST = 28;
const MARGIN = LARGEST + 2;
const SMALLEST = 2;

/**
 * Fits places into a picture of `width` pixels, and at most `most` pixels high, with equal scales along both axes. Marks
 * are as large as the nearest two LPs allow.
 */
export function fitted(
  { x, y }: Pick<AnimationFacts, 'x' | 'y'>,
  width: number,
  most: number,
): DrawnPlaces {
  const [left, right] = extentOf(x);
  const [top, bottom] = extentOf(y);
  const [wide, high] = [right - left, bottom - top];
  const room = Math.max(1, width - 2 * MARGIN);
  const scale = Math.min(
    wide > 0 ? room / wide : Number.POSITIVE_INFINITY,
    high > 0 ? (most - 2 * MARGIN) / high : Number.POSITIVE_INFINITY,
  );
  const unit = Number.isFinite(scale) ? scale : 0;
  const height = high * unit + 2 * MARGIN;
  const [midX, midY] = [(left + right) / 2, (top + bottom) / 2];
  const place = (values: readonly number[], middle: number, size: number) =>
    Float64Array.from(values, (value) => size / 2 + (value - middle) * unit);
  const nearest = nearestOf(x, y) * unit;
  const radius = Math.max(
    SMALLEST,
    Math.min(LARGEST, Number.isFinite(nearest) ? nearest * 0.42 : LARGEST),
  );
  return { x: place(x, midX, width), y: place(y, midY, height), radius, height };
}

function extentOf(values: readonly number[]): [number, number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return most >= least ? [least, most] : [0, 0];
}

/** An estimate of the distance between neighbours: the least one in a sweep along x; LPs on the same spot do not count. */
function nearestOf(x: readonly number[], y: readonly number[]): number {
  const order = Array.from(x, (_, k) => k).sort((a, b) => x[a] - x[b]);
  let nearest = Number.POSITIVE_INFINITY;
  for (let k = 0; k < order.length; k++) {
    for (let n = k + 1; n < order.length; n++) {
      const apart = x[order[n]] - x[order[k]];
      if (apart >= nearest) break;
      const distance = Math.hypot(apart, y[order[n]] - y[order[k]]);
      if (distance > 0 && distance < nearest) nearest = distance;
    }
  }
  return nearest;
}

/** The LP whose mark is at a place of the picture; -1: none. */
export function lpAt({ x, y, radius }: DrawnPlaces, atX: number, atY: number): number {
  let [found, nearest] = [-1, Math.max(radius, 4)];
  for (let k = 0; k < x.length; k++) {
    const distance = Math.max(Math.abs(x[k] - atX), Math.abs(y[k] - atY));
    if (distance <= nearest) [found, nearest] = [k, distance];
  }
  return found;
}
