/** Node's clock and the kernel's differ only in where they begin. */

const TRIES = 20;
/** ms between two readings in which nothing came between. */
const CLOSE = 0.005;

/**
 * ns that CLOCK_MONOTONIC is ahead of performance.now() of this thread. The two cannot be read at once: of several
 * tries the closest counts, as a thread that is put to sleep between the readings would be wrong by that sleep.
 */
export function clockOffset(): number {
  let closest = Number.POSITIVE_INFINITY;
  let offset = 0;
  for (let k = 0; k < TRIES && closest > CLOSE; k++) {
    const before = performance.now();
    const kernel = Number(process.hrtime.bigint());
    const apart = performance.now() - before;
    if (apart >= closest) continue;
    closest = apart;
    offset = kernel - (before + apart / 2) * 1e6;
  }
  return offset;
}
