/**
 * Chaos between PEs changes nothing: every seed is one small run of one model, with one synchroniser, some knobs, and
 * rings and batches of next to no room.
 *
 *     TRISCOPE_CHAOS_RUNS=5000   so many seeds, from a random one on
 *     TRISCOPE_CHAOS_SEED=123    from this one on: a failure names its seed
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type LoadedModel, loadModel, type RunResult, simulate } from 'triscope/sim';
import { afterAll, describe, expect, it } from 'vitest';
import { type ChaosCase, chaosCase } from '../../src/sim/chaos-case.ts';
import { configFor } from '../../src/sim/settings.ts';
import { Chaos, chaosShape, Dice } from '../../src/sim/transport/chaos.ts';
import { type SmallRun, smallRun } from './support/chaos-models.ts';
import { lockstep, type Stretch } from './support/lockstep.ts';
import { HAS_MPI, mpirun, NEEDS_MPI } from './support/mpirun.ts';

const { TRISCOPE_CHAOS_RUNS, TRISCOPE_CHAOS_SEED } = process.env;
const RUNS = Number(TRISCOPE_CHAOS_RUNS ?? 100);
const FIRST = Number(TRISCOPE_CHAOS_SEED ?? (TRISCOPE_CHAOS_RUNS ? Date.now() % 1e9 : 1));
const PATIENCE = 60_000 + 4000 * RUNS;

/** So many of the seeds; each way has its own. */
const seedsOf = (share: number, from: number) =>
  Array.from({ length: Math.ceil(RUNS * share) }, (_, k) => FIRST + from + k);

const digests = (run: RunResult) => ({
  finished: run.finished,
  netEvents: run.netEvents,
  eventDigest: run.eventDigest,
  stateDigest: run.stateDigest,
  stoppedAt: run.stoppedAt,
  statistics: run.results.statistics,
});

const again = (seed: number, { model }: SmallRun, { name }: ChaosCase) =>
  `${model.split('/').at(-1)}: ${name}; again: TRISCOPE_CHAOS_SEED=${seed} TRISCOPE_CHAOS_RUNS=1`;

/** Each model once, for all seeds. */
const models = new Map<string, Promise<LoadedModel>>();
afterAll(async () => {
  for (const model of models.values()) (await model).dispose();
});

function loadedOnce(path: string): Promise<LoadedModel> {
  const model = models.get(path) ?? loadModel(path);
  models.set(path, model);
  return model;
}

async function prepared(seed: number, ranks?: number) {
  const { model, settings } = smallRun(seed);
  // Arrays of many megabytes would take longer to clear than most of these runs.
  const small: SmallRun = { model, settings: { ...settings, maxMemory: 2 ** 20 } };
  const loaded = await loadedOnce(small.model);
  const truth = await simulate(loaded, { ...small.settings, synch: 'sequential', pes: 1 });
  const { lookahead } = configFor(loaded.model, small.settings);
  const ground = {
    lookahead,
    lps: truth.lps,
    memory: truth.peakEvents * truth.eventBytes,
  };
  const one = chaosCase(seed, small.settings, ground, ranks);
  return { small, loaded, truth, one, name: again(seed, small, one) };
}

/** A run that hangs fails, and is named. */
async function within<T>(name: string, running: Promise<T>): Promise<T> {
  try {
    return await running;
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}

describe('under chaos, the same events are committed', { timeout: PATIENCE }, () => {
  it('by PEs that take turns in any order', async () => {
    let held = 0;
    const synchronisers = new Set<string>();
    for (const seed of seedsOf(0.5, 0)) {
      const { small, loaded, truth, one, name } = await prepared(seed);
      const dice = new Dice(seed, 2000);
      const schedule: Stretch[] = Array.from({ length: dice.of([0, 1, 3]) }, () => ({
        pe: dice.of([0, 1, 2, 3]),
        turns: dice.of([1, 2, 10, 50]),
      }));
      const chaos = Array.from(
        { length: one.settings.pes ?? 1 },
        (_, pe) => new Chaos({ seed, pauses: 0 }, pe),
      );
      const run = within(
        name,
        (async () =>
          lockstep(loaded.model, one.settings, schedule, (pe) => ({
            ...chaos[pe]?.parts,
            around: (transport) => chaos[pe]?.around(transport) ?? transport,
          })))(),
      );
      const got = (await run).run;
      expect(digests(got), name).toEqual(digests(truth));
      held += got.heldBack;
      synchronisers.add(`${one.settings.synch}`);
      expect(small.model).toBeTruthy();
    }
    if (RUNS < 100) return;
    expect(held).toBeGreaterThan(10 * RUNS);
    expect([...synchronisers].sort()).toEqual([
      'conservative',
      'optimistic',
      'optimistic-realtime',
    ]);
  });

  it('by threads', async () => {
    for (const seed of seedsOf(0.1, 1_000_000)) {
      const { loaded, truth, one, name } = await prepared(seed);
      const signal = AbortSignal.timeout(240_000);
      const run = await within(
        name,
        simulate(loaded, one.settings, { chaos: one.chaos, signal, sizedFor: 1 }),
      );
      expect(digests(run), name).toEqual(digests(truth));
    }
  });

  it.skipIf(!HAS_MPI).each([2, 4])(
    `by %i ranks, through shared memory and by messages${NEEDS_MPI}`,
    async (ranks) => {
      const share = ranks === 2 ? 0.2 : 0.1;
      const folder = mkdtempSync(join(tmpdir(), 'triscope-chaos-'));
      const all = [];
      for (const seed of seedsOf(share, ranks * 1_000_000)) {
        const one = await prepared(seed, ranks);
        all.push(one);
      }
      // Jobs of so many runs: one that hangs is ended.
      for (let k = 0; k < all.length; k += 50) await job(ranks, all.slice(k, k + 50), folder);
      rmSync(folder, { recursive: true });
    },
  );
});

type Prepared = Awaited<ReturnType<typeof prepared>>;

async function job(ranks: number, some: readonly Prepared[], folder: string): Promise<void> {
  const from = join(folder, 'cases.json');
  const to = join(folder, 'results.json');
  const cases = some.map(({ small, one }, k) => {
    // In each job some run where two and two ranks share memory.
    const mostSharing = one.shares ? (ranks === 4 && k % 2 === 0 ? 2 : undefined) : 1;
    return { model: small.model, settings: one.settings, chaos: one.chaos, mostSharing };
  });
  writeFileSync(from, JSON.stringify(cases));
  const here = fileURLToPath(new URL('support/mpi-cases.mjs', import.meta.url));
  const { code, out, err } = await mpirun(ranks, [here, from, to, 'tell']);
  const last = some[out.split('\n').length - 2]?.name ?? '';
  expect({ code, err }, last).toEqual({ code: 0, err: '' });
  const results = JSON.parse(readFileSync(to, 'utf8')) as readonly { readonly run: RunResult }[];
  for (const [k, { truth, name }] of some.entries()) {
    const run = results[k]?.run;
    expect(run && digests(run), name).toEqual(digests(truth));
  }
}

describe('what a seed says', () => {
  it('is the same each time, and every size comes up', () => {
    const shapes = Array.from({ length: 200 }, (_, k) => chaosShape(k + 1));
    expect(shapes[41]).toEqual(chaosShape(42));
    expect(new Set(shapes.map((s) => s.ringSlots))).toEqual(new Set([1, 2, 7, Infinity]));
    expect(new Set(shapes.map((s) => s.batchSlots))).toEqual(new Set([1, 2, Infinity]));
    expect(new Set(shapes.map((s) => s.inOrder))).toEqual(new Set([false, undefined]));
  });
});

describe('a run whose PEs are not told what is under way', { timeout: PATIENCE }, () => {
  it('ends with one line that names both events, never with a wrong result', async () => {
    const settings = {
      synch: 'conservative',
      pes: 2,
      end: 12,
      lookahead: 0.35,
      batch: 300,
      options: { 'total-lps': 64, 'start-events': 8, remote: 1 },
    } as const;
    const seed = Array.from({ length: 100 }, (_, k) => k + 1).find(
      (k) => chaosShape(k).ringSlots === 1,
    );
    await expect(
      simulate('phold', settings, { chaos: { seed: seed ?? 0, careless: true } }),
    ).rejects.toThrow(
      /^the event from LP \d+ to LP \d+ at virtual time [\d.]+ reached PE [01] after the event from LP \d+ to LP \d+ at virtual time [\d.]+ had been handled there/,
    );
  });
});
