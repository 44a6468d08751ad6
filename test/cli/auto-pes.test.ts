/** `--pes=auto`, and what a run says of its own number of PEs. */
import { describe, expect, it, test } from 'vitest';
import { choosePes, fewerPes, type PesTrial } from '../../src/cli/auto-pes.ts';
import type { RunResult } from '../../src/sim/statistics.ts';
import type { TrialRun } from '../../src/sim/tune.ts';
import { triscope } from './support/run.ts';

/** Short runs with these rates by PEs, and by synchroniser if they differ; the one on one PE gets so far on its way. */
function machine(rates: Readonly<Record<string, number>>, reached: number) {
  const tried: number[] = [];
  const trial: PesTrial = (pes, seconds, synch): Promise<TrialRun> => {
    tried.push(pes);
    const eventRate = rates[`${pes} ${synch}`] ?? rates[pes];
    if (eventRate === undefined) return Promise.reject(new Error('too slow'));
    return Promise.resolve({
      ...{ eventRate, efficiency: 100, eventDigest: '', gvtStep: 1 },
      ...{ wallSeconds: seconds, reached },
    });
  };
  return { tried, trial };
}

describe('the choice of PEs', () => {
  const LONG = 0.001;
  it.each([
    ['one CPU', 1, { 1: 5 }, LONG, 1, []],
    ['a run that ends in its trial', 8, { 1: 5, 8: 9 }, 1, 1, [1]],
    ['a run too short to try others', 8, { 1: 5, 8: 9 }, 0.3, 1, [1]],
    ['a run that no trial gets going', 8, {}, LONG, 1, [1, 1]],
    ['two PEs that win', 2, { 1: 5, 2: 6 }, LONG, 2, [1, 2]],
    ['two PEs that win by noise', 2, { 1: 5, 2: 5.2 }, LONG, 1, [1, 2]],
    ['two PEs that lose', 2, { 1: 5, 2: 4 }, LONG, 1, [1, 2]],
    ['more PEs that lose to fewer', 8, { 1: 5, 8: 4, 4: 9, 2: 7 }, LONG, 4, [1, 8, 4, 2]],
    ['a number of PEs that fails', 4, { 1: 5, 2: 7 }, LONG, 2, [1, 4, 2]],
    ['a run that is long enough for one more trial', 8, { 1: 5, 8: 6, 4: 9 }, 0.08, 8, [1, 8]],
  ])('%s', async (_, cpus, rates, reached, pes, wanted) => {
    const { tried, trial } = machine(rates, reached);
    expect((await choosePes(cpus, ['optimistic'], trial)).pes).toBe(pes);
    expect(tried).toEqual(wanted);
  });

  const FAST = { '2 conservative': 7, '2 optimistic': 6 };
  it.each([
    ['both where there is time', { 1: 5, ...FAST }, LONG, 2, 'conservative', [1, 2, 2]],
    ['the faster one', { 1: 5, ...FAST, '2 optimistic': 8 }, LONG, 2, 'optimistic', [1, 2, 2]],
    ['the one that does not fail', { 1: 5, '2 optimistic': 8 }, LONG, 2, 'optimistic', [1, 2, 2]],
    ['the first where there is time for one', { 1: 5, ...FAST }, 0.08, 2, 'conservative', [1, 2]],
    ['neither where both lose', { 1: 9, ...FAST }, LONG, 1, undefined, [1, 2, 2]],
  ])('tries two synchronisers: %s', async (_, rates, reached, pes, synch, wanted) => {
    const { tried, trial } = machine(rates, reached);
    const choice = await choosePes(2, ['conservative', 'optimistic'], trial);
    expect([choice.pes, choice.synch, tried]).toEqual([pes, synch, wanted]);
  });
});

test('a tiny run has one PE, and its result', async () => {
  const model = ['sim', 'run', 'phold', '--total-lps=16', '--end=10', '--json'];
  const [alone, chosen] = await Promise.all([triscope(model), triscope([...model, '--pes=auto'])]);
  expect(chosen.err).toMatch(/^triscope: --pes=auto: 1 PE; .+\n$/);
  const of = ({ out }: { out: string }) => {
    const { pes, eventDigest, stateDigest } = JSON.parse(out) as RunResult;
    return { pes, eventDigest, stateDigest };
  };
  expect(of(chosen)).toEqual(of(alone));
});

test('a model that is larger on more PEs has to say its size', async () => {
  const { code, err } = await triscope(['sim', 'run', 'phold', '--pes=auto']);
  expect(code).toBe(2);
  expect(err).toContain('fix its size (phold: --total-lps)');
});

test('a run on PEs that mostly waited says that one would have been faster', () => {
  const ran = (handling: number, more: object = {}) =>
    fewerPes({
      ...{ pes: 2, finished: true, wallSeconds: 10, netEvents: 90, eventsProcessed: 100 },
      config: { timing: true },
      perPe: [0, 1].map(() => ({ seconds: { eventProcess: handling / 2, priorityQueue: 0 } })),
      ...more,
    } as unknown as RunResult);
  // Of 10 s, 11.8 s of handling with a tenth undone are 10.6 s, on one PE about 8.0 s.
  expect(ran(11.9)).toBeNull();
  expect(ran(11.8)).toBe(
    'One PE would probably have been faster: handling the committed events took only 53 % of 2 × 10.0 s. Use --pes=auto to compare.',
  );
  for (const more of [
    { pes: 1 },
    { finished: false },
    { wallSeconds: 0.9 },
    { transport: 'mpi' },
  ]) {
    expect(ran(0.1, more)).toBeNull();
  }
});
