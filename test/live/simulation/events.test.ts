/** The trace of events, the matrix made from it, and places of LPs, by hand-worked numbers. */
import { describe, expect, it } from 'vitest';
import { ROSS_PE, ROSS_ROLLBACK } from '../../../src/model/schemas/ross.ts';
import { SeriesStore } from '../../../src/view/series/store.ts';
import * as view from '../../../src/view/simulation/event-view.ts';
import { Events } from '../../../src/view/simulation/events.ts';
import * as matrix from '../../../src/view/simulation/matrix.ts';
import { PlacesByLp, readMapping } from '../../../src/view/simulation/places.ts';
import { Rollbacks } from '../../../src/view/simulation/rollbacks.ts';
import { atOnce } from '../../../src/view/steps.ts';
import { batch } from '../support/samples.ts';

const densityOf = atOnce(view.densityOf);
const listOf = atOnce(view.listOf);
const matrixOfEvents = atOnce(matrix.matrixOfEvents);
const matrixOfRollbacks = atOnce(matrix.matrixOfRollbacks);
const matrixOfSends = atOnce(matrix.matrixOfSends);

/** LPs 0 and 1 on PE 0 (KPs 0 and 1), LPs 2 and 3 on PE 1 (KP 0). */
const MAPPING = '# LP PE KP\n0 0 0\n1 0 1\n2 1 0\n3 1 0\n';
const places = new PlacesByLp();
readMapping(MAPPING, places);

/** source, destination, send, receive, t */
type Event = readonly [number, number, number, number, number];
function eventsOf(rows: readonly Event[]): Events {
  const events = new Events();
  const u32 = (k: number) => Uint32Array.from(rows, (row) => row[k]);
  const f64 = (k: number) => Float64Array.from(rows, (row) => row[k]);
  events.add([u32(0), u32(1), f64(2), f64(3), f64(4)], rows.length, 0);
  return events;
}

const EVENTS = eventsOf([
  [0, 0, 0, 1, 0.1],
  [0, 2, 1, 2, 0.2],
  [2, 3, 2, 3, 0.3],
  // Undone, and handled again.
  [2, 3, 2, 3, 0.5],
  [1, 0, 4, 5, 0.6],
]);
const ALL = { from: 0, to: 1, within: '' };

describe('places of LPs', () => {
  it('are read from lp-mapping.txt; another text is left alone', () => {
    expect([0, 1, 2, 3].map((lp) => places.pathOf(lp, 'lp'))).toEqual([
      '0/0/0',
      '0/1/1',
      '1/0/2',
      '1/0/3',
    ]);
    expect(places.pathOf(9, 'kp')).toBe('?/?/9');
    const none = new PlacesByLp();
    readMapping('0 0 0\nhello\n', none);
    expect(none.size).toBe(0);
  });
});

describe('the matrix', () => {
  const square = { ...ALL, of: 'events' as const };

  it('counts events from sender to receiver at each level', () => {
    const pes = matrixOfEvents(EVENTS, places, { ...square, level: 'pe' });
    expect(pes).toMatchObject({ rows: ['0', '1'], total: 5, own: 4, each: 1 });
    expect([...(pes?.counts ?? [])]).toEqual([2, 1, 0, 2]);
    const lps = matrixOfEvents(EVENTS, places, { ...square, level: 'lp', within: '1' });
    expect(lps?.rows).toEqual(['0/0/0', '1/0/2', '1/0/3']);
    expect([...(lps?.counts ?? [])]).toEqual([0, 1, 0, 0, 0, 2, 0, 0, 0]);
  });

  it('counts only what the entity sends or gets, whatever the level', () => {
    const kp = matrixOfEvents(EVENTS, places, { ...square, level: 'pe', within: '0/1' });
    // LP 1 alone is in KP 1 of PE 0: it sent one event.
    expect(kp).toMatchObject({ rows: ['0'], total: 1, own: 1, within: '0/1' });
  });

  it('has only the window', () => {
    const some = matrixOfEvents(EVENTS, places, { ...square, level: 'pe', from: 0.25, to: 0.5 });
    expect([some?.rows, some?.total]).toEqual([['1'], 1]);
  });

  it('puts LPs together where they are too many to draw', () => {
    const many = eventsOf(Array.from({ length: 1100 }, (_, k) => [k, k, 0, 1, 0.5] as const));
    const lps = matrixOfEvents(many, new PlacesByLp(), { ...square, level: 'lp' });
    expect(lps).toMatchObject({ each: 3, total: 1100 });
    expect(lps?.rows).toHaveLength(367);
    expect(lps?.counts.reduce((a, b) => a + b, 0)).toBe(1100);
  });

  it('is made from counters where no events were traced: on two PEs it is plain where they went', () => {
    const store = new SeriesStore();
    const row = (pe: number, t: number, sends: number) => ({
      ...{ pe_id: pe, real_time: t, mode: 'gvt', network_sends: sends },
    });
    store.add(batch(ROSS_PE, [row(0, 1, 3), row(1, 1, 4), row(0, 2, 5)]));
    const ask = { ...ALL, to: 2.5, of: 'sends' as const, level: 'pe' as const };
    const two = matrixOfSends(store, ask);
    expect([...(two?.counts ?? [])]).toEqual([NaN, 8, 4, NaN]);
    store.add(batch(ROSS_PE, [row(2, 1, 7)]));
    const three = matrixOfSends(store, ask);
    expect(three).toMatchObject({ rows: ['0', '1', '2'], columns: ['other PEs'], total: 19 });
    expect([...(three?.counts ?? [])]).toEqual([8, 4, 7]);
    // What a KP sends is not counted: its PE's is given, and said.
    const one = matrixOfSends(store, { ...ask, within: '1/3' });
    expect(one).toMatchObject({ rows: ['1'], within: '1', total: 4 });
  });

  it('tells whose events rolled whom back', () => {
    const all = new Rollbacks();
    const row = { real_time: 0.5, pe_id: 1, kp_id: 0, source_pe: 0, source_lp: 1 };
    all.take(batch(ROSS_ROLLBACK, [row, row]));
    const kps = matrixOfRollbacks(all, places, { ...ALL, of: 'rollbacks', level: 'kp' });
    expect(kps?.rows).toEqual(['0/1', '1/0']);
    expect([...(kps?.counts ?? [])]).toEqual([0, 2, 0, 0]);
    const of = (within: string) =>
      matrixOfRollbacks(all, places, { ...ALL, of: 'rollbacks', level: 'pe', within })?.total;
    expect([of('0/1'), of('0/0'), of('1/0'), of('1/1')]).toEqual([2, 0, 2, 0]);
  });
});

describe('events of a window', () => {
  it('are counted by who handled them', () => {
    const density = densityOf(EVENTS, places, { ...ALL, sender: '', level: 'pe', bins: 2 });
    expect(density).toMatchObject({ rows: ['0', '1'], total: 5, all: 5 });
    expect([...density.counts]).toEqual([1, 1, 2, 1]);
    const some = densityOf(EVENTS, places, {
      ...ALL,
      sender: '0',
      within: '1',
      level: 'lp',
      bins: 1,
    });
    expect([some.rows, some.total]).toEqual([['1/0/2'], 1]);
  });

  it('come one by one with what sent them, and whether they were undone', () => {
    const { events, total } = listOf(EVENTS, places, { ...ALL, sender: '', level: 'lp' }, 10);
    expect(total).toBe(5);
    expect(events.map(({ t, sentAt, againAt }) => [t, sentAt, againAt])).toEqual([
      [0.1, null, null],
      [0.2, 0.1, null],
      [0.3, 0.2, 0.5],
      [0.5, 0.2, null],
      [0.6, null, null],
    ]);
    expect(events[1]).toMatchObject({ sender: '0/0/0', handler: '1/0/2', send: 1, receive: 2 });
  });
});
