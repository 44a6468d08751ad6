/** Differences of counters that roll over at 2^bits. */

const MASKS = Array.from({ length: 65 }, (_, bits) => (1n << BigInt(bits)) - 1n);

/**
 * What a counter of `bits` bits counted from `before` to `after`, modulo 2^bits, as a double. A counter that went back
 * by a little (a dip, a reset) gives a number near 2^bits: see `isPlausible`.
 */
export function counted(before: bigint, after: bigint, bits: number): number {
  return Number((after - before) & MASKS[bits]);
}

/** Whether `difference` can be one: less than half of the counter's range. */
export function isPlausible(difference: number, bits: number): boolean {
  return difference < 2 ** (bits - 1);
}
