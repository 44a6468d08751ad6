/** What the page works with, without a browser: the state in the address, time axes, scales, CSV. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frameSvg } from '../../web/src/animation/frame.ts';
import { axisFor, REAL } from '../../web/src/axis.ts';
import { whenSpent } from '../../web/src/overview/when-spent.ts';
import { linesCsv, topOf, tops } from '../../web/src/parts/lines.ts';
import { palette, scaleOf, stepOf } from '../../web/src/parts/palettes.ts';
import { reaching } from '../../web/src/parts/reaching.ts';
import { roundValues } from '../../web/src/parts/round.ts';
import { sortRows, tableCsv } from '../../web/src/parts/table.ts';
import { statisticsOf } from '../../web/src/select/statistics.ts';
import { rowsShown } from '../../web/src/sim/row-filter.ts';
import { AXES, read, START, THEMES, write } from '../../web/src/state.ts';

const text = fc.string({ maxLength: 20, unit: 'grapheme' });
const second = fc.double({ min: -1e6, max: 1e6, noNaN: true });

describe('the state in the address', () => {
  it('comes back as it was written', () => {
    const state = fc
      .record({
        view: fc.stringMatching(/^[a-z]{1,10}$/),
        axis: fc.constantFrom(...AXES),
        window: fc.option(fc.tuple(second, fc.double({ min: 1e-3, max: 1e5, noNaN: true }))),
        pe: fc.option(fc.nat()),
        metric: text,
        path: text,
        sort: text,
        recording: text,
        compare: text,
        theme: fc.constantFrom(...THEMES),
        more: fc.dictionary(
          fc.stringMatching(/^[a-z]{1,5}\.[a-z]{1,5}$/),
          fc.string({ minLength: 1, maxLength: 9 }),
        ),
      })
      .map(({ window, more, ...rest }) => ({
        ...rest,
        more: { ...more },
        from: window === null ? null : Number(window[0].toPrecision(12)),
        to: window === null ? null : Number((window[0] + window[1]).toPrecision(12)),
      }));
    fc.assert(
      fc.property(state, (one) => {
        expect(read(`#${write(one)}`)).toEqual(one);
      }),
    );
  });

  it('is empty where all is as at first', () => {
    expect(write(START)).toBe('');
    expect(read('')).toEqual(START);
  });

  it('ignores what makes no sense', () => {
    expect(read('#axis=sideways&theme=pink&from=3&to=2&pe=-1&nonsense=1')).toEqual(START);
    expect(read('#from=&to=1').from).toBeNull();
  });
});

describe('a time axis', () => {
  const clock = { real: [1, 2, 4], virtual: [0, 10, 10], gvt: [1, 2, 3] };

  it('places moments between samples, and beyond them', () => {
    const virtual = axisFor('virtual', clock);
    expect(virtual.of(1.5)).toBeCloseTo(5, 6);
    expect(virtual.seconds(5)).toBeCloseTo(1.5, 6);
    const gvt = axisFor('gvt', clock);
    expect(gvt.of(3)).toBeCloseTo(2.5, 6);
    // As between the last two: half a GVT a second.
    expect(gvt.of(6)).toBeCloseTo(4, 6);
  });

  it('goes both ways, wherever GVT stood still', () => {
    const rising = fc.array(fc.double({ min: 0, max: 10, noNaN: true }), {
      minLength: 2,
      maxLength: 20,
    });
    fc.assert(
      fc.property(rising, rising, fc.double({ min: 0, max: 1, noNaN: true }), (a, b, share) => {
        const sum = (values: number[], apart: number) => {
          let total = 0;
          return values.map((value) => {
            total += value + apart;
            return total;
          });
        };
        const count = Math.min(a.length, b.length);
        const real = sum(a.slice(0, count), 0.01);
        const virtual = sum(b.slice(0, count), 0);
        const axis = axisFor('virtual', { real, virtual, gvt: virtual });
        const seconds = real[0] + share * (real[count - 1] - real[0]);
        const there = axis.of(seconds);
        // The same place on the axis, if not the same moment where the axis stands still.
        expect(axis.of(axis.seconds(there))).toBeCloseTo(there, 5);
      }),
    );
  });

  it('is real time where no clock is known', () => {
    expect(axisFor('gvt', null)).toBe(REAL);
    expect(axisFor('virtual', { real: [1], virtual: [1], gvt: [1] })).toBe(REAL);
  });
});

describe('times', () => {
  it.each([
    [0.25, 0.01, '0.25 s'],
    [59, 1, '59 s'],
    [90, 10, '1:30 min'],
    [4000.25, 0.05, '1:06:40.25 h'],
    [8340, 600, '2:19:00 h'],
    [-75, 5, '−1:15 min'],
  ])('%s s is written %s', (value, step, text) => {
    expect(REAL.text(value, step)).toBe(text);
  });

  it('of day are in UTC, with the date a day later', () => {
    const zero = Date.UTC(2026, 10, 21, 23, 58, 30) / 1000;
    const wall = axisFor('wall', null, zero);
    expect(wall.text(wall.of(0), 1)).toBe('23:58:30');
    expect(wall.text(wall.of(89.5), 0.1)).toBe('23:59:59.5');
    expect(wall.text(wall.of(90), 1)).toBe('11-22 00:00:00');
    expect(wall.seconds(wall.of(12.5))).toBe(12.5);
    expect(axisFor('wall', null, 0)).toBe(REAL);
  });
});

describe('time that is counted when it ends', () => {
  it('was spent before: no bin has more than fits into it, and nothing is lost but before the first', () => {
    const spent = (...counted: number[]) => [...whenSpent(Float64Array.from(counted), 100)];
    expect(spent(10, 0, 250, 20)).toEqual([60, 100, 100, 20]);
    expect(spent(0, 80, 150)).toEqual([30, 100, 100]);
    expect(spent(150, 0)).toEqual([100, 0]);
    // Where nothing was measured, nothing is known of the time before.
    expect(spent(5, Number.NaN, 130)).toEqual([5, Number.NaN, 100]);
  });
});

describe('a scale', () => {
  const chart = { id: 'a', title: 'a', help: '', unit: 'B' };
  const flat = Array.from({ length: 400 }, (_, k) => 10 + (k % 3));
  it('is not flattened by one spike, unless all of it is asked for', () => {
    const values = flat.with(200, 5000);
    expect(topOf(chart, [values])).toBeCloseTo(12 * 1.08);
    // A value that is missing is none, also where the scale is as high as the highest.
    expect(topOf(chart, [[3, Number.NaN, 5, null]], true)).toBeCloseTo(5 * 1.08);
    expect(topOf({ ...chart, stacked: true }, [[Number.NaN, 2]])).toBeCloseTo(2 * 1.08);
    expect(topOf(chart, [values], true)).toBeCloseTo(5000 * 1.08);
    expect(topOf(chart, [flat.map((value, k) => (k < 80 ? 100 * value : value))])).toBeGreaterThan(
      1000,
    );
  });
});

describe('a selection', () => {
  const bins = (entity: string, mean: number[]) => {
    const values = Float32Array.from(mean);
    return { entity, mean: values, min: values, max: values };
  };
  it('counts what was measured, and shares it out', () => {
    const nan = Number.NaN;
    const series = [bins('0', [10, 30, nan, 20]), bins('1', [20, 20, 20, 0])];
    const [a, b] = statisticsOf(series, 0, 2, true);
    // Three of four half seconds at 20 a second on average, and four at 15.
    expect([a.mean, a.total, a.least, a.most, a.median]).toEqual([20, 30, 10, 30, 20]);
    expect([b.total, a.share, b.share]).toEqual([30, 0.5, 0.5]);
    expect(statisticsOf(series, 0, 2, false)[0].total).toBeNull();
  });
});

describe('rows', () => {
  const labels = ['KP 0/1', 'KP 0/12', 'KP 1/2', 'KP 1/12'];
  it.each([
    ['', [0, 1, 2, 3]],
    ['12', [1, 3]],
    ['kp 1', [2, 3]],
    ['-12', [0, 2]],
    ['^2, kp 0', [2, 0, 1]],
    ['nothing', [0, 1, 2, 3]],
  ])('by %j are %j', (text, shown) => {
    expect(rowsShown(labels, text)).toEqual(shown);
  });
});

describe('scales of colour', () => {
  it('are even about 0 for signed change', () => {
    const scale = scaleOf([[-1, 4, Number.NaN]], 'diverging');
    expect([scale.least, scale.most]).toEqual([-4, 4]);
    expect(stepOf(0, scale)).toBe(128);
    expect(stepOf(Number.NaN, scale)).toBe(-1);
  });

  it('give equal steps to equal ratios where they are logarithmic', () => {
    const scale = scaleOf([[1, 10, 100, 0]], 'viridis', true);
    expect([1, 10, 100, 0].map((value) => stepOf(value, scale))).toEqual([0, 128, 255, 0]);
  });

  it('go from matplotlib’s first colour to its last', () => {
    expect([...palette('viridis').slice(0, 3)]).toEqual([0x44, 0x01, 0x54]);
    expect([...palette('viridis').slice(-3)]).toEqual([0xfd, 0xe7, 0x25]);
  });
});

describe('files', () => {
  it('of lines have a row per bin, empty where nothing was measured', () => {
    const lines = [
      { label: 'PE 0', values: [1, Number.NaN] },
      { label: 'a,"b"', values: [0.5, 2] },
    ];
    expect(linesCsv(lines, 0, 1)).toBe(
      'from (s),to (s),PE 0,"a,""b"""\r\n0,0.5,1,0.5\r\n0.5,1,,2\r\n',
    );
  });

  it('of tables say what is suspect', () => {
    const columns = [{ key: 'a', title: 'A', unit: 's' }];
    const rows = [
      { id: '1', cells: { a: 2.5 } },
      { id: '2', cells: { a: null }, suspect: 'torn' },
    ];
    expect(tableCsv({ columns, rows })).toBe('A (s),suspect\r\n2.5,\r\n,torn\r\n');
  });

  it('stack what is there', () => {
    const nan = Number.NaN;
    expect(
      tops([
        { label: 'a', values: [1, nan, nan] },
        { label: 'b', values: [2, 3, nan] },
      ]),
    ).toEqual([
      [1, nan, nan],
      [3, 3, nan],
    ]);
  });
});

describe('a table', () => {
  it('puts what is missing last, whichever way it is sorted', () => {
    const rows = [3, null, 1].map((a, k) => ({ id: String(k), cells: { a } }));
    expect(sortRows(rows, 'a', false).map(({ id }) => id)).toEqual(['2', '0', '1']);
    expect(sortRows(rows, 'a', true).map(({ id }) => id)).toEqual(['0', '2', '1']);
  });
});

describe('while a window’s own answer is on its way', () => {
  const newest = { from: 2, to: 4 };
  const whole = { from: 0, to: 10 };

  it('the newest is drawn where it reaches over the window, else that of the whole run', () => {
    expect(reaching([2.5, 3], newest, whole)).toBe(newest);
    expect(reaching([3, 5], newest, whole)).toBe(whole);
    expect(reaching([3, 11], newest, whole)).toBe(newest);
    expect(reaching([3, 5], newest, null)).toBe(newest);
    expect(reaching(null, null, whole)).toBeNull();
  });
});

describe('a frame of the animation as SVG', () => {
  it('has a mark without a colour for an LP that was not recorded', () => {
    const places = { x: Float64Array.of(5, 9), y: Float64Array.of(5, 5), radius: 2, height: 10 };
    const values = Float32Array.of(Number.NaN, 1);
    const frame = { places, links: [], values, scale: scaleOf([[0, 1]]), chosen: -1 };
    expect(frameSvg(frame).split('\n')).toEqual([
      '<rect x="3" y="3" width="4" height="4" fill="none" stroke="#999"/>',
      '<rect x="7" y="3" width="4" height="4" fill="#fde725"/>',
    ]);
  });
});

describe('values named on an axis', () => {
  it('are round, and few', () => {
    expect(roundValues(0, 44_200)).toEqual([0, 10_000, 20_000, 30_000, 40_000]);
    expect(roundValues(-0.25, 0.31)).toEqual([-0.2, -0.1, 0, 0.1, 0.2, 0.3]);
    expect(roundValues(1, 3)).toEqual([1, 1.5, 2, 2.5, 3]);
  });
});
