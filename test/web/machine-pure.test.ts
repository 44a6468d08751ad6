/** What the machine views compute before they draw. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { laneSpans } from '../../src/live/api/regions-lanes.ts';
import { reportNames } from '../../src/live/api/regions-report.ts';
import type { RegionFacts } from '../../src/view/facts/regions.ts';
import { atOnce } from '../../src/view/steps.ts';
import { distancesOf, medianHost, ordered } from '../../web/src/nodes/outliers.ts';
import { duration } from '../../web/src/nodes/words.ts';
import { piecesOf, regionTotals } from '../../web/src/regions/icicle.ts';
import {
  firstHost,
  general,
  sentenceOf,
  spreadSentence,
  stripsOf,
} from '../../web/src/regions/report.ts';

describe('numbers of reports', () => {
  it.each([
    [53.6629, '53.6629'],
    [3e6, '3e+06'],
    [2098830000, '2.09883e+09'],
    [0.000182592, '0.000182592'],
    [9.997e-6, '9.997e-06'],
    [0, '0'],
    [-1.5, '-1.5'],
    [999999.7, '1e+06'],
    [100000, '100000'],
  ])('%s is written %s, as by %%g', (value, text) => {
    expect(general(value)).toBe(text);
  });

  it('keep six digits', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 1e12, noNaN: true }), (value) => {
        expect(Math.abs(Number(general(value)) - value) / value).toBeLessThanOrEqual(5.0001e-6);
      }),
    );
  });
});

describe('hosts', () => {
  const flat = (host: string, value: number) => ({
    host,
    values: [value, value, Number.NaN, value],
  });

  it('that differ are found by their distance from the median host', () => {
    const hosts = [flat('a', 10), flat('b', 10.2), flat('c', 2), flat('d', 9.9), flat('e', 10.1)];
    expect([...medianHost(hosts)]).toEqual([10, 10, Number.NaN, 10]);
    const found = ordered(distancesOf(hosts), 'distance');
    expect(found.map(({ host, isOutlier }) => [host, isOutlier])).toEqual([
      ['c', true],
      ['b', false],
      ['d', false],
      ['e', false],
      ['a', false],
    ]);
    expect(found[0]).toMatchObject({ mean: 2, distance: 8, signed: -8 });
  });

  it('of which there are two have no odd one, and one without data comes last', () => {
    expect(distancesOf([flat('a', 1), flat('b', 9)]).some(({ isOutlier }) => isOutlier)).toBe(
      false,
    );
    const found = ordered(distancesOf([flat('none', Number.NaN), flat('a', 1)]), 'high');
    expect(found.map(({ host }) => host)).toEqual(['a', 'none']);
  });

  it('do not stand out by less than 5 % of the median host', () => {
    const hosts = [...Array.from({ length: 9 }, (_, k) => flat(`h${k}`, 100)), flat('x', 104)];
    expect(distancesOf(hosts).filter(({ isOutlier }) => isOutlier)).toEqual([]);
  });
});

describe('lanes', () => {
  it('keep the time of all regions, in spans or bins', () => {
    const lane = fc
      .array(
        fc.tuple(fc.double({ min: 0.01, max: 2, noNaN: true }), fc.integer({ min: 1, max: 3 })),
        {
          minLength: 1,
          maxLength: 60,
        },
      )
      .map((steps) => {
        const times = new Float64Array(steps.length);
        const hashes = new Uint32Array(steps.length);
        let at = 0;
        steps.forEach(([long, hash], k) => {
          times[k] = at;
          hashes[k] = hash;
          at += long;
        });
        return { times, hashes, end: at };
      });
    fc.assert(
      fc.property(lane, fc.integer({ min: 1, max: 50 }), (one, bins) => {
        const spans = atOnce(laneSpans)(one, 0, one.end, bins);
        const all = spans.reduce((sum, { from, to }) => sum + to - from, 0);
        expect(all).toBeCloseTo(one.end, 6);
        for (let k = 1; k < spans.length; k++) {
          expect(spans[k].from).toBeGreaterThanOrEqual(spans[k - 1].to - 1e-9);
        }
      }),
    );
  });
});

const facts = (change: Partial<RegionFacts>): RegionFacts => ({
  ...{ available: true, columns: [], rows: [], processes: [], processesFrom: null },
  ...{ places: [], sessions: [], traces: [], profiles: [], names: [], suspects: [] },
  ...change,
});

describe('reports of one host', () => {
  const row = (host: string, section: string, region = '') => ({ host, section, region });
  it('are told apart: a new one begins where sections, or a region, come again', () => {
    const total = (host: string) => row(host, 'application');
    expect(
      reportNames([
        ...[row('a', 'region', 'x'), row('a', 'region', 'y'), total('a')],
        ...[row('b', 'region', 'x'), total('b')],
        // Without a region, without a total, and whole again.
        ...[total('a'), row('a', 'region', 'x'), row('a', 'region', 'x'), row('a', 'epoch')],
      ]),
    ).toEqual([
      ...['a, report 1', 'a, report 1', 'a, report 1', 'b', 'b'],
      ...['a, report 2', 'a, report 3', 'a, report 4', 'a, report 4'],
    ]);
  });

  it('open on one that has a region, and never give it more than the whole', () => {
    const at = (host: string, section: 'region' | 'application', runtime: number) => ({
      ...{ host, node: 'a', section, region: 'x', hash: 1, values: [runtime] },
    });
    const made = facts({
      columns: [{ key: 'runtime', unit: 's', help: '' }],
      rows: [at('a, report 1', 'application', 1), at('a, report 2', 'region', 3)],
    });
    expect(firstHost(made)).toBe('a, report 2');
    const torn = facts({ ...made, rows: [at('a', 'region', 3), at('a', 'application', 2)] });
    expect(sentenceOf(torn, 'a')).toBe('x takes the most time: 3 s');
  });
});

describe('the icicle', () => {
  const place = (path: string[], runtime: number, overlapping = false) => ({
    ...{ host: 'n', path, count: 1, runtime, overlapping },
  });
  const made = facts({
    places: [
      place(['a'], 6),
      place(['a', 'x'], 4),
      place(['a', 'y'], 3),
      place(['b'], 2),
      place(['z'], 9, true),
    ],
  });

  it('has the time as width, what is inside within what is around it', () => {
    const pieces = piecesOf(made, 'n');
    expect(pieces.map(({ name, depth, left, width }) => [name, depth, left, width])).toEqual([
      ['all regions', 0, 0, 1],
      ['a', 1, 0, 0.75],
      // Together longer than `a`, by clocks: they fill it, and do not leave it.
      ['x', 2, 0, expect.closeTo((0.75 * 4) / 7)],
      ['y', 2, expect.closeTo((0.75 * 4) / 7), expect.closeTo((0.75 * 3) / 7)],
      ['b', 1, 0.75, 0.25],
    ]);
  });

  it('looks into a region, and has nothing of one that is not there', () => {
    expect(piecesOf(made, 'n', ['a']).map(({ name, width }) => [name, width])[0]).toEqual(['a', 1]);
    expect(piecesOf(made, 'n', ['none'])).toEqual([]);
  });

  it('inverted: each region by its own time, inside it those around it; self and total of each', () => {
    const twice = facts({
      places: [
        ...[place(['a'], 10), place(['a', 'x'], 6), place(['a', 'x', 'a'], 2)],
        ...[place(['b'], 5), place(['b', 'x'], 4)],
      ],
    });
    // a: 4 outside of x, 2 inside of it; x: 4 in a, 4 in b; b: 1.
    expect(regionTotals(twice, 'n')).toEqual([
      { name: 'x', self: 8, total: 10, count: 2 },
      { name: 'a', self: 6, total: 10, count: 2 },
      { name: 'b', self: 1, total: 5, count: 1 },
    ]);
    const told = (layout: object, zoom: string[] = []) =>
      piecesOf(twice, 'n', zoom, layout).map(({ path, time, own }) => [path.join(' '), time, own]);
    expect(told({ inverted: true })).toEqual([
      ['', 15, 0],
      ['x', 8, 0],
      ['x a', 4, 4],
      ['x b', 4, 4],
      ['a', 6, 4],
      ['a x', 2, 0],
      ['a x a', 2, 2],
      ['b', 1, 1],
    ]);
    expect(told({ inverted: true }, ['x', 'b'])).toEqual([['x b', 4, 4]]);
    const byName = told({ inverted: true, byName: true }).map(([path]) => path);
    expect(byName).toEqual(['', 'a', 'a x', 'a x a', 'b', 'x', 'x a', 'x b']);
  });
});

describe('words', () => {
  it('say which region is most uneven', () => {
    const of = (name: string, region: string, runtime: number) => ({
      ...{ host: 'n', process: 1, name, region, count: 1, runtime },
    });
    const { strips } = stripsOf(
      facts({
        processes: [
          of('rank 0', 'A', 1),
          of('rank 1', 'A', 4),
          of('rank 0', 'B', 5),
          of('rank 1', 'B', 5.5),
        ],
      }),
    );
    expect(strips.map(({ region }) => region)).toEqual(['B', 'A']);
    expect(spreadSentence('process', strips)).toBe(
      'A is the most uneven: rank 1 spends 4 s in it, rank 0 1 s',
    );
  });

  it.each([
    [7, '7 s'],
    [0.25, '250 ms'],
    [90, '1:30 min'],
    [8257, '2:17:37 h'],
  ])('%s seconds are %s', (seconds, words) => {
    expect(duration(seconds)).toBe(words);
  });
});
