/** A simulation over MPI: the same events and states as in sequence, on 2 and 4 ranks. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { type LoadedModel, loadModel, type RunResult, type Settings, simulate } from 'triscope/sim';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MpiLimits } from '../../src/sim/transport/mpi.ts';
import { combineContributions } from '../../src/sim/transport/mpi-gvt.ts';
import { HAS_MPI, mpirun, NEEDS_MPI } from './support/mpirun.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const CASES = join(HERE, 'support', 'mpi-cases.mjs');
const own = (name: string) => join(HERE, 'support', `${name}.ts`);

interface Case {
  /** Built-in name, or path. */
  readonly model: string;
  readonly settings: Settings;
  readonly mostSharing?: number;
  readonly limits?: MpiLimits;
}

interface Outcome {
  readonly run: RunResult;
  readonly printed: number;
}

/** TRISCOPE_RUNS: the longest too, and more random models than usual. */
const RUNS = process.env.TRISCOPE_RUNS;

/** As in jobs of so many ranks that they do not tell each other of GVT rounds. */
const MANY_RANKS = { fewRanks: 1 };

/** Ranks that share memory: all, none, or those of two machines with two ranks each. */
const WAYS: readonly Pick<Case, 'mostSharing' | 'limits'>[] = [
  {},
  { mostSharing: 1 },
  { mostSharing: 2, limits: MANY_RANKS },
  { mostSharing: 1, limits: MANY_RANKS },
];

/** Each of the cases in another way. */
const inTurn = <T extends Case>(cases: readonly T[], first = 0): T[] =>
  cases.map((one, k) => ({ ...one, ...WAYS[(first + k) % WAYS.length] }));

/** In turn; all of them in each way where there is time. */
const inWays = (cases: readonly Case[], ranks: number): Case[] =>
  RUNS !== undefined
    ? WAYS.flatMap((way) => cases.map((one) => ({ ...one, ...way })))
    : inTurn(cases, ranks);

/** Runs `cases` one after the other in one job: a launcher takes longer to start than most of them. */
async function overMpi(ranks: number, cases: readonly Case[]): Promise<Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-mpi-'));
  try {
    const from = join(folder, 'cases.json');
    const to = join(folder, 'results.json');
    writeFileSync(from, JSON.stringify(cases));
    const { code, err } = await mpirun(ranks, [CASES, from, to]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return JSON.parse(readFileSync(to, 'utf8')) as Outcome[];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const inSequence = new Map<string, Promise<Outcome>>();

async function runInSequence(model: string, settings: Settings): Promise<Outcome> {
  const loaded: LoadedModel = await loadModel(model);
  let printed = 0;
  const onOutput = (lines: readonly unknown[]) => {
    printed += lines.length;
  };
  const run = await simulate(loaded, { ...settings, synch: 'sequential', pes: 1 }, { onOutput });
  loaded.dispose();
  return { run, printed };
}

/** The same in sequence, once for all ways of running it. */
function sequential({ model, settings }: Case): Promise<Outcome> {
  const { synch: _, nkp: __, batch: ___, gvtInterval: ____, maxMemory: _____, ...what } = settings;
  const name = JSON.stringify([model, what]);
  const known = inSequence.get(name);
  if (known !== undefined) return known;
  const outcome = runInSequence(model, what);
  inSequence.set(name, outcome);
  return outcome;
}

/** Sums of doubles may differ in their last digits: ranks add up their own first. */
const rounded = (totals: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(totals).map(([name, v]) => [name, Number(v.toPrecision(12))]));

const essence = ({ run, printed }: Outcome) => ({
  finished: run.finished,
  stateDigest: run.stateDigest,
  eventDigest: run.eventDigest,
  netEvents: run.netEvents,
  eventsPastEnd: run.eventsPastEnd,
  criticalPath: run.criticalPath,
  results: { ...run.results, totals: rounded(run.results.totals) },
  printed,
});

/** A run whose books balance. */
function expectSound({ run }: Outcome, ranks: number, { mostSharing }: Case, name: string): void {
  expect(run.pes, name).toBe(ranks);
  const sharing = Math.min(mostSharing ?? ranks, ranks);
  const shared = sharing === ranks ? 'all' : sharing > 1 ? 'some' : 'none';
  expect(run.sharedMemory, name).toBe(shared);
  if (shared === 'all') expect(run.batches, name).toBe(0);
  expect(run.transport, name).toBe('mpi');
  expect(run.remoteReceives, name).toBe(run.remoteSends);
  expect(run.eventsProcessed - run.eventsRolledBack, name).toBe(run.netEvents);
  const committed = run.perPe.reduce((n, pe) => n + pe.counts.committed, 0);
  expect(committed, name).toBe(run.netEvents);
}

interface Phold {
  readonly events: number;
  readonly pastEnd: number;
  readonly lps: number;
  readonly start: number;
  readonly end: number;
  readonly lookahead: number;
  readonly remote?: number;
  readonly mean?: number;
  readonly stagger?: boolean;
}

/** PHOLD's committed events, and those past the end, as ROSS counts them, sequentially and on two ranks. */
const PHOLD: readonly Phold[] = [
  { events: 7992, pastEnd: 8, lps: 8, start: 1, end: 1000, lookahead: 1 },
  { events: 15971, pastEnd: 16, lps: 16, start: 1, end: 1000, lookahead: 0.1 },
  { events: 127913, pastEnd: 256, lps: 64, start: 4, end: 500, lookahead: 0.25, remote: 0.9 },
  {
    events: 36306,
    pastEnd: 300,
    lps: 100,
    start: 3,
    end: 300,
    lookahead: 0.01,
    remote: 1,
    mean: 2.5,
  },
  { events: 101941, pastEnd: 1024, lps: 1024, start: 1, end: 100, lookahead: 0.1 },
  { events: 406439, pastEnd: 8192, lps: 4096, start: 2, end: 50, lookahead: 0.5, remote: 0.1 },
  { events: 8712, pastEnd: 50, lps: 50, start: 1, end: 200, lookahead: 0.5, stagger: true },
  { events: 1022911, pastEnd: 1024, lps: 1024, start: 1, end: 1000, lookahead: 0.1 },
  { events: 3261141, pastEnd: 163840, lps: 16384, start: 10, end: 20, lookahead: 0.1 },
  { events: 1599984, pastEnd: 16, lps: 16, start: 1, end: 100000, lookahead: 1 },
];
/** Runs of more events are made once, optimistically, on two ranks. */
const MANY = 200_000;
/** Four ranks may share two CPUs. */
const FEW = RUNS === undefined ? 10_000 : Number.POSITIVE_INFINITY;
const LONG = RUNS === undefined ? 50_000 : Number.POSITIVE_INFINITY;
/** Conservative runs stop at every such time: with less there is little else. */
const LEAST_LOOKAHEAD = 0.1;
const MEMORY = 2 ** 28;

const SYNCHRONISERS = ['optimistic', 'conservative'] as const;

interface PholdCase extends Case {
  readonly counts: readonly [events: number, pastEnd: number];
}

function pholdCases(p: Phold): PholdCase[] {
  const { lps, start, end, lookahead, remote = 0.25, mean = 1, stagger = false } = p;
  const options = { 'total-lps': lps, 'start-events': start, remote, mean, stagger };
  const ways =
    p.events > FEW || lookahead < LEAST_LOOKAHEAD ? (['optimistic'] as const) : SYNCHRONISERS;
  return ways.map((synch) => ({
    model: 'phold',
    settings: { synch, end, lookahead, maxMemory: MEMORY, options },
    counts: [p.events, p.pastEnd],
  }));
}

const LARGE: readonly Case[] = [
  // Chains of 60 events without an offset: their tie-breakers fill several batches.
  {
    model: own('random-automatic'),
    settings: { end: 4, options: { lps: 12, depth: 60, zero: 1, remote: 1, extra: 0.2 } },
  },
  // Event memory that runs out.
  {
    model: 'phold',
    settings: {
      end: 20,
      maxMemory: 400_000,
      options: { 'total-lps': 256, 'start-events': 4 },
    },
  },
];

/** Ranks that may have next to nothing on their way. */
const HELD: readonly Case[] = SYNCHRONISERS.map((synch) => ({
  model: 'phold',
  settings: { synch, end: 30, lookahead: 0.5, options: { 'total-lps': 64, remote: 1 } },
  mostSharing: 1,
  limits: { mostBatches: 1 },
}));

/** Runs that a model stops while much is on its way, each followed by one whose receives are too small for that. */
const STOPPED: readonly Case[] = Array.from({ length: 4 }, (_, k) => {
  const options = { lps: 16, start: 4, remote: 1, depth: 6, zero: 0.5, extra: 0.3, stop: 0.02 };
  const settings = { end: 5, gvtInterval: 64, batch: 16, options };
  return {
    ...{ model: own('random-mixed'), settings, mostSharing: 1 },
    limits: k % 2 === 0 ? {} : { batchSlots: 1 },
  };
});

/** Two ranks go in step with each other: by messages, and through shared memory. */
const IN_STEP: readonly Case[] = (['optimistic', 'conservative'] as const).flatMap((synch) =>
  [{ mostSharing: 1 }, {}].map((way) => ({
    model: 'phold',
    settings: { synch, end: 1000, lookahead: 0.25, options: { 'total-lps': 320 } },
    ...way,
  })),
);

const OTHERS: readonly Case[] = [
  { model: 'queueing', settings: { end: 200, options: { 'total-stations': 16 } } },
  { model: 'torus', settings: { end: 200, options: { k: 4, n: 3 } } },
  { model: 'pcs', settings: { end: 20, options: { width: 8, height: 6 } } },
  {
    model: 'queueing',
    settings: {
      end: 100,
      synch: 'optimistic-realtime',
      gvtInterval: 1,
      options: { 'total-stations': 16 },
    },
  },
];

const anyCase = fc.record({
  model: fc.constantFrom(
    'random-automatic',
    'random-by-hand',
    'random-mixed',
    'random-round-robin',
    'random-custom',
  ),
  settings: fc.record({
    options: fc.record({
      lps: fc.integer({ min: 4, max: 24 }),
      start: fc.integer({ min: 1, max: 3 }),
      grid: fc.constantFrom(0, 0.25, 1),
      extra: fc.double({ min: 0, max: 0.4, noNaN: true }),
      depth: fc.integer({ min: 0, max: 20 }),
      zero: fc.constantFrom(0, 0.5, 1),
      remote: fc.constantFrom(0.1, 0.5, 1),
      print: fc.constantFrom(0, 0.2),
      mix: fc.constantFrom(0, 1, 2),
    }),
    end: fc.constantFrom(5, 12),
    nkp: fc.constantFrom(1, 5, 16),
    batch: fc.constantFrom(1, 16, 300),
    gvtInterval: fc.constantFrom(1, 16, 100),
  }),
});

const RANDOM = fc
  .sample(anyCase, { numRuns: Number(RUNS ?? 6) })
  .map(({ model, settings }): Case => ({ model: own(model), settings }));

/** Milliseconds of a job: four ranks may share two busy CPUs. */
const PATIENCE = 300_000;

describe.skipIf(!HAS_MPI).each([2, 4])(
  `on %i ranks${NEEDS_MPI}`,
  { timeout: PATIENCE },
  (ranks) => {
    const most = ranks === 2 ? LONG : Math.min(LONG, FEW);
    const phold = inTurn(PHOLD.filter(({ events }) => events < most).flatMap(pholdCases));
    const others = inTurn(OTHERS);
    const large = inWays(LARGE, ranks);
    const random = inWays(RANDOM, ranks);
    const inStep = ranks === 2 ? IN_STEP : [];
    const exchanged = [...large, ...HELD, ...inStep, ...STOPPED];
    const cases: readonly Case[] = [...phold, ...others, ...exchanged, ...random];
    let outcomes: Outcome[] = [];
    const of = (some: readonly Case[]) => some.map((one) => outcomes[cases.indexOf(one)]);

    beforeAll(async () => {
      outcomes = await overMpi(ranks, cases);
    }, PATIENCE);

    const expectSame = async (some: readonly Case[]) => {
      for (const one of some) {
        const [got] = of([one]);
        const name = JSON.stringify(one);
        expectSound(got, ranks, one, name);
        expect(essence(got), name).toEqual(essence(await sequential(one)));
      }
    };

    it('PHOLD commits the events that ROSS commits, optimistically and conservatively', async () => {
      const got = of(phold);
      for (const [k, one] of phold.entries()) {
        const { run } = got[k];
        expectSound(got[k], ranks, one, JSON.stringify(one));
        expect([run.netEvents, run.eventsPastEnd], JSON.stringify(one)).toEqual(one.counts);
      }
      expect(got.reduce((n, { run }) => n + run.remoteEvents, 0)).toBeGreaterThan(5000);
      expect(got.reduce((n, { run }) => n + run.allReduces, 0)).toBeGreaterThan(1000);
      await expectSame(phold.filter(({ counts }) => counts[0] < MANY));
    });

    it('so do the other models', () => expectSame(others));

    it('random models do, with ties, priorities, zero offsets and cascades of rollbacks', async () => {
      await expectSame(random);
      const remote = of(random).reduce((n, { run }) => n + run.remoteEvents, 0);
      expect(remote).toBeGreaterThan(10);
    });

    it('a rank that may have one batch on its way waits for GVT, and no longer', async () => {
      await expectSame(HELD);
      for (const { run } of of(HELD)) expect(run.gvtComputations).toBeGreaterThan(15);
    });

    const inTwo = ranks === 2 ? it.skipIf(availableParallelism() < 2) : null;
    inTwo?.(
      'two that have a CPU each go in step: hardly a GVT, and next to nothing undone',
      async () => {
        await expectSame(inStep);
        for (const { run } of of(inStep)) {
          expect(run.gvtComputations).toBeLessThan(2000);
          expect(run.eventsRolledBack / run.eventsProcessed).toBeLessThan(0.05);
        }
      },
    );

    it('what is on its way where a model stops does not reach the next run', async () => {
      for (const [k, got] of of(STOPPED).entries())
        expect(essence(got), `${k}`).toEqual(essence(await sequential(STOPPED[k])));
    });

    it('messages larger than a batch, and event memory that runs out, change nothing', () =>
      expectSame(large));
  },
);

describe('contributions to a GVT', () => {
  interface Said {
    readonly key: readonly number[];
    readonly sums: readonly number[];
    readonly maxima: readonly number[];
    readonly underWay: number;
  }
  // 3 sums, 9 maxima, the least time under way, then the key: time, priority, 8 tie-breakers.
  const words = ({ key, sums, maxima, underWay }: Said) =>
    Float64Array.from([...sums, ...maxima, underWay, ...key]);
  const anyKey = fc.array(fc.constantFrom(-Infinity, 0, 1, 2), { minLength: 10, maxLength: 10 });
  const anyWords = fc.record({
    key: anyKey,
    sums: fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 3, maxLength: 3 }),
    maxima: fc.array(fc.nat(3), { minLength: 9, maxLength: 9 }),
    underWay: fc.constantFrom(1, 2, Infinity),
  });

  it('combine to sums, maxima, the least under way and the first key, in any order', () => {
    fc.assert(
      fc.property(anyWords, anyWords, (a, b) => {
        const first = [a.key, b.key].sort((x, y) => {
          const k = x.findIndex((v, n) => v !== y[n]);
          return k < 0 ? 0 : x[k] < y[k] ? -1 : 1;
        })[0];
        const want = words({
          key: first ?? [],
          sums: a.sums.map((v, k) => v + (b.sums[k] ?? 0)),
          maxima: a.maxima.map((v, k) => Math.max(v, b.maxima[k] ?? 0)),
          underWay: Math.min(a.underWay, b.underWay),
        });
        const ab = words(b);
        combineContributions(words(a), ab);
        const ba = words(a);
        combineContributions(words(b), ba);
        expect(ab).toEqual(want);
        expect(ba).toEqual(want);
      }),
    );
  });
});
