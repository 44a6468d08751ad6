/** Sorts numbers in ascending order: a radix sort, whose cost per number is the same for few and many. */

import { sharedWords } from './event-columns.ts';

const BITS = 11;
const BUCKETS = 1 << BITS;
const HALF = 2 ** 22;

/** In shared memory: indexes of `values` (integers from 0 to 2^53), such that the values ascend; equal ones keep their order. */
export function ascending(values: Float64Array): Uint32Array {
  const { length } = values;
  let most = 0;
  let isSorted = true;
  for (let k = 0; k < length; k++) {
    if (values[k] < most) isSorted = false;
    else most = values[k];
  }
  let order = sharedWords(length);
  for (let k = 0; k < length; k++) order[k] = k;
  if (isSorted) return order;
  let other = sharedWords(length);
  const part = new Uint32Array(length);
  for (let scale = 1; scale <= most; scale *= HALF) {
    for (let k = 0; k < length; k++) part[k] = Math.floor(values[k] / scale) % HALF;
    for (const shift of [0, BITS]) {
      sortBy(part, shift, order, other);
      [order, other] = [other, order];
    }
  }
  return order;
}

/** Sorts `order` into `into` by 11 bits of `part`. */
function sortBy(part: Uint32Array, shift: number, order: Uint32Array, into: Uint32Array): void {
  const starts = new Uint32Array(BUCKETS + 1);
  const mask = BUCKETS - 1;
  for (let k = 0; k < part.length; k++) starts[((part[k] >>> shift) & mask) + 1]++;
  for (let bucket = 1; bucket < BUCKETS; bucket++) starts[bucket] += starts[bucket - 1];
  for (let k = 0; k < order.length; k++) {
    const index = order[k];
    into[starts[(part[index] >>> shift) & mask]++] = index;
  }
}
