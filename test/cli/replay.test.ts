/** `sim run --replay=RUN`: the events of a recorded run again, on one PE, with the history of an LP. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const MODEL = `import { defineModel, int } from 'triscope/sim';
export default defineModel({
  name: 'relay', lookahead: 1, end: 30,
  options: { each: int(2, 'LPs of each PE') },
  lps: ({ each }, { pes }) => each * pes,
  state: { seen: 'u32' }, message: {},
  init: (lp) => void lp.send(lp.id, lp.uniform()),
  forward(lp) {
    lp.state.seen++;
    lp.send((lp.id + 1) % lp.lps, lp.lookahead + lp.exponential(1));
  },
});
`;

test('a run on two PEs is replayed on one, an LP is traced, and a changed model is told', async () => {
  const cwd = temporaryFolder();
  const path = join(cwd, 'relay.ts');
  writeFileSync(path, MODEL);
  const recorded = await triscope(
    [
      'sim',
      'run',
      'relay.ts',
      '--pes=2',
      '--each=3',
      '--rng-seed1=5',
      '--rng-seed2=6',
      '--rng-seed3=7',
      '--rng-seed4=8',
      '--record=one',
      '--json',
    ],
    { cwd },
  );
  expect(recorded.code).toBe(0);
  const { eventDigest, lps } = JSON.parse(recorded.out);
  expect(lps).toBe(6);

  const again = await triscope(['sim', 'run', '--replay=one.tri', '--trace-lp=4', '--json'], {
    cwd,
  });
  expect(again.code).toBe(0);
  const result = JSON.parse(again.out);
  expect(result).toMatchObject({ eventDigest, lps: 6, pes: 1, synchroniser: 'sequential' });
  const told = again.err.trim().split('\n');
  expect(told.pop()).toBe('triscope: the same events as in one.tri');
  // In order of time; the state counts events of this LP.
  const handled = told.filter((line) => / handled from /.test(line));
  expect(handled.every((line) => line.startsWith('LP 4 '))).toBe(true);
  expect(handled.map((line) => /seen (\d+) → /.exec(line)?.[1])).toEqual(
    handled.map((_, k) => String(k)),
  );
  expect(handled.length).toBeGreaterThan(3);

  writeFileSync(path, readFileSync(path, 'utf8').replace('exponential(1)', 'exponential(2)'));
  const changed = await triscope(['sim', 'run', 'relay.ts', '--replay=one.tri'], { cwd });
  expect(changed.code).toBe(1);
  expect(changed.err).toContain('other events than in one.tri: the model was changed');

  const one = join(cwd, 'one.tri');
  const refused = async (...words: string[]) => {
    const { code, err } = await triscopeHere(['sim', 'run', ...words]);
    return `${code} ${err.trim()}`;
  };
  expect(await refused(path, `--replay=${one}`, '--each=2')).toBe(
    `2 triscope: --each=2: the recording ${one} is of a run with 3; leave --each out`,
  );
  expect(await refused('phold', `--replay=${one}`)).toContain("it is a run of model 'relay'");
  expect(await refused(`--replay=${join(cwd, 'other')}`)).toMatch(
    /^3 .*is not a recording of a finished simulation/,
  );
});
