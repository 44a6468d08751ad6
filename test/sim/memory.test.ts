/** Bounded event memory: what a sequential run needs, and a fifth more, is enough for any run. */
import { fileURLToPath } from 'node:url';
import { defineModel, type LoadedModel, type Model, type Settings, simulate } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import phold from '../../src/sim/models/phold.ts';
import flood from './support/flood.ts';
import { lockstep } from './support/lockstep.ts';
import randomAutomatic from './support/random-automatic.ts';
import randomMixed from './support/random-mixed.ts';

const run = (model: Model | LoadedModel | string, settings: Settings) =>
  simulate(model, settings, { signal: AbortSignal.timeout(240_000) });

const failureOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'it did not fail',
    (error: unknown) => (error as Error).message,
  );

/** 600 events pending at any time. */
const PHOLD: Settings = {
  end: 15,
  lookahead: 0.1,
  options: { 'total-lps': 200, 'start-events': 3, remote: 0.5 },
};
const RANDOM: Settings = {
  end: 7,
  options: { lps: 60, start: 4, remote: 0.7, extra: 0.4, depth: 5 },
};
/** A good part of all events at each of a few times, many of them sent without an offset. */
const TIES: Settings = { ...RANDOM, options: { ...RANDOM.options, grid: 0.25 } };

async function sequentialNeed(model: Model, settings: Settings) {
  const result = await run(model, { ...settings, synch: 'sequential', maxMemory: 2 ** 22 });
  const { stateDigest, eventDigest, peakEvents, eventBytes } = result;
  return { digests: [stateDigest, eventDigest], bytes: peakEvents * eventBytes, peakEvents };
}

const digests = (r: { readonly stateDigest: string; readonly eventDigest: string }) => [
  r.stateDigest,
  r.eventDigest,
];

describe('peakEvents', () => {
  it('is the most that was in use at once', async () => {
    // All that is pending, and the new event that is sent while its cause is still held.
    expect((await sequentialNeed(phold, PHOLD)).peakEvents).toBe(601);
    const one: Settings = { ...PHOLD, options: { 'total-lps': 1, 'start-events': 1 } };
    expect((await sequentialNeed(phold, one)).peakEvents).toBe(2);
  });

  it('is enough for the same sequential run, and one record less is not', async () => {
    const { bytes, digests: want } = await sequentialNeed(phold, PHOLD);
    const sequential: Settings = { ...PHOLD, synch: 'sequential' };
    expect(digests(await run(phold, { ...sequential, maxMemory: bytes }))).toEqual(want);
    expect(await failureOf(run(phold, { ...sequential, maxMemory: bytes - 64 }))).toMatch(
      /out of event memory at virtual time .*max-memory/,
    );
  });
});

describe('with a fifth more than a sequential run needs', () => {
  const MODELS: [string, Model, Settings][] = [
    ['PHOLD', phold, PHOLD],
    ['the random model, automatic undo', randomAutomatic, RANDOM],
    ['the random model, both types', randomMixed, RANDOM],
    ['many events at one time', randomMixed, TIES],
  ];

  it.each(MODELS)('one optimistic PE gives the same: %s', async (_name, model, settings) => {
    const { bytes, digests: want } = await sequentialNeed(model, settings);
    const got = await run(model, { ...settings, synch: 'optimistic', maxMemory: 1.2 * bytes });
    expect(got.finished).toBe(true);
    expect(digests(got)).toEqual(want);
  });

  /** How far ahead PEs go that do not go in step. */
  const WIDE = { maxOptLookahead: 100 };

  it.each(MODELS)('PEs that take turns give the same: %s', async (_name, model, settings) => {
    const { bytes, digests: want } = await sequentialNeed(model, settings);
    for (const [pes, turns] of [
      [2, 1],
      [3, 10],
    ] as const) {
      const { run: got } = lockstep(
        model,
        { ...settings, ...WIDE, synch: 'optimistic', pes, batch: 64, maxMemory: 1.2 * bytes },
        [{ pe: pes - 1, turns }],
      );
      expect(digests(got)).toEqual(want);
      expect(got.cancelbacks).toBeGreaterThan(0);
      expect(got.eventsAborted).toBeGreaterThan(0);
    }
  });

  it.each([
    ['PHOLD', 'phold', phold, PHOLD],
    ['the random model', 'random-mixed', randomMixed, { ...RANDOM, end: 6 }],
    ['many events at one time', 'random-mixed', randomMixed, { ...TIES, end: 6 }],
  ] as const)('two threads give the same: %s', async (_name, name, model, settings) => {
    const { bytes, digests: want } = await sequentialNeed(model, settings);
    const path =
      name === 'phold' ? name : fileURLToPath(new URL(`support/${name}.ts`, import.meta.url));
    for (const wide of [WIDE, {}]) {
      const got = await run(path, {
        ...settings,
        ...wide,
        synch: 'optimistic',
        pes: 2,
        batch: 64,
        maxMemory: 1.2 * bytes,
      });
      expect(got.finished).toBe(true);
      expect(digests(got)).toEqual(want);
      if (wide === WIDE) expect(got.cancelbacks).toBeGreaterThan(0);
    }
  });
});

describe('a PE that another one floods', () => {
  const bound = async () => {
    const need = await sequentialNeed(flood, {});
    return {
      ...need,
      settings: { maxMemory: 1.2 * need.bytes, synch: 'optimistic', pes: 2 } as const,
    };
  };

  it('holds out, whoever is ahead', async () => {
    const { digests: want, settings } = await bound();
    for (const [pe, turns] of [
      [0, 1],
      [1, 5],
      [1, 100],
    ] as const) {
      expect(digests(lockstep(flood, settings, [{ pe, turns }]).run)).toEqual(want);
    }
  });

  it('holds out on a thread of its own', async () => {
    const { digests: want, settings } = await bound();
    const path = fileURLToPath(new URL('support/flood.ts', import.meta.url));
    expect(digests(await run(path, settings))).toEqual(want);
  });
});

describe('with less than a sequential run needs', () => {
  /** A few events at first, ever more later. */
  const growing = defineModel({
    name: 'growing',
    end: 50,
    lps: () => 16,
    state: {},
    message: {},
    init: (lp) => void lp.send(lp.id, 1),
    forward(lp) {
      lp.send(lp.integer(0, 15), 1 + lp.exponential(1));
      if (lp.uniform() < 0.3) lp.send(lp.integer(0, 15), 1 + lp.exponential(1));
    },
  });
  /** All its events at the start. */
  const full: Settings = { ...PHOLD, maxMemory: 300 * 64 };
  const MESSAGE = /^[^\n]*out of event memory[^\n]*--max-memory[^\n]*$/;

  it.each([
    { synch: 'sequential' },
    { synch: 'conservative', lookahead: 0.5 },
    { synch: 'optimistic' },
    { synch: 'optimistic-debug' },
    { synch: 'rollback-check' },
  ] as Settings[])('a run ends with one clear line: %j', async (settings) => {
    const maxMemory = 4096;
    expect(await failureOf(run(growing, { maxMemory, ...settings }))).toMatch(MESSAGE);
  });

  it.each([
    { synch: 'sequential' },
    { synch: 'conservative' },
    { synch: 'optimistic' },
    { synch: 'optimistic-debug' },
    { synch: 'rollback-check' },
  ] as Settings[])('also where init alone sends too much: %j', async (settings) => {
    expect(await failureOf(run(phold, { ...full, ...settings }))).toMatch(MESSAGE);
  });

  /** Nothing but what init sends: no event is missed by a later one. */
  const announced = defineModel({
    name: 'announced',
    end: 50,
    lps: () => 100,
    state: { n: 'u8' },
    message: {},
    init(lp) {
      for (let k = 1; k <= 3; k++) lp.send(lp.id, k);
    },
    forward(lp) {
      lp.state.n++;
    },
    final: (lp, results) => results.add('events', lp.state.n),
  });

  it.each([
    { synch: 'sequential' },
    { synch: 'conservative', lookahead: 0.5 },
    { synch: 'optimistic' },
    { synch: 'optimistic-debug' },
    { synch: 'rollback-check' },
  ] as Settings[])('no event of init is lost without a word: %j', async (settings) => {
    const enough = await run(announced, { maxMemory: 2 ** 20, ...settings });
    expect(enough.results.totals).toEqual({ events: 300 });
    const little = run(announced, { maxMemory: 200 * 64, ...settings });
    expect(await failureOf(little)).toMatch(MESSAGE);
  });

  it('so do several PEs', async () => {
    for (const pes of [2, 3]) {
      const settings: Settings = { synch: 'optimistic', pes, maxMemory: 4096 };
      expect(() => lockstep(growing, settings)).toThrow(MESSAGE);
      expect(() => lockstep(phold, { ...full, ...settings, maxMemory: 300 * 64 })).toThrow(MESSAGE);
    }
  });

  it.each(['optimistic', 'conservative'] as const)('so do threads: %s', async (synch) => {
    const failure = await failureOf(run('phold', { ...full, synch, pes: 2 }));
    expect(failure).toMatch(MESSAGE);
  });
});
