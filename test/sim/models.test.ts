/** The built-in models: one result under every synchroniser, and the results that theory predicts. */
import '../support/small-machine.ts';
import { type RunResult, type Settings, simulate } from 'triscope/sim';
import { describe, expect, test } from 'vitest';

const EXAMPLE = new URL('../../examples/coffee-shop.ts', import.meta.url).pathname;

/** Small runs of every model, with enough traffic between LPs to make stragglers. */
const SMALL: readonly (readonly [model: string, settings: Settings])[] = [
  ['phold', { end: 40, lookahead: 0.25, options: { 'total-lps': 32, 'start-events': 2 } }],
  ['queueing', { end: 100, options: { 'total-stations': 10, leave: 0.4 } }],
  ['torus', { end: 150, options: { k: 4, n: 2, interval: 10, 'packet-size': 4 } }],
  ['pcs', { end: 10, options: { width: 6, height: 5, channels: 5, arrival: 1.5, dwell: 2 } }],
  ['fattree', { end: 120, options: { k: 2, n: 2, load: 0.9, traffic: 'hotspot' } }],
  ['dragonfly', { end: 120, options: { p: 1, a: 2, h: 1, load: 0.9, routing: 'ugal', buffer: 2 } }],
  ['slimfly', { end: 70, options: { q: 3, p: 1, load: 0.9, routing: 'valiant', buffer: 1 } }],
  [EXAMPLE, { end: 60, options: { shops: 4 } }],
];

const WAYS: readonly Settings[] = [
  { synch: 'conservative', pes: 1 },
  { synch: 'conservative', pes: 2 },
  { synch: 'optimistic', pes: 1, nkp: 4 },
  { synch: 'optimistic', pes: 2, nkp: 8, batch: 1, gvtInterval: 4 },
  { synch: 'optimistic-debug' },
  { synch: 'optimistic-realtime', pes: 2, gvtInterval: 1 },
  { synch: 'rollback-check' },
];

describe.each(SMALL)('%s %j', (model, settings) => {
  test('every synchroniser commits the same events and ends in the same state', async () => {
    const expected = await simulate(model, { ...settings, synch: 'sequential' });
    expect(expected.netEvents).toBeGreaterThan(500);
    for (const way of WAYS) {
      const run = await simulate(model, { ...settings, ...way });
      expect({ way, ...outcome(run) }).toEqual({ way, ...outcome(expected) });
      expect(run.results.rows, JSON.stringify(way)).toEqual(expected.results.rows);
    }
  });
});

function outcome(run: RunResult) {
  const { stateDigest, eventDigest, netEvents, eventsPastEnd, finished } = run;
  return { stateDigest, eventDigest, netEvents, eventsPastEnd, finished };
}

/** Student's t: quantile 0.995, so that an interval of mean ± t s / sqrt(n) holds in 99 cases of 100. */
const T99: Readonly<Record<number, number>> = { 7: 3.499, 19: 2.861, 63: 2.656 };

/** 99 % confidence interval for the mean of independent values. */
function interval(values: readonly number[]): { mean: number; halfWidth: number } {
  const n = values.length;
  const mean = values.reduce((a, b) => a + b, 0) / n;
  const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / (n - 1);
  return { mean, halfWidth: T99[n - 1] * Math.sqrt(variance / n) };
}

/** `expected` lies in the interval of `values`, and the interval is narrower than `precision` (relative). */
function expectMean(values: readonly number[], expected: number, precision: number): void {
  const { mean, halfWidth } = interval(values);
  expect(Math.abs(mean - expected), `${mean} ± ${halfWidth}, not ${expected}`).toBeLessThan(
    halfWidth,
  );
  expect(halfWidth / expected, 'precision').toBeLessThan(precision);
}

describe('queueing: a Jackson network behaves as its M/M/1 stations do', () => {
  // arrival / leave customers come to each station per time unit: utilisations 0.6, 0.8, 0.25.
  test.each([
    { arrival: 0.3, leave: 0.5, service: 1, routing: 'uniform' },
    { arrival: 0.2, leave: 0.25, service: 1, routing: 'next' },
    { arrival: 0.5, leave: 1, service: 2, routing: 'uniform' },
  ])('%j', async (options) => {
    const stations = 16;
    const end = 20000;
    const run = await simulate('queueing', {
      synch: 'sequential',
      end,
      options: { ...options, 'total-stations': stations, 'by-batch': true },
    });
    const rate = options.arrival / options.leave;
    const theory = {
      utilisation: rate / options.service,
      queueLength: rate / (options.service - rate),
      sojourn: 1 / (options.service - rate),
    };
    const { counts, rows, totals } = run.results;
    const batches = counts.servedByBatch.length;
    expect(batches).toBe(20);
    const batchTime = (stations * end * 0.9) / batches;
    expectMean(
      counts.busyTimeByBatch.map((t) => t / batchTime),
      theory.utilisation,
      0.03,
    );
    expectMean(
      counts.queueAreaByBatch.map((a) => a / batchTime),
      theory.queueLength,
      0.1,
    );
    expectMean(
      counts.sojournTimeByBatch.map((t, b) => t / counts.servedByBatch[b]),
      theory.sojourn,
      0.1,
    );
    // The time at an M/M/1 station is exponential: its mean square is twice the square of its mean.
    const meanSquare = totals.sojournTimeSquares / totals.served;
    expect(Math.abs(meanSquare / (2 * theory.sojourn ** 2) - 1)).toBeLessThan(0.1);
    // Each station's own 95 % intervals: most of the 48 hold the truth.
    const hits = rows.stations.flatMap(({ values: v }) => [
      Math.abs(v.utilisation - theory.utilisation) < v.utilisationHalfWidth,
      Math.abs(v.queueLength - theory.queueLength) < v.queueLengthHalfWidth,
      Math.abs(v.sojourn - theory.sojourn) < v.sojournHalfWidth,
    ]);
    expect(hits.length).toBe(48);
    expect(hits.filter(Boolean).length).toBeGreaterThan(48 * 0.8);
  });
});

/** Probability of each number of hops between two different routers of a k-ary n-cube. */
function hopDistribution(k: number, n: number): number[] {
  let ways = [1];
  for (let d = 0; d < n; d++) {
    const next = new Array<number>(ways.length + Math.floor(k / 2)).fill(0);
    ways.forEach((count, hops) => {
      for (let x = 0; x < k; x++) next[hops + Math.min(x, k - x)] += count;
    });
    ways = next;
  }
  return ways.map((count, hops) => (hops === 0 ? 0 : count / (k ** n - 1)));
}

describe('torus', () => {
  test('the expected distribution: a ring of 5 has two routers at 1 hop and two at 2', () => {
    expect(hopDistribution(5, 1)).toEqual([0, 0.5, 0.5]);
    expect(hopDistribution(2, 3)).toEqual([0, 3 / 7, 3 / 7, 1 / 7]);
  });

  test.each([
    { k: 8, n: 2, end: 8000, chi2: 26.12 },
    { k: 5, n: 3, end: 4000, chi2: 22.46 },
    { k: 2, n: 5, end: 15000, chi2: 20.52 },
  ])('hops of uniform traffic, k = $k, n = $n', async ({ k, n, end, chi2 }) => {
    const run = await simulate('torus', { synch: 'sequential', end, options: { k, n } });
    const { counts, totals } = run.results;
    const expected = hopDistribution(k, n);
    expect(counts.hops.length).toBe(expected.length);
    expect(totals.delivered).toBeGreaterThan(10000);
    // Pearson's chi squared, against its 0.1 % point for (classes - 1) degrees of freedom.
    const sum = expected.slice(1).reduce((total, p, i) => {
      const e = p * totals.delivered;
      return total + (counts.hops[i + 1] - e) ** 2 / e;
    }, 0);
    expect(sum).toBeLessThan(chi2);
    // A packet's latency is its waits, plus 16 flits at 1 per time unit, plus a delay of 1, per hop.
    const hops = counts.hops.reduce((total, count, h) => total + h * count, 0);
    expect(totals.latency / (totals.waited + 17 * hops)).toBeCloseTo(1, 9);
    const histogram = counts.latencyLog2Quarters.reduce((a, b) => a + b, 0);
    expect(histogram).toBe(totals.delivered);
  });

  test('a link fed by one source is an M/D/1 queue', async () => {
    // Two routers, joined by two links each way: a link gets 1/32 packet per time unit and takes 16 for
    // one, so its utilisation is 1/2, and a packet waits (1/2 × 16) / (2 × (1 - 1/2)) = 8 on average.
    const waits: number[] = [];
    for (let k = 1; k <= 8; k++) {
      const { results } = await simulate('torus', {
        synch: 'sequential',
        end: 60000,
        seeds: [k * 1111, k * 2222, k * 3333, k * 4444],
        options: { k: 2, n: 1, interval: 16 },
      });
      waits.push(results.totals.waited / results.totals.delivered);
    }
    expectMean(waits, 8, 0.05);
  });
});

/** Probability that all of `channels` are in use when `load` erlangs are offered. */
function erlangB(channels: number, load: number): number {
  let b = 1;
  for (let k = 1; k <= channels; k++) b = (load * b) / (k + load * b);
  return b;
}

describe('pcs', () => {
  test('Erlang B: one channel at 1 erlang loses half; 10 at 6 lose 4.3 %', () => {
    expect(erlangB(1, 1)).toBe(0.5);
    expect(erlangB(10, 6)).toBeCloseTo(0.0431, 4);
  });

  test.each([
    { dwell: 0, channels: 10, arrival: 2 },
    { dwell: 1e12, channels: 4, arrival: 1 },
  ])('without hand-offs each cell blocks as Erlang B says: %j', async (options) => {
    const end = 3000;
    const { results } = await simulate('pcs', {
      synch: 'sequential',
      end,
      options: { width: 8, height: 8, duration: 3, ...options },
    });
    const load = options.arrival * 3;
    const blocking = erlangB(options.channels, load);
    const cells = results.rows.cells.map(({ values }) => values);
    expect(results.totals.handOffs).toBe(0);
    expectMean(
      cells.map((c) => c.blocked / c.calls),
      blocking,
      0.05,
    );
    expectMean(
      cells.map((c) => c.meanBusyChannels),
      load * (1 - blocking),
      0.02,
    );
  });

  test('every call is blocked, completed, dropped or in progress', async () => {
    const { results } = await simulate('pcs', { synch: 'sequential', end: 60 });
    const { calls, blocked, completed, dropped, inProgress, handOffs } = results.totals;
    expect(blocked + completed + dropped + inProgress).toBe(calls);
    for (const some of [blocked, completed, dropped, inProgress, handOffs]) {
      expect(some).toBeGreaterThan(0);
    }
    expect(results.maxima.busyChannels).toBe(10);
  });
});

test('a router without links to others has no loads of links', async () => {
  const { results } = await simulate('fattree', { end: 50, options: { k: 2, n: 1 } });
  expect(results.maxima).not.toHaveProperty('linkUtilisation');
  expect(results.rows.routers).toEqual([{ lp: 0, values: { packets: 0, inBuffers: 0 } }]);
});

describe('what cannot be is refused in one line', () => {
  const cases: readonly (readonly [string, Settings, RegExp])[] = [
    ['phold', { options: { mean: 0.5 } }, /--mean=0.5 is less than --lookahead=1/],
    ['queueing', { options: { arrival: 0.5 } }, /unstable: 1 customers .* utilisation must be/],
    ['queueing', { options: { leave: 0 } }, /unstable/],
    ['queueing', { options: { arrival: 0 } }, /^--arrival=0: must be .* greater than 0/],
    ['queueing', { options: { transfer: 0.1 } }, /--transfer=0.1 is less than --lookahead=0.5/],
    ['torus', { options: { 'hop-delay': 0, 'packet-size': 0.5 } }, /a hop takes 0.5 .*lookahead=1/],
    ['torus', { options: { k: 300, n: 1 } }, /routes of up to 150 hops; at most 128/],
    ['torus', { options: { k: 100, n: 4 } }, /100000000 routers; at most/],
    ['torus', { options: { n: 7 } }, /^--n=7: must be .* 6/],
    ['pcs', { options: { dwell: 0.1 } }, /--dwell=0.1 is less than --lookahead=0.25/],
    ['pcs', { options: { arrival: 0 } }, /^--arrival=0: must be .* greater than 0/],
    ['pcs', { options: { channels: 0 } }, /^--channels=0: must be .* 1/],
  ];
  test.each(cases)('%s %j', async (model, settings, message) => {
    const error = await simulate(model, settings).then(
      () => new Error('it ran'),
      (e: Error) => e,
    );
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('\n');
    expect(['ModelError', 'OptionError']).toContain(error.name);
  });
});
