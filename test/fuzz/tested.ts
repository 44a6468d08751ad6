/** The cases of one format that every change must pass; `npm run fuzz` tries many more. */
import { expect, it } from 'vitest';
import { runCases } from './run.ts';

const SEED = 1;

/** Tests a format by its name. @param most cases: fewer of formats that take long to read */
export function tested(format: string, most = 2000): void {
  it(`${format}: what is before the damage is read, or the file is refused`, () => {
    const { failures, cases, verdicts } = runCases(format, { seed: SEED, from: 0, to: most });
    expect(failures.map(({ bytes: _, ...told }) => told)).toEqual([]);
    expect(cases).toBe(most);
    // Cases that test something: most damage is seen.
    expect(verdicts.told + verdicts.refused).toBeGreaterThan(most / 4);
  }, 900_000);
}
