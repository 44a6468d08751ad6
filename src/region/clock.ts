/** Node's clock and the kernel's have different zeros and the same rate. */

const TRIES = 20;
/** ms between two readings of the clock if nothing interrupted the thread. */
const CLOSE_MS = 0.005;

/**
 * ns by which CLOCK_MONOTONIC is ahead of performance.now() of this thread. The two cannot be read at once, and a
 * thread that is suspended between the readings would be wrong by that time. So the closest of several tries counts.
 */
export function clockOffset(): number {
  let closest = Number.POSITIVE_INFINITY;
  let offset = 0;
  for (let k = 0; k < TRIES && closest > CLOSE_MS; k++) {
    const before = performance.now();
    const kernel = Number(process.hrtime.bigint());
    const apart = performance.now() - before;
    if (apart >= closest) continue;
    closest = apart;
    offset = kernel - (before + apart / 2) * 1e6;
  }
  return offset;
}
