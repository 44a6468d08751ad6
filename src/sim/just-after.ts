/** The next double after a time. */
const F64 = new Float64Array(1);
const U64 = new BigUint64Array(F64.buffer);

/** The next double after `time`, which is not negative. */
export function justAfter(time: number): number {
  if (!Number.isFinite(time)) return time;
  F64[0] = time + 0;
  U64[0]++;
  return F64[0];
}
