/** Statistics that LPs have in their state: against theory and by hand, and the same however a run is made. */
import '../support/small-machine.ts';
import {
  defineModel,
  histogram,
  type Model,
  quantiles,
  type Settings,
  simulate,
  type TallyResult,
  type TimeAverageResult,
  tally,
  timeAverage,
} from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { mser, steadyMean } from '../../src/sim/statistic/steady.ts';
import { mergeTallies, tallyResult } from '../../src/sim/statistic/tally.ts';
import { Dice } from '../../src/sim/transport/chaos.ts';

/** LPs that take one value per step from `values`, at times 1, 2, 3… */
const stepping = (values: readonly number[], lps = 1): Model =>
  defineModel({
    name: 'steps',
    lps: () => lps,
    end: values.length + 1,
    state: {
      value: tally({ slices: 64 }),
      level: timeAverage(),
      bins: histogram({ from: 0, to: 4, bins: 2 }),
      size: quantiles({ from: 1, to: 100, error: 0.01 }),
    },
    message: { step: 'u32' },
    init: (lp) => void lp.send(lp.id, 1),
    forward(lp, { step }) {
      const { value, level, bins, size } = lp.state;
      const x = values[step] ?? 0;
      value.add(x);
      level.set(x);
      bins.add(x);
      size.add(x);
      lp.send(lp.id, 1).step = step + 1;
    },
    final: (lp, results) => results.row('seen', { mean: lp.state.value.mean, now: lp.now }),
  });

const statisticsOf = async (model: Model, settings: Settings = {}) =>
  (await simulate(model, settings)).results.statistics;

describe('statistics by hand', () => {
  // 2, 4 and 9 at times 1, 2 and 3; the run ends at 4.
  it('of three values', async () => {
    const { value, level, bins, size } = await statisticsOf(stepping([2, 4, 9]));
    // Mean 5, squares 9 + 1 + 16 = 26, sd √13.
    expect(value).toEqual({
      ...{ kind: 'tally', count: 3, mean: 5, sd: Math.sqrt(13), min: 2, max: 9, steady: null },
    });
    // 0 until 1, then 2, 4, 9 for one unit each: 15 / 4.
    expect(level).toMatchObject({ mean: 3.75, time: 4, min: 0, max: 9, lps: 1 });
    expect(bins).toMatchObject({ count: 3, below: 0, bins: [0, 1], above: 2 });
    expect(size).toMatchObject({ count: 3, min: 2, max: 9, p999: 9 });
    expect(Math.abs((size as { p50: number }).p50 / 4 - 1)).toBeLessThanOrEqual(0.01);
  });

  it('from the warm-up on', async () => {
    const { value, level } = await statisticsOf(stepping([2, 4, 9]), { warmup: 1.5 });
    expect(value).toMatchObject({ count: 2, mean: 6.5, min: 4 });
    // 2 until 2, then 4 and 9: (1 + 4 + 9) / 2.5.
    expect(level).toMatchObject({ mean: 5.6, time: 2.5, min: 2, max: 9 });
    await expect(simulate(stepping([1]), { warmup: 2 })).rejects.toThrow(
      '--warmup=2: must be before --end=2',
    );
  });

  it('without a value are null, not 0', async () => {
    const none = await statisticsOf(stepping([]));
    expect(none.value).toMatchObject({ count: 0, mean: null, sd: null, min: null, max: null });
    expect(none.size).toMatchObject({ p50: null, max: null });
  });

  it('lose no digits to a large mean, over LPs as in one', () => {
    const gathered = (mean: number) => ({
      ...{ kind: 'tally' as const, count: 2, min: mean - 1, max: mean + 1, slices: null },
      ...{ sum: [2 * mean], within: [2], between: [2 * mean * mean] },
    });
    const [a, b] = [gathered(2 ** 52), gathered(2 ** 52 + 4)];
    b.between.splice(0, 1, 2 ** 105, 2 ** 56, 32);
    mergeTallies(a, b);
    // Values m - 1, m + 1, m + 3, m + 5: squares about m + 2 are 9 + 1 + 1 + 9.
    expect(tallyResult(a)).toMatchObject({ count: 4, mean: 2 ** 52 + 2, sd: Math.sqrt(20 / 3) });
  });

  it('of quantiles stay within their error', async () => {
    const dice = new Dice(3, 1);
    const values = Array.from({ length: 2000 }, () => 1 + 90 * dice.uniform() ** 3);
    const sorted = values.toSorted((x, y) => x - y);
    const { size } = await statisticsOf(stepping(values));
    for (const [name, p] of [
      ['p50', 0.5],
      ['p90', 0.9],
      ['p95', 0.95],
      ['p99', 0.99],
    ] as const) {
      const found = (size as unknown as Record<string, number>)[name] ?? 0;
      const exact = sorted[Math.ceil(p * 2000) - 1] ?? 0;
      expect(Math.abs(found - exact) / exact, name).toBeLessThanOrEqual(0.01);
    }
  });
});

describe('the steady mean', () => {
  it('leaves out what MSER says', () => {
    const noise = Array.from({ length: 50 }, (_, k) => (k % 2 === 0 ? 1 : -1));
    expect(mser([50, 20, 10, ...noise])).toBe(3);
    expect(mser(noise)).toBe(0);
    // At most half: a run that only rises has no steady part.
    expect(mser(Array.from({ length: 40 }, (_, k) => k))).toBe(20);
  });

  it('covers the true one with intervals of 95 % in 94 to 96 % of 5,000 cases', () => {
    const dice = new Dice(1, 4);
    const normal = () =>
      Math.sqrt(-2 * Math.log(1 - dice.uniform())) * Math.cos(2 * Math.PI * dice.uniform());
    let covered = 0;
    for (let n = 0; n < 5000; n++) {
      const sums = Float64Array.from(
        { length: 100 },
        (_, k) => 3 + 5 * Math.exp(-k / 4) + normal(),
      );
      const found = steadyMean({ from: 0, length: 1, whole: 100, columns: [sums] });
      if (found !== null && found.low <= 3 && 3 <= found.high) covered++;
    }
    expect(covered / 5000).toBeGreaterThan(0.94);
    expect(covered / 5000).toBeLessThan(0.96);
  });

  it('follows from slices, at whatever time a run ends', async () => {
    // From 10 down to 1 within 100 steps, then 1, 3, 1, 3 …
    const values = Array.from({ length: 2000 }, (_, k) => (k < 100 ? 10 : 1 + 2 * (k % 2)));
    for (const end of [2001, 1100]) {
      const { value } = await statisticsOf(stepping(values), { end });
      const { steady, mean } = value as TallyResult;
      expect(mean).toBeGreaterThan(2.3);
      expect(steady?.from).toBeGreaterThan(90);
      expect(steady?.mean).toBeCloseTo(2, 1);
      expect(steady?.low).toBeLessThanOrEqual(2.1);
    }
  });
});

/** Two types of LP, one with a `reverse`; the first to handle `most` events stops the run. */
const ring = (most: number): Model => {
  const own = { gap: tally({ slices: 64 }), load: timeAverage({ slices: 64 }), n: 'u32' } as const;
  const message = {} as const;
  const forward = (lp: Parameters<Parameters<typeof one>[0]>[0]) => {
    const { state } = lp;
    state.n++;
    state.gap.add(lp.now - lp.event.sendTime);
    state.load.set(state.n % 5);
    if (state.n === most) lp.stop(0.5);
    lp.send((lp.id + lp.integer(1, 3)) % lp.lps, 0.5 + lp.exponential(1));
  };
  const init = (lp: Parameters<Parameters<typeof one>[0]>[0]) =>
    void lp.send(lp.id, 0.5 + lp.exponential(1));
  return defineModel({
    name: 'two',
    lps: () => 8,
    end: 60,
    lookahead: 0.5,
    message,
    types: {
      automatic: { state: own, init, forward },
      byHand: { state: own, init, forward, reverse: (lp) => void lp.state.n-- },
    },
    typeOf: (lp) => (lp % 2 === 0 ? 'automatic' : 'byHand'),
  });
};
declare const one: (
  f: (
    lp: import('triscope/sim').Lp<
      {
        readonly gap: ReturnType<typeof tally>;
        readonly load: ReturnType<typeof timeAverage>;
        readonly n: 'u32';
      },
      Readonly<Record<string, never>>,
      unknown
    >,
  ) => void,
) => void;

describe('statistics and stops are the same', () => {
  it.each([20, 1e6])('however a run is made that ends at %i events of an LP', async (most) => {
    const model = ring(most);
    const runs = await Promise.all(
      (
        ['sequential', 'conservative', 'optimistic', 'optimistic-debug', 'rollback-check'] as const
      ).map((synch) => simulate(model, { synch, ...(synch === 'optimistic' && { batch: 100 }) })),
    );
    const [first] = runs;
    expect(first?.stoppedAt).toEqual(most === 20 ? expect.any(Number) : null);
    expect(first?.finished).toBe(true);
    const load = first?.results.statistics['automatic.load'] as TimeAverageResult;
    expect(load.time).toBe(first?.stoppedAt ?? 60);
    expect(first?.results.statistics['byHand.gap']).toMatchObject({ count: expect.any(Number) });
    for (const { results, stateDigest, eventDigest, stoppedAt, netEvents } of runs)
      expect({ results, stateDigest, eventDigest, stoppedAt, netEvents }).toEqual({
        results: first?.results,
        stateDigest: first?.stateDigest,
        eventDigest: first?.eventDigest,
        stoppedAt: first?.stoppedAt,
        netEvents: first?.netEvents,
      });
  });

  it('refuse what cannot be', async () => {
    const wrong = (forward: (lp: { stop(d?: number): void; state: never }) => void, more = {}) =>
      simulate(
        defineModel({
          name: 'wrong',
          lps: () => 2,
          end: 9,
          lookahead: 1,
          state: { t: tally() },
          message: {},
          init: (lp) => void lp.send(lp.id, 1),
          forward: (lp) => forward(lp as never),
          ...more,
        }),
        { synch: 'conservative' },
      );
    await expect(wrong((lp) => lp.stop(0.5))).rejects.toThrow('less than --lookahead=1');
    await expect(wrong((lp) => lp.stop(-1))).rejects.toThrow(
      'stop(-1): the delay must be a number',
    );
    const t = (lp: { state: never }) => (lp.state as { t: Record<string, unknown> }).t;
    await expect(wrong((lp) => (t(lp).add as (x: string) => void)('1'))).rejects.toThrow();
    await expect(wrong((lp) => void t(lp).maen)).rejects.toThrow(
      'a tally.maen: no such field; did you mean mean?',
    );
    const final = (lp: { state: { t: { add(x: number): void } } }) => lp.state.t.add(1);
    await expect(wrong(() => {}, { final })).rejects.toThrow('wrong.t: read-only here');
    expect(() => tally({ slices: 10 })).toThrow(
      'tally({ slices: 10 }): must be an even number of at least 64',
    );
    expect(() => quantiles({ from: 0, to: 1 })).toThrow('both above 0');
    expect(() => histogram({ from: 1, to: 1, bins: 3 })).toThrow('from must be less than to');
    expect(() =>
      defineModel({
        ...{ name: 'm', lps: () => 1, state: {}, init() {}, forward() {} },
        message: { t: tally() },
      }),
    ).toThrow(
      "model 'm', message.t: statistics, timers, parts and records belong to a state, not a message",
    );
  });
});
