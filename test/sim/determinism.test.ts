/** One model and its seeds give one result, whatever the synchroniser, PEs, KPs, knobs and timing. */
import '../support/small-machine.ts';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import {
  type CustomMapping,
  type LoadedModel,
  loadModel,
  type Model,
  type OutputLine,
  type RunResult,
  type Settings,
  simulate,
} from 'triscope/sim';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ActivityClock } from '../../src/sim/clock.ts';
import { LocalBudget } from '../../src/sim/event.ts';
import { Optimism } from '../../src/sim/optimistic.ts';
import { optimisticContexts } from '../../src/sim/optimistic-contexts.ts';
import { Pe } from '../../src/sim/pe.ts';
import { placeLps } from '../../src/sim/placement.ts';
import { configFor } from '../../src/sim/settings.ts';
import { SequentialTransport } from '../../src/sim/transport/sequential.ts';
import { endOfTime } from '../../src/sim/transport/transport.ts';
import { lockstep, type Stretch } from './support/lockstep.ts';
import randomAutomatic from './support/random-automatic.ts';
import randomByHand from './support/random-by-hand.ts';
import randomCustom from './support/random-custom.ts';
import randomMixed from './support/random-mixed.ts';
import randomRoundRobin from './support/random-round-robin.ts';

const MODELS: Readonly<Record<string, Model>> = {
  'random-automatic': randomAutomatic,
  'random-by-hand': randomByHand,
  'random-mixed': randomMixed,
  'random-round-robin': randomRoundRobin,
  'random-custom': randomCustom,
};
const NAMES = Object.keys(MODELS);

const loaded = new Map<string, LoadedModel>();
beforeAll(async () => {
  for (const name of NAMES) {
    const path = fileURLToPath(new URL(`support/${name}.ts`, import.meta.url));
    loaded.set(name, await loadModel(path));
  }
});
afterAll(() => {
  for (const model of loaded.values()) model.dispose();
});

// Room for 65,000 events: arrays of many megabytes would take longer to clear than most of these runs.
const MEMORY = 2 ** 20;
/** A run that takes longer hangs. */
const PATIENCE = 240_000;

interface Outcome {
  readonly run: RunResult;
  readonly outputs: readonly OutputLine[];
}

/** Runs in this thread, or in one a PE. */
async function simulated(model: Model | LoadedModel, settings: Settings): Promise<Outcome> {
  const outputs: OutputLine[] = [];
  const run = await simulate(
    model,
    { maxMemory: MEMORY, ...settings },
    { signal: AbortSignal.timeout(PATIENCE), onOutput: (lines) => outputs.push(...lines) },
  );
  return { run, outputs };
}

/** All that must not depend on how a model was run. */
function essence({ run, outputs }: Outcome) {
  return {
    finished: run.finished,
    stateDigest: run.stateDigest,
    eventDigest: run.eventDigest,
    netEvents: run.netEvents,
    eventsPastEnd: run.eventsPastEnd,
    criticalPath: run.criticalPath,
    results: run.results,
    printed: outputs.map(({ time, lp, text }) => `${time} ${lp} ${text}`).sort(),
  };
}

/** What must hold of any run's counters. */
function checkCounters(run: RunResult): void {
  expect(run.eventsProcessed - run.eventsRolledBack).toBe(run.netEvents);
  expect(run.perPe.reduce((n, pe) => n + pe.counts.committed, 0)).toBe(run.netEvents);
  expect(run.remoteReceives).toBe(run.remoteSends);
  expect(run.totalRollbacks).toBe(run.primaryRollbacks + run.secondaryRollbacks);
  expect(run.perPe.reduce((n, pe) => n + pe.lps, 0)).toBe(run.lps);
}

const anyOptions = fc.record({
  lps: fc.integer({ min: 1, max: 24 }),
  start: fc.integer({ min: 0, max: 3 }),
  mean: fc.double({ min: 0.5, max: 2, noNaN: true }),
  grid: fc.constantFrom(0, 0, 0.25, 1),
  extra: fc.double({ min: 0, max: 0.4, noNaN: true }),
  fan: fc.integer({ min: 1, max: 4 }),
  depth: fc.integer({ min: 0, max: 6 }),
  zero: fc.constantFrom(0, 0.5, 1),
  remote: fc.constantFrom(0, 0.1, 0.5, 1),
  urgent: fc.constantFrom(0, 0.3),
  print: fc.constantFrom(0, 0.2),
  mix: fc.constantFrom(0, 1, 2),
});

const anyModel = fc.record({
  name: fc.constantFrom(...NAMES),
  options: anyOptions,
  end: fc.constantFrom(1, 5, 12),
  lookahead: fc.constantFrom(0, 0, 0.25, 1),
  seeds: fc.constantFrom(undefined, [5, 6, 7, 8] as const),
});

const anyKnobs = fc.record({
  nkp: fc.constantFrom(1, 2, 5, 16),
  batch: fc.constantFrom(1, 4, 16, 300),
  gvtInterval: fc.constantFrom(1, 3, 16, 100),
  maxOptLookahead: fc.constantFrom(undefined, undefined, 0.5, 5),
});

/** The model's part of the settings; no `undefined` among them. */
function modelSettings(m: typeof anyModel extends fc.Arbitrary<infer T> ? T : never): Settings {
  const { options, end, lookahead, seeds } = m;
  return { options, end, lookahead, ...(seeds ? { seeds } : {}) };
}

function knobSettings(k: typeof anyKnobs extends fc.Arbitrary<infer T> ? T : never): Settings {
  const { maxOptLookahead, ...rest } = k;
  return maxOptLookahead === undefined ? rest : { ...rest, maxOptLookahead };
}

describe('one model, one result', () => {
  it('on one PE, under every synchroniser', async () => {
    const cases = fc.asyncProperty(anyModel, anyKnobs, async (m, knobs) => {
      const model = MODELS[m.name] as Model;
      const settings = { ...modelSettings(m), ...knobSettings(knobs) };
      const want = essence(await simulated(model, { ...settings, synch: 'sequential' }));
      for (const synch of [
        'optimistic',
        'optimistic-debug',
        'optimistic-realtime',
        'rollback-check',
        'conservative',
      ] as const) {
        if (synch === 'conservative' && m.lookahead === 0) continue;
        // An empty run is another test's.
        if (synch === 'optimistic-debug' && want.netEvents === 0) continue;
        const gvt = synch === 'optimistic-realtime' ? { gvtInterval: 1 } : {};
        const got = await simulated(model, { ...settings, ...gvt, synch });
        expect(essence(got), synch).toEqual(want);
        checkCounters(got.run);
      }
    });
    await fc.assert(cases, { numRuns: 12 });
  });

  it('on several PEs that take turns in any order', async () => {
    const anySchedule = fc.array(
      fc.record({ pe: fc.nat(3), turns: fc.constantFrom(1, 2, 10, 50) }),
      { maxLength: 5 },
    );
    const seen = { primary: 0, secondary: 0, remote: 0 };
    const cases = fc.asyncProperty(
      anyModel,
      anyKnobs,
      fc.constantFrom('optimistic', 'optimistic', 'optimistic', 'conservative'),
      fc.integer({ min: 1, max: 4 }),
      anySchedule,
      async (m, knobs, synch, pes, schedule: Stretch[]) => {
        fc.pre(synch === 'optimistic' || m.lookahead > 0);
        const model = MODELS[m.name] as Model;
        const settings = modelSettings(m);
        const want = essence(await simulated(model, { ...settings, synch: 'sequential' }));
        const got = lockstep(
          model,
          { ...settings, ...knobSettings(knobs), synch: synch as 'optimistic', pes },
          schedule,
        );
        expect(essence(got)).toEqual(want);
        checkCounters(got.run);
        seen.primary += got.run.primaryRollbacks;
        seen.secondary += got.run.secondaryRollbacks;
        seen.remote += got.run.remoteEvents;
      },
    );
    // The same cases each time: other seeds have other sums below.
    await fc.assert(cases, { numRuns: 40, seed: 3 });
    // The property is worth something only where speculation went wrong, and badly.
    expect(seen.primary).toBeGreaterThan(20);
    expect(seen.secondary).toBeGreaterThan(10);
    expect(seen.remote).toBeGreaterThan(200);
  });

  it('on several threads', async () => {
    const cases = fc.asyncProperty(
      anyModel,
      anyKnobs,
      fc.constantFrom('optimistic', 'optimistic', 'optimistic-realtime', 'conservative'),
      fc.integer({ min: 2, max: 4 }),
      async (m, knobs, synch, pes) => {
        fc.pre(synch !== 'conservative' || m.lookahead > 0);
        const model = loaded.get(m.name) as LoadedModel;
        const settings = modelSettings(m);
        const want = essence(await simulated(model, { ...settings, synch: 'sequential' }));
        const gvt = synch === 'optimistic-realtime' ? { gvtInterval: 1 } : {};
        const got = await simulated(model, {
          ...settings,
          ...knobSettings(knobs),
          ...gvt,
          synch: synch as 'optimistic',
          pes,
        });
        expect(essence(got)).toEqual(want);
        checkCounters(got.run);
      },
    );
    await fc.assert(cases, { numRuns: 6, endOnFailure: true });
  });

  it('also while other runs go on in the same thread', async () => {
    const settings: Settings = { synch: 'optimistic', end: 30, options: { lps: 24 } };
    const alone = [];
    for (const seed of [1, 2, 3]) {
      const one = await simulated(randomAutomatic, { ...settings, seeds: [seed, 2, 3, 4] });
      alone.push(one.run.stateDigest);
    }
    expect(new Set(alone).size).toBe(3);
    const together = await Promise.all(
      [1, 2, 3].map((seed) => simulated(randomAutomatic, { ...settings, seeds: [seed, 2, 3, 4] })),
    );
    expect(together.map(({ run }) => run.stateDigest)).toEqual(alone);
  });

  it('with automatic undo and with a reverse by hand: the same events', async () => {
    const settings: Settings = { synch: 'optimistic', pes: 2, end: 12 };
    const schedule = [{ pe: 0, turns: 20 }];
    const automatic = lockstep(randomAutomatic, settings, schedule);
    const byHand = lockstep(randomByHand, settings, schedule);
    expect(automatic.run.eventsRolledBack).toBeGreaterThan(0);
    expect(byHand.run.eventsRolledBack).toBeGreaterThan(0);
    expect(byHand.run.eventDigest).toBe(automatic.run.eventDigest);
    expect(byHand.run.results.rows).toEqual(automatic.run.results.rows);
  });
});

describe('speculation gone wrong', () => {
  const settings: Settings = {
    synch: 'optimistic',
    pes: 3,
    nkp: 2,
    batch: 100,
    end: 20,
    options: { lps: 18, remote: 1, extra: 0.4, depth: 5 },
  };
  /** Each PE in turn runs far ahead of the others. */
  const AHEAD = [0, 1, 2].map((pe) => ({ pe, turns: 30 }));

  it('is rolled back: stragglers, cascades, cancelled events that had been handled', async () => {
    const want = essence(
      await simulated(randomMixed, { ...settings, pes: 1, synch: 'sequential' }),
    );
    const { run, outputs } = lockstep(randomMixed, settings, AHEAD);
    expect(essence({ run, outputs })).toEqual(want);
    for (const pe of run.perPe) {
      expect(pe.counts.primaryRollbacks).toBeGreaterThan(10);
      expect(pe.counts.secondaryRollbacks).toBeGreaterThan(10);
    }
    expect(run.eventsRolledBack).toBeGreaterThan(run.netEvents);
    // Anti-messages: more was sent than has arrived for good.
    expect(run.remoteSends).toBeGreaterThan(2 * run.remoteEvents);
    expect(run.efficiency).toBeLessThan(0);
  });

  it('needs no rollback where PEs keep within the window of a fixed look-ahead', () => {
    const { run } = lockstep(
      randomMixed,
      { ...settings, lookahead: 0.5, maxOptLookahead: 0.5, options: { lps: 18, zero: 0 } },
      AHEAD,
    );
    expect(run.eventsRolledBack).toBe(0);
    expect(run.remoteEvents).toBeGreaterThan(100);
  });

  it('passes more messages than a ring holds, in order', async () => {
    // 16 KB a message, 64 slots a ring.
    const big: Model = {
      ...randomAutomatic,
      message: { ...randomAutomatic.message, ballast: { kind: 'array', of: 'f64', length: 2000 } },
    };
    const more: Settings = { ...settings, maxMemory: 2 ** 28, end: 4, pes: 2 };
    const want = essence(await simulated(big, { ...more, pes: 1, synch: 'sequential' }));
    const got = lockstep(big, more, [
      { pe: 0, turns: 40 },
      { pe: 1, turns: 40 },
    ]);
    expect(essence(got)).toEqual(want);
    expect(got.run.remoteSends).toBeGreaterThan(500);
  });

  it('goes back to any point: the state there, and what follows, are the same again', () => {
    const cases = fc.property(
      fc.constantFrom(...NAMES),
      anyOptions,
      fc.array(fc.tuple(fc.double({ min: 0, max: 10, noNaN: true }), fc.boolean()), {
        minLength: 2,
        maxLength: 8,
      }),
      (name, options, moves) => {
        const model = MODELS[name] as Model;
        const config = configFor(model, { options, end: 10, nkp: 4, maxMemory: MEMORY });
        const placement = placeLps(model, options.lps, 1);
        const { contextFor, kept } = optimisticContexts();
        const budget = new LocalBudget(100_000);
        const pe = new Pe(model, config, placement, 0, budget, 100_000, contextFor);
        const engine = new Optimism(
          pe,
          kept(),
          new SequentialTransport(),
          new ActivityClock(false, pe.seconds),
        );
        pe.init();
        const known = new Map<number, string>();
        const check = (time: number) => {
          const state = `${pe.stateDigest()} ${engine.least()} ${pe.longestPath()}`;
          expect(state).toBe(known.get(time) ?? state);
          known.set(time, state);
        };
        check(0);
        for (const [time, sweep] of moves) {
          engine.run(Infinity, time);
          engine.rollBackFrom(time);
          if (sweep) engine.sweepCancelled();
          check(time);
        }
        engine.run(Infinity, 10);
        for (const time of [...known.keys()].sort((a, b) => b - a)) {
          engine.rollBackFrom(time);
          check(time);
        }
        engine.run(Infinity, Infinity);
        expect(engine.least()).toBe(Infinity);
        engine.fossilCollect(endOfTime());
        expect(pe.pool.live).toBe(0);
      },
    );
    fc.assert(cases, { numRuns: 25 });
  });
});

describe('where LPs live', () => {
  const options = { lps: 20, remote: 0.7, mix: 2 };

  it('makes no difference: linear, round robin, custom', async () => {
    const runs = [randomMixed, randomRoundRobin, randomCustom].map(
      (model) => lockstep(model, { synch: 'optimistic', pes: 3, end: 8, options }).run,
    );
    const { run } = await simulated(randomMixed, { synch: 'sequential', end: 8, options });
    for (const other of runs) {
      expect([other.stateDigest, other.eventDigest]).toEqual([run.stateDigest, run.eventDigest]);
    }
    expect(runs.map((r) => r.perPe.map((pe) => pe.lps))).toEqual([
      [6, 7, 7],
      [7, 7, 6],
      [13, 4, 3],
    ]);
  });

  it('may leave PEs without LPs', async () => {
    const few = { lps: 2, remote: 0.7 };
    const { run } = await simulated(randomAutomatic, { synch: 'sequential', end: 8, options: few });
    for (const model of [randomAutomatic, { ...randomAutomatic, map: 'round-robin' as const }]) {
      const other = lockstep(model, { synch: 'optimistic', pes: 4, end: 8, options: few }).run;
      expect(other.stateDigest).toBe(run.stateDigest);
      expect(other.eventDigest).toBe(run.eventDigest);
    }
  });

  it.each<[CustomMapping, string]>([
    [{ pe: () => 7 }, 'map.pe(0) gave 7; PEs are 0…1'],
    [{ pe: () => 0.5 }, 'map.pe(0) gave 0.5; PEs are 0…1'],
    [{ pe: () => 0, kp: () => 16 }, 'map.kp(0) gave 16; KPs are 0…15'],
  ])('must be a place that exists', async (map, message) => {
    const model = { ...randomAutomatic, map };
    expect(() => lockstep(model, { synch: 'optimistic', pes: 2 })).toThrow(message);
  });
});

describe('seeds', () => {
  const run = async (settings: Settings) => {
    const { run: r } = await simulated(randomMixed, { synch: 'sequential', end: 8, ...settings });
    return [r.stateDigest, r.eventDigest];
  };

  it('decide the result', async () => {
    const usual = await run({});
    expect(await run({ seeds: [11111111, 22222222, 33333333, 44444444] })).toEqual(usual);
    const other = await run({ seeds: [11111112, 22222222, 33333333, 44444444] });
    expect(other[0]).not.toBe(usual[0]);
    expect(other[1]).not.toBe(usual[1]);
  });

  it('of the engine decide the order of ties', async () => {
    const options = { grid: 1, remote: 0.8 };
    const usual = await run({ options });
    const other = await run({ options, coreSeeds: [5, 6, 7, 8] });
    expect(other[0]).not.toBe(usual[0]);
  });
});

describe('output', () => {
  it('on one PE comes in order of virtual time, each line once', async () => {
    const options = { lps: 20, print: 1, zero: 0, remote: 0.8 };
    const want = (await simulated(randomMixed, { synch: 'sequential', end: 30, options })).outputs;
    const times = want.map((line) => line.time);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times.length).toBeGreaterThan(500);
    const got = await simulated(randomMixed, { synch: 'optimistic', end: 30, options });
    expect(got.outputs).toEqual(want);
  });

  it('of several PEs is that of a sequential run, put in order of virtual time', async () => {
    const options = { lps: 20, print: 1, zero: 0, remote: 0.8 };
    const settings: Settings = { end: 12, options };
    const want = (await simulated(randomMixed, { synch: 'sequential', ...settings })).outputs;
    const model = loaded.get('random-mixed') as LoadedModel;
    const { run, outputs } = await simulated(model, { synch: 'optimistic', pes: 2, ...settings });
    expect(run.eventsRolledBack).toBeGreaterThan(0);
    expect([...outputs].sort((a, b) => a.time - b.time || a.tie - b.tie)).toEqual(want);
  });
});
