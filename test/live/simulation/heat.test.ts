/** Entities × time, by hand-worked numbers. */
import { describe, expect, it } from 'vitest';
import { ROSS_KP, ROSS_LP, ROSS_PE } from '../../../src/model/schemas/ross.ts';
import { SeriesStore } from '../../../src/view/series/store.ts';
import * as breakdown from '../../../src/view/simulation/breakdown.ts';
import * as heats from '../../../src/view/simulation/heat.ts';
import { laggardOf } from '../../../src/view/simulation/laggard.ts';
import { levelBelow, nameOf } from '../../../src/view/simulation/levels.ts';
import * as orders from '../../../src/view/simulation/order.ts';
import { pack, unpack } from '../../../src/view/simulation/packed.ts';
import { atOnce } from '../../../src/view/steps.ts';
import { batch, type Row } from '../support/samples.ts';

const heatOf = atOnce(heats.heatOf);
const heatMetrics = atOnce(heats.heatMetrics);
const breakdownOf = atOnce(breakdown.breakdownOf);
const ordered = atOnce(orders.ordered);

const sample = (t: number, more: Row): Row => ({ real_time: t, mode: 'rt', ...more });

/** Two PEs, sampled at 1, 2, 3, 4 s: PE 0 handles 100 events each second, PE 1 200 and undoes 50 in the last two. */
function pes(): SeriesStore {
  const store = new SeriesStore();
  const rows = [1, 2, 3, 4].flatMap((t) => [
    sample(t, { pe_id: 0, events_processed: 100, events_processed_time: 0.25, gvt_time: 0.125 }),
    sample(t, {
      pe_id: 1,
      events_processed: 200,
      events_rolled_back: t > 2 ? 50 : 0,
      events_processed_time: 0.5,
      rollback_time: t > 2 ? 0.25 : 0,
      gvt_time: 0.125,
    }),
  ]);
  store.add(batch(ROSS_PE, rows));
  return store;
}

const ask = (more: Partial<heats.HeatAsk>): heats.HeatAsk => ({
  level: 'pe',
  metric: 'events_processed',
  within: '',
  from: 0,
  to: 4,
  bins: 4,
  ...more,
});

describe('a heatmap', () => {
  it('has counters as amounts per second, cell by cell and over the window', () => {
    const heat = heatOf(pes(), ask({}));
    expect(heat?.rows).toEqual(['0', '1']);
    expect(heat?.unit).toBe('{event}/s');
    expect([...(heat?.values ?? [])]).toEqual([100, 100, 100, 100, 200, 200, 200, 200]);
    expect([...(heat?.totals ?? [])]).toEqual([100, 200]);
    expect([...(heat?.seconds ?? [])]).toEqual([4, 4]);
  });

  it('shares a sample between the bins that it lies in', () => {
    const heat = heatOf(
      pes(),
      ask({ metric: 'events_rolled_back', bins: 8, from: 1.75, to: 3.75 }),
    );
    // PE 1 undoes 50 a second from 2 s on; each bin is a quarter of a second.
    expect([...(heat?.values.subarray(8) ?? [])]).toEqual([0, 50, 50, 50, 50, 50, 50, 50]);
    expect(heat?.totals[1]).toBeCloseTo((50 * 7) / 8, 4);
  });

  it('works ratios out from their parts, never as means of ratios', () => {
    const heat = heatOf(pes(), ask({ metric: 'efficiency', bins: 2 }));
    // 150 net of 200: 50 undone are a third of them.
    const efficiency = 100 * (1 - 50 / 150);
    expect(heat?.values[3]).toBeCloseTo(efficiency, 4);
    expect(heat?.totals[0]).toBe(100);
    expect(heat?.totals[1]).toBeCloseTo(100 * (1 - 100 / 700), 4);
    expect(heatOf(pes(), ask({ metric: 'rolled_back_share' }))?.totals[1]).toBeCloseTo(12.5, 5);
  });

  it('asks for room before it takes any, by rows and bins', () => {
    const asked: number[] = [];
    const refuse = (cells: number) => {
      asked.push(cells);
      throw new Error('no room');
    };
    expect(() => heatOf(pes(), ask({ bins: 1000 }), refuse)).toThrow('no room');
    expect(asked).toEqual([2000]);
  });

  it('leaves out what was not measured', () => {
    const store = new SeriesStore();
    store.add(batch(ROSS_PE, [sample(1, { pe_id: 0, events_processed: 10 })]));
    const heat = heatOf(store, ask({}));
    expect([...(heat?.values ?? [])]).toEqual([10, NaN, NaN, NaN]);
    expect([...(heatOf(store, ask({ from: 2 }))?.totals ?? [])]).toEqual([NaN]);
    // Nothing handled is neither efficient nor not.
    store.add(batch(ROSS_PE, [sample(2, { pe_id: 0, events_processed: 0 })]));
    expect([...(heatOf(store, ask({ metric: 'efficiency' }))?.values ?? [])]).toEqual([
      100,
      NaN,
      NaN,
      NaN,
    ]);
  });

  it('sums a level that was not sampled from the one below, and drills by path', () => {
    const store = new SeriesStore();
    const lp = (pe: number, kp: number, id: number, events: number) =>
      sample(1, { pe_id: pe, kp_id: kp, lp_id: id, events_processed: events });
    store.add(batch(ROSS_LP, [lp(0, 0, 0, 1), lp(0, 1, 1, 2), lp(0, 1, 2, 4), lp(1, 0, 3, 8)]));
    const one = { bins: 1, to: 1 };
    const rows = (more: Partial<heats.HeatAsk>) => {
      const heat = heatOf(store, ask({ ...one, ...more }));
      return heat?.rows.map((row, k) => [row, heat.totals[k]]);
    };
    expect(rows({})).toEqual([
      ['0', 7],
      ['1', 8],
    ]);
    expect(rows({ level: 'kp', within: '0' })).toEqual([
      ['0/0', 1],
      ['0/1', 6],
    ]);
    expect(rows({ level: 'lp', within: '0/1' })).toEqual([
      ['0/1/1', 2],
      ['0/1/2', 4],
    ]);
    expect(heatMetrics(store, 'kp').map(({ key }) => key)).not.toContain('time_ahead_gvt');
    expect(heatOf(store, ask({ level: 'kp', metric: 'time_ahead_gvt' }))).toBeNull();
  });

  it('marks samples that come after a hole, where records were lost', () => {
    const store = new SeriesStore();
    const at = [1, 2, 3, 8, 9];
    store.add(
      batch(
        ROSS_PE,
        at.map((t) => sample(t, { pe_id: 0, events_processed: 1 })),
      ),
    );
    const heat = heatOf(store, ask({ to: 10, bins: 10, lossy: true }));
    expect([...(heat?.doubtful ?? [])]).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 1, 0]);
    expect(heatOf(store, ask({ to: 10, bins: 10 }))?.doubtful).toHaveLength(0);
  });

  it('names entities and levels', () => {
    expect(['', '1', '1/3', '1/3/17'].map(levelBelow)).toEqual(['pe', 'kp', 'lp', 'lp']);
    expect(['1', '1/3', '1/3/17'].map(nameOf)).toEqual(['PE 1', 'KP 3 of PE 1', 'LP 17']);
  });
});

describe('rows', () => {
  /** Rows a to d of two bins: a and c alike, b and d alike. */
  const heat = {
    ...(heatOf(pes(), ask({ bins: 2 })) as NonNullable<ReturnType<typeof heatOf>>),
    rows: ['a', 'b', 'c', 'd'],
    values: Float32Array.of(9, 1, 1, 9, 8, 1, 1, 8),
    totals: Float32Array.of(5, 4, NaN, 6),
    seconds: new Float32Array(4),
  };

  it('are ordered by number, by value with missing ones last, by similarity', () => {
    const names = (order: orders.Order) => ordered(heat, order).rows.join('');
    expect(names('id')).toBe('abcd');
    expect(names('value')).toBe('dabc');
    expect(names('similar')).toBe('dbca');
    expect([...ordered(heat, 'value').values.subarray(0, 2)]).toEqual([1, 8]);
  });

  it('come back as they were packed', () => {
    const packed = pack({ rows: ['ä'] }, { a: Float32Array.of(1, NaN), b: Float32Array.of(2) });
    const back = unpack<{ rows: string[]; a: Float32Array; b: Float32Array }>(packed.buffer);
    expect(back.rows).toEqual(['ä']);
    expect([...back.a, ...back.b]).toEqual([1, NaN, 2]);
  });
});

describe('the breakdown', () => {
  it('says what each PE spent the window on, and what is left', () => {
    const { activities, pes: all } = breakdownOf(pes(), 2, 4) ?? { activities: [], pes: [] };
    const of = (pe: number, key: string) => all[pe].parts[activities.indexOf(key)];
    expect(all.map(({ pe, seconds }) => [pe, seconds])).toEqual([
      [0, 2],
      [1, 2],
    ]);
    expect(of(0, 'handlers')).toBeCloseTo(0.5, 5);
    expect(of(1, 'rollback')).toBeCloseTo(0.5, 5);
    expect(all[1].rest).toBeCloseTo(2 - 1 - 0.5 - 0.25, 5);
    // Handlers are an estimate, and steady here; GVTs are timed whole.
    expect(all[0].bounds[activities.indexOf('handlers')]).toBeCloseTo(0, 5);
    expect(all[0].bounds[activities.indexOf('gvt')] ?? null).toBeNull();
    expect(breakdownOf(new SeriesStore(), 0, 1)).toBeNull();
  });
});

describe('the laggard', () => {
  it('is the KP that is nearest to GVT most of the time', () => {
    const store = new SeriesStore();
    const kp = (t: number, id: number, ahead: number) =>
      sample(t, { pe_id: 0, kp_id: id, time_ahead_gvt: ahead });
    for (const t of [1, 2, 3, 4])
      store.add(batch(ROSS_KP, [kp(t, 0, 3), kp(t, 1, t === 1 ? 5 : 1), kp(t, 2, 9)]));
    const heat = heatOf(store, ask({ level: 'kp', metric: 'time_ahead_gvt' }));
    expect(heat && laggardOf(heat)).toEqual({
      row: '0/1',
      share: 0.75,
      ahead: 2,
      median: 3,
      leader: '0/2',
      farthest: 9,
    });
  });

  it('is not said to run farthest, too', () => {
    const store = new SeriesStore();
    const kp = (t: number, id: number, ahead: number) =>
      sample(t, { pe_id: 0, kp_id: id, time_ahead_gvt: ahead });
    for (const t of [1, 2, 3, 4]) {
      store.add(batch(ROSS_KP, [kp(t, 0, t === 4 ? 90 : 1), kp(t, 1, 2)]));
    }
    const heat = heatOf(store, ask({ level: 'kp', metric: 'time_ahead_gvt' }));
    expect(heat && laggardOf(heat)).toMatchObject({ row: '0/0', share: 0.75, leader: null });
  });
});
