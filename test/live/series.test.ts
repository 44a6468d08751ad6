/** Samples to bins: amounts are conserved, counters roll over, nothing is made up. */
import fc from 'fast-check';
import { SeriesStore } from 'triscope/live';
import { describe, expect, it } from 'vitest';
import type { Metric, Schema } from '../../src/model/metric.ts';
import { batch, type Row } from './support/samples.ts';

const metric = (key: string, cell: Metric['cell'], more: Partial<Metric> = {}): Metric => ({
  key,
  cell,
  kind: 'gauge',
  behaviour: 'variable',
  form: 'total',
  unit: '',
  over: 'sum',
  help: '',
  ...more,
});

const SCHEMA: Schema = {
  name: 'made',
  domain: 'pe',
  help: '',
  metrics: [
    metric('real_time', 'f64'),
    metric('mode', 'label', { behaviour: 'label' }),
    metric('pe_id', 'u32', { behaviour: 'constant' }),
    metric('done', 'u32', { kind: 'event', form: 'change' }),
    metric('also', 'u32', { kind: 'event', form: 'change' }),
    metric('total', 'u64', { kind: 'event', behaviour: 'monotone', bits: 48 }),
    metric('size', 'f32'),
  ],
};

function store(rows: readonly Row[], most?: number): SeriesStore {
  const made = new SeriesStore(most);
  made.add(batch(SCHEMA, rows));
  return made;
}

function bins(
  from: SeriesStore,
  keys: readonly string[],
  range: readonly [number, number],
  count: number,
) {
  const series = from.series('made', keys, range[0], range[1], count);
  if (series === null) throw new Error('no series');
  return series;
}

describe('a rate', () => {
  it('spreads what was counted over the time since the sample before', () => {
    const rows = [
      { real_time: 1, done: 100 },
      { real_time: 3, done: 400 },
    ];
    const [{ mean, min, max }] = bins(store(rows), ['done'], [0, 4], 4);
    expect([...mean]).toEqual([100, 200, 200, Number.NaN]);
    expect([...min]).toEqual([100, 200, 200, Number.NaN]);
    expect([...max]).toEqual([...mean]);
  });

  it('is by virtual time where that is what a store counts; what is beyond all is left out', () => {
    const schema: Schema = {
      ...SCHEMA,
      metrics: [metric('virtual_time', 'f64'), ...SCHEMA.metrics],
    };
    const rows = [0, 2, 4, Infinity].map((virtual_time) => ({
      ...{ virtual_time, real_time: 4506, done: 100 },
    }));
    const still = new SeriesStore();
    still.since = null;
    still.add(batch(schema, rows));
    expect(still.moves).toBe(false);
    const made = new SeriesStore(Infinity, 'virtual');
    made.since = null;
    made.add(batch(schema, rows));
    expect(made.moves).toBe(true);
    expect(made.tables()[0]).toMatchObject({ from: 0, to: 4, rows: 3 });
    expect([...bins(made, ['done'], [0, 4], 2)[0].mean]).toEqual([50, 50]);
  });

  it('of what is found or started on the way begins with its first sample', () => {
    const threads: Schema = {
      ...{ name: 'process_thread', domain: 'process', help: '' },
      metrics: [metric('time', 'f64'), metric('thread_id', 'u32'), metric('cpu', 'u32')],
    };
    const rows = [2, 3].map((time) => ({ time, thread_id: 7, cpu: 1 }));
    const made = new SeriesStore();
    made.add(batch(threads, rows));
    const [{ mean }] = made.series('process_thread', ['cpu'], 0, 4, 4) ?? [];
    expect([...mean]).toEqual([Number.NaN, Number.NaN, 1, Number.NaN]);
  });

  it('of a total is by the one rule for counters: a dip counts nothing, and is gone over', () => {
    const node: Schema = {
      name: 'node_numa',
      domain: 'host',
      help: '',
      metrics: [metric('time', 'f64'), metric('hits', 'u64', { kind: 'event' })],
    };
    const made = new SeriesStore();
    const rows = [1000n, 1100n, 1092n, 1110n].map((hits, k) => ({ time: 10 * k, hits }));
    made.add(batch(node, rows));
    const [{ mean }] = made.series('node_numa', ['hits'], 0, 30, 3) ?? [];
    expect([...mean]).toEqual([10, 0, 1]);
  });

  it('keeps least and most of a bin, and its mean over time', () => {
    const rows = [
      { real_time: 0.75, done: 75 },
      { real_time: 1, done: 75 },
    ];
    const [{ mean, min, max }] = bins(store(rows), ['done'], [0, 1], 1);
    expect([mean[0], min[0], max[0]]).toEqual([150, 100, 300]);
  });

  it('sums metrics before it takes least and most', () => {
    const rows = [{ real_time: 1, done: 1, also: 2 }];
    expect(bins(store(rows), ['done', 'also'], [0, 1], 1)[0].mean[0]).toBe(3);
  });

  it('conserves what was counted, however it is binned', () => {
    const sample = fc.record({ gap: fc.integer({ min: 1, max: 1000 }), done: fc.nat(1000) });
    const samples = fc.array(sample, { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(samples, fc.integer({ min: 1, max: 200 }), (list, count) => {
        let time = 0;
        const rows = list.map(({ gap, done }) => {
          time += gap / 1000;
          return { real_time: time, done };
        });
        const [{ mean }] = bins(store(rows), ['done'], [0, time], count);
        const counted = mean.reduce((sum, rate) => sum + (rate * time) / count, 0);
        const total = list.reduce((sum, { done }) => sum + done, 0);
        expect(Math.abs(counted - total)).toBeLessThanOrEqual(1e-4 * total + 1e-6);
      }),
    );
  });

  it('of totals is their difference, over the rollover; the first and a dip give nothing', () => {
    const rows = [
      { real_time: 1, total: 2n ** 48n - 10n },
      { real_time: 2, total: 20n },
      { real_time: 3, total: 15n },
      { real_time: 4, total: 16n },
    ];
    const [{ mean }] = bins(store(rows), ['total'], [0, 4], 4);
    expect([...mean]).toEqual([Number.NaN, 30, Number.NaN, 1]);
  });
});

describe('a table', () => {
  it('has an entity per PE, in the order of numbers', () => {
    const rows = [10, 9, 2].map((pe) => ({ real_time: 1, pe_id: pe, size: pe }));
    expect(bins(store(rows), ['size'], [0, 1], 1).map(({ entity }) => entity)).toEqual([
      '2',
      '9',
      '10',
    ]);
    const [table] = store(rows).tables();
    expect(table).toMatchObject({
      name: 'made',
      entities: ['2', '9', '10'],
      rows: 3,
      from: 0,
      to: 1,
    });
    expect(table.metrics.map(({ key }) => key)).toEqual(['done', 'also', 'total', 'size']);
  });

  it('shows samples of one mode: of two, the amounts would count twice', () => {
    const rows = [
      { real_time: 1, mode: 'gvt', done: 5 },
      { real_time: 1, mode: 'rt', done: 3 },
      { real_time: 2, mode: 'rt', done: 3 },
    ];
    const series = bins(store(rows), ['done'], [0, 2], 1);
    expect(series).toHaveLength(1);
    expect(series[0].mean[0]).toBe(3);
  });

  it('leaves out what goes back in time', () => {
    const rows = [
      { real_time: 2, done: 4 },
      { real_time: 1, done: 1000 },
    ];
    expect(bins(store(rows), ['done'], [0, 2], 1)[0].mean[0]).toBe(2);
  });

  it('forgets the oldest rows where it may keep only so many', () => {
    const rows = Array.from({ length: 1000 }, (_, k) => ({ real_time: k + 1, done: 1 }));
    // A table gets a fourth; a row of this one has 4 values and two times, which take as much as 4.
    const [{ rows: kept, from, to }] = store(rows, 100 * 4 * (4 + 4)).tables();
    expect(kept).toBeLessThanOrEqual(100);
    expect(kept).toBeGreaterThanOrEqual(50);
    expect([from >= 899, to]).toEqual([true, 1000]);
  });

  it('keeps as much of many entities as of few', () => {
    const entities = 200;
    const all = new SeriesStore(4 * 8 * 100_000);
    for (let k = 0; k < 1500; k++) {
      const rows = Array.from({ length: entities }, (_, pe_id) => ({ real_time: k + 1, pe_id }));
      all.add(batch(SCHEMA, rows));
    }
    expect(all.tables()[0].rows).toBeLessThanOrEqual(100_000);
    expect(all.tables()[0].rows).toBeGreaterThanOrEqual(50_000);
  });

  it('has a gap where samples were lost, but for totals, which tell what was counted in it', () => {
    const all = store([{ real_time: 1, done: 1, total: 10n, size: 5 }]);
    all.gap();
    all.add(batch(SCHEMA, [{ real_time: 3, done: 1, total: 30n, size: 5 }]));
    all.add(batch(SCHEMA, [{ real_time: 4, done: 1, total: 40n, size: 5 }]));
    const means = (key: string) => [...bins(all, [key], [0, 4], 4)[0].mean];
    expect(means('done')).toEqual([1, Number.NaN, Number.NaN, 1]);
    expect(means('size')).toEqual([5, Number.NaN, Number.NaN, 5]);
    expect(means('total')).toEqual([Number.NaN, 10, 10, 10]);
  });

  it('does not guess since when the first sample counts where nothing tells', () => {
    const all = new SeriesStore();
    all.since = null;
    all.add(batch(SCHEMA, [{ real_time: 100, done: 5 }]));
    all.add(batch(SCHEMA, [{ real_time: 101, done: 5 }]));
    expect(all.tables()[0]).toMatchObject({ from: 100, to: 101 });
    expect([...bins(all, ['done'], [99, 101], 2)[0].mean]).toEqual([Number.NaN, 5]);
  });

  it('says null for what is not there', () => {
    expect(store([]).series('made', ['nothing'], 0, 1, 1)).toBeNull();
    expect(store([]).series('other', ['done'], 0, 1, 1)).toBeNull();
  });
});

it('threads of one host are told apart: each has its own counters', () => {
  const host = metric('host', 'label', { behaviour: 'label' });
  const ids = ['process_id', 'thread_id'].map((key) =>
    metric(key, 'u32', { behaviour: 'constant' }),
  );
  const total = metric('total', 'u64', { kind: 'event', behaviour: 'monotone', bits: 64 });
  const metrics = [metric('real_time', 'f64'), host, ...ids, total];
  const schema: Schema = { name: 'made', domain: 'process', help: '', metrics };
  const made = new SeriesStore();
  const row = (real_time: number, thread_id: number, total: number) => ({
    ...{ real_time, host: 'h', process_id: 7, thread_id, total: BigInt(total) },
  });
  made.add(batch(schema, [row(1, 7, 1000), row(1, 8, 5), row(2, 7, 1010), row(2, 8, 7)]));
  const found = bins(made, ['total'], [1, 2], 1);
  expect(found.map(({ entity, mean }) => [entity, mean[0]])).toEqual([
    ['h/7/7', 10],
    ['h/7/8', 2],
  ]);
});
