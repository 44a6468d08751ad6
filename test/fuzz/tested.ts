/** The cases of one format that every change must pass; `npm run fuzz` tries many more. */
import { expect, it } from 'vitest';
import { FUZZED } from './formats.ts';
import { runCases } from './run.ts';

const SEED = 1;
const CASES = 800;

/** Tests a format by its name. */
export function tested(format: string): void {
  it(`${format}: what is before the damage is read, or the file is refused`, async () => {
    const { failures, cases, verdicts } = await runCases(format, {
      seed: SEED,
      from: 0,
      to: CASES,
    });
    expect(failures.map(({ bytes: _, ...told }) => told)).toEqual([]);
    expect(cases).toBe(CASES);
    // Cases that test something: most damage is seen.
    expect(verdicts.told + verdicts.refused).toBeGreaterThan(CASES / 4);
  }, 900_000);
}

/** Of each format: how many damaged files go through commands and the server. */
const CALLED = 60;

/** Tests all formats as users meet them. */
export function testedThroughCommands(): void {
  it.each(Object.keys(FUZZED))(
    '%s: commands and routes give rows, or a line and a code',
    async (format) => {
      const range = { seed: SEED, from: 0, to: CALLED };
      const { failures, cases, verdicts } = await runCases(format, range, 'commands');
      expect(failures.map(({ bytes: _, ...told }) => told)).toEqual([]);
      expect(cases).toBe(CALLED);
      expect(verdicts.refused).toBeGreaterThan(0);
    },
  );
}
