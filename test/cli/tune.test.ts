/** `sim tune`: the search on a made-up machine, and the command on a true one. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type TrialRun, tune } from '../../src/sim/tune.ts';
import { candidates, KNOBS, type KnobSettings, keyOf } from '../../src/sim/tune-candidates.ts';
import { temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const START: KnobSettings = {
  ...{ synch: 3, batch: 16, gvtInterval: 16, nkp: 16, maxOptLookahead: Infinity, pes: 2 },
};
const RANGE = {
  ...{ start: START, knobs: KNOBS, count: 16, lps: 64, mostPes: 4, gvtStep: 2 },
  lookahead: 0,
  synchGiven: false,
};

describe('candidates', () => {
  it('begin with the start, are all different, and the same each time', () => {
    const made = candidates(RANGE);
    expect(made[0]).toEqual(START);
    expect(made).toHaveLength(16);
    expect(new Set(made.map((one) => keyOf(one))).size).toBe(16);
    expect(candidates(RANGE)).toEqual(made);
    expect(made.map(({ pes }) => pes)).toEqual(expect.arrayContaining([1, 2, 4]));
  });

  it('keep within what makes sense: no more KPs on a PE than LPs, no more PEs than asked for', () => {
    const made = candidates({ ...RANGE, count: 200 });
    expect(Math.max(...made.map(({ nkp }) => nkp))).toBe(16);
    expect(Math.max(...made.map(({ pes }) => pes))).toBe(4);
    expect(made.filter(({ pes }) => pes === 1)).toHaveLength(1);
  });

  it('change only the knobs that may be changed', () => {
    for (const one of candidates({ ...RANGE, knobs: ['batch'] })) {
      expect({ ...one, batch: 16 }).toEqual(START);
    }
  });
});

/** A machine on which the rate follows from the setting alone. */
const machine =
  (rate: (settings: KnobSettings) => number, digest = (_: KnobSettings) => 'd') =>
  (settings: KnobSettings, end: number): Promise<TrialRun> =>
    Promise.resolve({
      ...{ eventRate: rate(settings), efficiency: 90, eventDigest: digest(settings) + end },
      ...{ wallSeconds: (end * 10) / rate(settings), gvtStep: 2, reached: 1 },
    });

const search = (run: ReturnType<typeof machine>, more: object = {}) =>
  tune({
    ...{ run, start: START, end: 1000, trialSeconds: 0.01, repeats: 3 },
    candidates: () => candidates(RANGE),
    ...more,
  });

describe('tune', () => {
  it('finds the fastest of the candidates, and its gain over the start', async () => {
    const rate = ({ batch, pes }: KnobSettings) => 100 * pes + batch;
    const fastest = candidates(RANGE).reduce((a, b) => (rate(b) > rate(a) ? b : a));
    const { best, gain, certain, complete, trials } = await search(machine(rate));
    expect(best).toEqual(fastest);
    expect(gain).toBe(rate(fastest) / rate(START));
    expect([certain, complete]).toEqual([true, true]);
    // Halving: 16, 8, 4, 2 runs, each round twice as far; then start, winner and one PE, 3 times.
    const rounds = [1, 2, 3, 4, 0].map((rung) => trials.filter((one) => one.rung === rung).length);
    expect(rounds).toEqual([16, 8, 4, 2, 9]);
    const ends = [1, 2, 3, 4].map((rung) => trials.find((one) => one.rung === rung)?.end ?? 0);
    expect(ends.map((end) => end / ends[0])).toEqual([1, 2, 4, 8]);
  });

  it('tries what findings advise first, and says which was right', async () => {
    const right = { ...START, batch: 7 };
    const wrong = { ...START, nkp: 3 };
    const rate = ({ batch, nkp }: KnobSettings) => (batch === 7 ? 300 : nkp === 3 ? 50 : 100);
    const { advised, best, trials } = await search(machine(rate), {
      advised: async () => [
        { rule: 'optimism', settings: right, expected: 2 },
        { rule: 'false-rollbacks', settings: wrong, expected: null },
      ],
    });
    expect(best).toEqual(right);
    expect(trials.slice(0, 3).map(({ settings }) => settings)).toEqual([START, right, wrong]);
    expect(advised).toEqual([
      { rule: 'optimism', settings: right, expected: 2, gain: 3, best: true },
      { rule: 'false-rollbacks', settings: wrong, expected: null, gain: 0.5, best: false },
    ]);
  });

  it('says which synchroniser is the best, each with its best setting, and by how much', async () => {
    const range = { ...RANGE, lookahead: 0.5, count: 24 };
    // Sequential 100; conservative 150 on four PEs; optimistic 240 there.
    const rate = ({ synch, pes, batch }: KnobSettings) =>
      synch === 1 ? 100 : pes * (synch === 2 ? 37.5 : 60 - Math.abs(batch - 16) / 256);
    const { best, gain, synchronisers } = await search(machine(rate), {
      candidates: () => candidates(range),
    });
    expect([best.synch, best.pes, gain]).toEqual([3, 4, 2]);
    expect(
      synchronisers.map(({ synch, rate, share, settings }) => [synch, rate, share, settings.pes]),
    ).toEqual([
      ['optimistic', 240, 1, 4],
      ['conservative', 150, 0.625, 4],
      ['sequential', 100, 100 / 240, 1],
    ]);
  });

  it('tries no synchroniser that the model or the user excludes', () => {
    const synchs = (more: object) =>
      [...new Set(candidates({ ...RANGE, ...more }).map(({ synch }) => synch))].sort();
    expect(synchs({})).toEqual([1, 3]);
    expect(synchs({ lookahead: 1 })).toEqual([1, 2, 3]);
    expect(synchs({ lookahead: 1, mostPes: 1, start: { ...START, pes: 1, synch: 1 } })).toEqual([
      1,
    ]);
    const knobs = KNOBS.filter((knob) => knob !== 'synch');
    expect(synchs({ lookahead: 1, knobs })).toEqual([1, 3]);
    expect(synchs({ lookahead: 1, knobs, synchGiven: true })).toEqual([3]);
  });

  it('keeps the start where nothing is faster', async () => {
    const isStart = (one: KnobSettings) => keyOf(one) === keyOf(START);
    const { best, gain } = await search(machine((one) => (isStart(one) ? 100 : 50)));
    expect([best, gain]).toEqual([START, 1]);
  });

  it('lets settings lose whose runs fail', async () => {
    const good = machine(({ pes }) => 100 * pes);
    const { best, trials } = await search((settings, end) =>
      settings.pes === 4 ? Promise.reject(new Error('out of memory')) : good(settings, end),
    );
    expect(best.pes).toBe(2);
    expect(trials.some(({ error }) => error === 'out of memory')).toBe(true);
  });

  it('tells settings under which other events are committed', async () => {
    const run = machine(
      ({ pes }) => 100 * pes,
      ({ batch }) => (batch === 256 ? 'other' : 'd'),
    );
    const { different } = await search(run);
    expect(different.length).toBeGreaterThan(0);
    expect(different.every(({ batch }) => batch === 256)).toBe(true);
  });

  it('ends with what it has when it is interrupted', async () => {
    const stop = new AbortController();
    let runs = 0;
    const rate = machine(({ pes }) => 100 * pes);
    const { complete, gain, best } = await search(
      (settings, end) => {
        if (++runs === 20) stop.abort();
        return rate(settings, end);
      },
      { signal: stop.signal },
    );
    expect([complete, gain]).toEqual([false, null]);
    expect(best.pes).toBeGreaterThanOrEqual(2);
  });
});

describe('triscope sim tune', () => {
  const folder = temporaryFolder();
  const MODEL = ['phold', '--total-lps=32', '--lookahead=0.1', '--end=200'];
  const QUICK = ['--candidates=3', '--trial-seconds=0.02', '--repeats=1', '--most-pes=2'];

  it('prints the best with its gain, and writes a file that sim run takes', async () => {
    const file = join(folder, 'best.args');
    const { code, out } = await triscope([
      ...['sim', 'tune', ...MODEL, '--pes=2', ...QUICK, '-o', file, '--json'],
    ]);
    expect(code).toBe(0);
    const { model, trials, different, args, gain } = JSON.parse(out) as {
      model: string;
      trials: readonly object[];
      different: readonly object[];
      args: readonly string[];
      gain: number | null;
    };
    expect({ model, different }).toEqual({ model: 'phold', different: [] });
    expect(trials.length).toBeGreaterThanOrEqual(5);
    // On a busy machine the one comparison may be given up for its time.
    expect(gain ?? 1).toBeGreaterThan(0);
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    expect(lines[0]).toMatch(/^# phold: /);
    expect(lines.slice(1)).toEqual(args);
    const run = await triscopeHere(['sim', 'run', ...MODEL, `--args-file=${file}`, '--json']);
    expect(run.code).toBe(0);
  });

  it('leaves --pes alone where the model grows with it, and says so', async () => {
    const { code, out, err } = await triscope([
      ...['sim', 'tune', 'phold', '--nlp=16', '--lookahead=0.1', '--end=20', '--pes=2', ...QUICK],
    ]);
    expect(code).toBe(0);
    expect(err).toMatch(/^triscope: --pes stays at 2: the model grows with the PEs/);
    // Which is faster depends on the machine and on what else it does.
    expect(out).toMatch(
      /^--synch=(optimistic|conservative) --batch=\d+ --gvt-interval=\d+ --nkp=\d+( --max-opt-lookahead=[\d.e+-]+)? --pes=2$/m,
    );
  });

  it('refuses what has nothing to tune, and unknown knobs', async () => {
    const refused = async (...args: string[]) => {
      const { code, err } = await triscopeHere(['sim', 'tune', ...args]);
      return [code, err];
    };
    expect(await refused('phold', '--synch=sequential')).toEqual([
      2,
      'triscope: --synch=sequential: there is nothing to tune; leave it out, or use optimistic\n',
    ]);
    expect(await refused('phold', '--pes=2', '--knobs=bach')).toEqual([
      2,
      'triscope: --knobs=bach: there is no setting bach; did you mean batch?; use synch, batch, gvt-interval, nkp, max-opt-lookahead, pes\n',
    ]);
    expect(await refused('phold', '--pes=2', '-o')).toEqual([
      2,
      'triscope: -o needs a value: -o FILE\n',
    ]);
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });
});
