/** A simulation over MPI: the same events and states as in sequence, on 2 and 4 ranks. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { type LoadedModel, loadModel, type RunResult, type Settings, simulate } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { combineContributions } from '../../src/sim/transport/mpi-gvt.ts';
import { HAS_MPI, mpirun, NEEDS_MPI } from './support/mpirun.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const CASES = join(HERE, 'support', 'mpi-cases.mjs');
const own = (name: string) => join(HERE, 'support', `${name}.ts`);

interface Case {
  /** Built-in name, or path. */
  readonly model: string;
  readonly settings: Settings;
}

interface Outcome {
  readonly run: RunResult;
  readonly printed: number;
}

/** Runs `cases` one after the other in one job. */
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

/** The same in sequence. `sized`: the model has the size that it has on so many PEs. */
async function inSequence({ model, settings }: Case, sized: number): Promise<Outcome> {
  const { synch: _, lookahead, nkp: __, batch: ___, gvtInterval: ____, ...what } = settings;
  const loaded: LoadedModel = await loadModel(model);
  let printed = 0;
  const run = await simulate(
    loaded,
    { ...what, ...(lookahead !== undefined && { lookahead }), synch: 'sequential', pes: 1 },
    {
      sizedFor: sized,
      onOutput: (lines) => {
        printed += lines.length;
      },
    },
  );
  loaded.dispose();
  return { run, printed };
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

async function expectSame(ranks: number, cases: readonly Case[]): Promise<Outcome[]> {
  const got = await overMpi(ranks, cases);
  expect(got).toHaveLength(cases.length);
  for (const [k, one] of cases.entries()) {
    const name = JSON.stringify(one);
    expect(essence(got[k]), name).toEqual(essence(await inSequence(one, ranks)));
    const { run } = got[k];
    expect(run.pes, name).toBe(ranks);
    expect(run.remoteReceives, name).toBe(run.remoteSends);
    expect(run.eventsProcessed - run.eventsRolledBack, name).toBe(run.netEvents);
    expect(
      run.perPe.reduce((n, pe) => n + pe.counts.committed, 0),
      name,
    ).toBe(run.netEvents);
  }
  return got;
}

/** ROSS's counts of PHOLD: events, LPs of the whole run. Source: runs of ROSS, sequential and on two ranks. */
const PHOLD = [
  { events: 7992, lps: 8, end: 1000, lookahead: 1, options: { 'start-events': 1, remote: 0.25 } },
  {
    events: 15971,
    lps: 16,
    end: 1000,
    lookahead: 0.1,
    options: { 'start-events': 1, remote: 0.25 },
  },
  {
    events: 127913,
    lps: 64,
    end: 500,
    lookahead: 0.25,
    options: { 'start-events': 4, remote: 0.9 },
  },
  {
    events: 36306,
    lps: 100,
    end: 300,
    lookahead: 0.01,
    options: { 'start-events': 3, remote: 1, mean: 2.5 },
  },
  {
    events: 101941,
    lps: 1024,
    end: 100,
    lookahead: 0.1,
    options: { 'start-events': 1, remote: 0.25 },
  },
  {
    events: 406439,
    lps: 4096,
    end: 50,
    lookahead: 0.5,
    options: { 'start-events': 2, remote: 0.1 },
  },
] as const;

const SYNCHRONISERS = ['optimistic', 'conservative'] as const;

/** Milliseconds of a test: four ranks may share two busy CPUs. */
const PATIENCE = 180_000;

describe.skipIf(!HAS_MPI).each([2, 4])(
  `on %i ranks${NEEDS_MPI}`,
  { timeout: PATIENCE },
  (ranks) => {
    it('PHOLD commits the events that ROSS commits, optimistically and conservatively', async () => {
      const cases = PHOLD.flatMap(({ lps, end, lookahead, options }) =>
        SYNCHRONISERS.filter((s) => s === 'optimistic' || lookahead >= 0.1).map((synch) => ({
          model: 'phold',
          settings: { synch, end, lookahead, options: { ...options, nlp: lps / ranks } },
        })),
      );
      const got = await expectSame(ranks, cases);
      expect(got.map(({ run }) => run.netEvents)).toEqual(
        PHOLD.flatMap((p) =>
          SYNCHRONISERS.slice(0, p.lookahead >= 0.1 ? 2 : 1).map(() => p.events),
        ),
      );
      const remote = got.reduce((n, { run }) => n + run.remoteEvents, 0);
      const reductions = got.reduce((n, { run }) => n + run.allReduces, 0);
      expect(remote).toBeGreaterThan(50_000);
      expect(reductions).toBeGreaterThan(1000);
    });

    it('so do the other models', async () => {
      await expectSame(ranks, [
        { model: 'queueing', settings: { end: 200 } },
        { model: 'torus', settings: { end: 200 } },
        { model: 'pcs', settings: { end: 20 } },
        { model: 'queueing', settings: { end: 100, synch: 'optimistic-realtime', gvtInterval: 1 } },
      ]);
    });

    it('random models do, with ties, priorities, zero offsets and cascades of rollbacks', async () => {
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
            lps: fc.integer({ min: 1, max: 24 }),
            start: fc.integer({ min: 0, max: 3 }),
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
      const cases = fc
        .sample(anyCase, { numRuns: 5 })
        .map(({ model, settings }) => ({ model: own(model), settings }));
      const got = await expectSame(ranks, cases);
      expect(got.reduce((n, { run }) => n + run.remoteEvents, 0)).toBeGreaterThan(100);
    });

    it('messages larger than a batch, and event memory that runs out, change nothing', async () => {
      await expectSame(ranks, [
        // Chains of 60 events without an offset: their tie-breakers fill several batches.
        {
          model: own('random-automatic'),
          settings: { end: 4, options: { lps: 12, depth: 60, zero: 1, remote: 1, extra: 0.2 } },
        },
        {
          model: 'phold',
          settings: {
            end: 50,
            maxMemory: 400_000,
            options: { nlp: 256 / ranks, 'start-events': 4 },
          },
        },
      ]);
    });
  },
);

describe('contributions to a GVT', () => {
  // 3 sums, 4 maxima, then the key: time, priority, 8 tie-breakers.
  const words = (key: readonly number[], sums: readonly number[], maxima: readonly number[]) =>
    Float64Array.from([...sums, ...maxima, ...key]);
  const anyKey = fc.array(fc.constantFrom(-Infinity, 0, 1, 2), { minLength: 10, maxLength: 10 });
  const anyWords = fc.record({
    key: anyKey,
    sums: fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 3, maxLength: 3 }),
    maxima: fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }),
  });

  it('combine to sums, maxima and the first key, in any order', () => {
    fc.assert(
      fc.property(anyWords, anyWords, (a, b) => {
        const first = [a.key, b.key].sort((x, y) => {
          const k = x.findIndex((v, n) => v !== y[n]);
          return k < 0 ? 0 : x[k] < y[k] ? -1 : 1;
        })[0];
        const want = words(
          first,
          a.sums.map((v, k) => v + b.sums[k]),
          a.maxima.map((v, k) => Math.max(v, b.maxima[k])),
        );
        const ab = words(b.key, b.sums, b.maxima);
        combineContributions(words(a.key, a.sums, a.maxima), ab);
        const ba = words(a.key, a.sums, a.maxima);
        combineContributions(words(b.key, b.sums, b.maxima), ba);
        expect(ab).toEqual(want);
        expect(ba).toEqual(want);
      }),
    );
  });
});
