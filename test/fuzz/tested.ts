/** The cases of one format that every change must pass; `npm run fuzz` tries many more. */
import { expect, it } from 'vitest';
import { runCases } from './run.ts';

const SEED = 1;
const CASES = 2000;

/** Tests a format by its name. */
export function tested(format: string): void {
  it(`${format}: what is before the damage is read, or the file is refused`, () => {
    const { failures, cases, verdicts } = runCases(format, { seed: SEED, from: 0, to: CASES });
    expect(failures.map(({ bytes: _, ...told }) => told)).toEqual([]);
    expect(cases).toBe(CASES);
    // Cases that test something: most damage is seen.
    expect(verdicts.told + verdicts.refused).toBeGreaterThan(CASES / 4);
  }, 900_000);
}
