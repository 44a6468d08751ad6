/** Orders of a heatmap's rows. Runs in the server and in the page. */
import type { Steps } from '../steps.ts';
import type { Heat } from './heat.ts';

export const ORDERS = ['id', 'value', 'similar'] as const;
export type Order = (typeof ORDERS)[number];

/** Values that a row is compared by: means of its bins, no more than this. */
const FEATURES = 48;

/** Rows by their value over the window, greatest first; those without a value at the end. */
function byValue({ totals }: Heat): number[] {
  const rank = (row: number) =>
    Number.isNaN(totals[row]) ? Number.NEGATIVE_INFINITY : totals[row];
  return [...totals.keys()].sort((a, b) => rank(b) - rank(a) || a - b);
}

/** Rows' means over stretches of time; 0 where nothing was measured. */
function featuresOf({ values, rows, bins }: Heat): Float32Array {
  const per = Math.ceil(bins / FEATURES);
  const count = Math.ceil(bins / per);
  const features = new Float32Array(rows.length * count);
  for (let row = 0; row < rows.length; row++) {
    for (let k = 0; k < count; k++) {
      let [sum, there] = [0, 0];
      const end = Math.min(bins, (k + 1) * per);
      for (let bin = k * per; bin < end; bin++) {
        const value = values[row * bins + bin];
        if (Number.isNaN(value)) continue;
        sum += value;
        there++;
      }
      features[row * count + k] = there === 0 ? 0 : sum / there;
    }
  }
  return features;
}

/**
 * A chain in which each row is followed by the most similar of the remaining ones (greedy nearest neighbour, Euclidean),
 * beginning with the row with the greatest value. 1,024 rows: half a million distances.
 */
function* bySimilarity(heat: Heat): Steps<number[]> {
  const count = heat.rows.length;
  if (count === 0) return [];
  const features = featuresOf(heat);
  const width = features.length / count;
  const left = Uint32Array.from({ length: count }, (_, row) => row);
  const order: number[] = [];
  let remaining = count;
  let at = byValue(heat)[0];
  for (;;) {
    order.push(at);
    left[left.indexOf(at)] = left[--remaining];
    if (remaining === 0) return order;
    let nearest = left[0];
    let least = Number.POSITIVE_INFINITY;
    for (let k = 0; k < remaining; k++) {
      const row = left[k];
      let distance = 0;
      // A row that is already farther than the nearest need not be compared to its end.
      for (let f = 0; f < width && distance < least; f++) {
        const gap = features[at * width + f] - features[row * width + f];
        distance += gap * gap;
      }
      if (distance < least || (distance === least && row < nearest)) {
        least = distance;
        nearest = row;
      }
    }
    at = nearest;
    yield remaining;
  }
}

/** Numbers of the rows in the order in which they are shown. */
function* orderOf(heat: Heat, order: Order): Steps<number[]> {
  if (order === 'value') return byValue(heat);
  if (order === 'similar') return yield* bySimilarity(heat);
  return [...heat.rows.keys()];
}

/** The same heatmap, its rows in another order. */
export function* ordered(heat: Heat, order: Order): Steps<Heat> {
  if (order === 'id') return heat;
  const { bins, rows, values, totals, seconds, doubtful } = heat;
  const rank = yield* orderOf(heat, order);
  const moved = (from: Float32Array) => {
    const to = new Float32Array(from.length);
    if (from.length === 0) return to;
    rank.forEach((row, k) => {
      to.set(from.subarray(row * bins, (row + 1) * bins), k * bins);
    });
    return to;
  };
  return {
    ...heat,
    rows: rank.map((row) => rows[row]),
    values: moved(values),
    totals: Float32Array.from(rank, (row) => totals[row]),
    seconds: Float32Array.from(rank, (row) => seconds[row]),
    doubtful: moved(doubtful),
  };
}
