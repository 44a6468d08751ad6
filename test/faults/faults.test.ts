/** A few faults and sudden ends of each program that writes: `npm run fuzz -- --part=faults,allocations,kills` tries all. */
import { describe, expect, it } from 'vitest';
import type { Result } from '../reliability/table.ts';
import { allocations, faults, kills } from './main.ts';

const SEED = 1;
/** All that come. */
async function all(results: AsyncGenerator<Result>): Promise<Result[]> {
  const list: Result[] = [];
  for await (const result of results) list.push(result);
  return list;
}
const failed = (results: readonly { readonly failures: number }[]) =>
  results.filter(({ failures }) => failures > 0);

describe('programs that write', () => {
  it('keep what was written, and say what is wrong, where a write fails', async () => {
    const results = await all(faults({ only: null, most: 1, seed: SEED, inTurn: true }));
    expect(results.length).toBeGreaterThan(7);
    expect(failed(results)).toEqual([]);
  }, 900_000);

  it('do so where memory is refused', async () => {
    expect(failed(await all(allocations({ only: 'simulate', most: 2, seed: SEED })))).toEqual([]);
  }, 900_000);

  it('leave what can be read, once each, when they are killed', async () => {
    const results = await all(kills({ only: null, most: 1, seed: SEED }));
    expect(results.length).toBeGreaterThan(8);
    expect(failed(results)).toEqual([]);
  }, 900_000);
});
