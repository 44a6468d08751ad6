/** Time and memory follow the size of the input: measured at once, twice and four times the size. */
import { expect } from 'vitest';

/** Microseconds of this process's CPU that `work` takes: others may have the machine meanwhile. */
export async function processorTime(work: () => unknown): Promise<number> {
  const from = process.cpuUsage();
  await work();
  return process.cpuUsage(from).user;
}

/**
 * Twice the size takes less than three times as much, four times less than nine, of the best of two; a square would be
 * four times and 16 times.
 */
export async function grows(
  size: number,
  of: (size: number) => number | Promise<number>,
): Promise<void> {
  await of(Math.floor(size / 4));
  const best: number[] = [];
  for (const one of [size, 2 * size, 4 * size]) best.push(Math.min(await of(one), await of(one)));
  expect(Math.min(best[1] / best[0], best[2] / best[1])).toBeLessThan(3);
  expect(best[2] / best[0]).toBeLessThan(9);
}
