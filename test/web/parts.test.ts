/** What the page works with, without a browser: the state in the address, time axes, scales, CSV. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frameSvg } from '../../web/src/animation/frame.ts';
import { axisFor, REAL } from '../../web/src/axis.ts';
import { flagPlaces, flagWindow } from '../../web/src/flags.ts';
import { findingFlags, highStretch, jumpTo } from '../../web/src/overview/evidence.ts';
import { processNames } from '../../web/src/overview/process-names.ts';
import { labelOf, worthALine } from '../../web/src/overview/threads.ts';
import { whenSpent } from '../../web/src/overview/when-spent.ts';
import { linesCsv, topOf, tops } from '../../web/src/parts/lines.ts';
import { palette, scaleOf, stepOf } from '../../web/src/parts/palettes.ts';
import { reaching } from '../../web/src/parts/reaching.ts';
import { roundValues } from '../../web/src/parts/round.ts';
import { sortRows, tableCsv } from '../../web/src/parts/table.ts';
import { statisticsOf } from '../../web/src/select/statistics.ts';
import { rowsShown } from '../../web/src/sim/row-filter.ts';
import type { PageSource } from '../../web/src/source.ts';
import { AXES, read, START, THEMES, write } from '../../web/src/state.ts';
import { arranged, moved, toggled } from '../../web/src/timeline/arrange.ts';
import { packed, rollbackSlices, roundSlices, shareSlices } from '../../web/src/timeline/slices.ts';
import { ticksOf } from '../../web/src/timeline/ticks.ts';

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

describe('flags', () => {
  const flag = (from: number, to: number | null, text: string) => ({
    ...{ kind: 'note' as const, from, to, text },
  });

  it('stand where they are seen; those at one place are one', () => {
    const all = [flag(-20, -10, 'before'), flag(-5, 50, 'a'), flag(10, null, 'b')];
    const near = [
      { ...flag(10.4, 12, 'c'), kind: 'mark' as const },
      flag(30, null, 'd'),
      flag(101, null, 'after'),
    ];
    expect(flagPlaces([...all, ...near], (s) => s / 100, 0.01)).toEqual([
      { kind: 'note', at: -0.05, end: 0.5, text: 'a' },
      { kind: 'note', at: 0.1, end: 0.12, text: 'b\nc' },
      { kind: 'note', at: 0.3, end: 0.3, text: 'd' },
    ]);
  });

  it('are shown with what is around them, within the run', () => {
    expect(flagWindow(flag(2, null, ''), [0, 100])).toEqual([0, 7]);
    expect(flagWindow(flag(50, 60, ''), [0, 100])).toEqual([45, 65]);
  });
});

describe('a finding', () => {
  const finding = (rule: string, row: Record<string, number>) => ({
    rule,
    severity: 'notice' as const,
    sentence: '',
    advice: '',
    evidence: { sql: '', rows: [row] },
  });

  it('leads to its view, entity and time', () => {
    const views = ['overview', 'simulation'];
    const jump = jumpTo(finding('efficiency', { pe_id: 3, t0: 1, t: 2 }), [0, 10], views);
    expect(jump?.change).toMatchObject({ view: 'simulation', pe: 3, from: 1, to: 2 });
    expect(jump?.seen).toEqual(['figure-heat']);
    const moment = jumpTo(finding('rollback-chains', { t: 5 }), [0, 10], views);
    expect(moment?.change).toMatchObject({ from: 4.5, to: 5.5 });
    expect(jumpTo(finding('memory-bound', { value: 1 }), [0, 10], views)).toBeNull();
  });

  it('is a flag where its evidence names a time, and not most of the run', () => {
    const rows: readonly Record<string, number>[] = [
      { t0: 1, t: 2 },
      { t: 5 },
      { t0: 0, t: 9 },
      { t: 11 },
      { value: 1 },
    ];
    const flags = findingFlags(
      rows.map((row) => finding('pause', row)),
      [0, 10],
    );
    expect(flags.map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ['finding', 1, 2],
      ['finding', 5, null],
    ]);
  });

  it('of a whole run leads to the stretch in which it was worst', () => {
    const views = ['overview', 'simulation'];
    const jump = jumpTo(finding('rollback-culprits', { pe_id: 1, undone: 9 }), [0, 10], views);
    expect(jump?.change).toMatchObject({ view: 'simulation', pe: 1 });
    expect(jump?.peak).toEqual({ table: 'ross_pe', key: 'events_rolled_back', of: '1' });
    const values = [1, 2, Number.NaN, 1, 6, 4, 9, 5, 1, 1];
    expect(highStretch(values, [0, 10])).toEqual([3.5, 8.5]);
    expect(highStretch([5, 5, 6, 5, 5], [0, 10])).toBeNull();
    expect(highStretch([0, Number.NaN, 0], [0, 10])).toBeNull();
  });
});

describe('threads of a recorded command', () => {
  it('are drawn if they ran, or if all of many hardly did', () => {
    const of = (...shares: number[]) => shares.map((share) => ({ share }));
    const little = Array(9).fill(0.2);
    expect(worthALine(of(...little, 60, 5))).toEqual(of(60, 5));
    expect(worthALine(of(...little))).toHaveLength(8);
    expect(worthALine(of(0, 90))).toEqual(of(90, 0));
  });

  const place = { pe: 3, rank: 3, host: 'h1', cpu: null, threadId: 9 };
  const host = { platform: 'linux', arch: 'x64', cpus: 2, cpuModel: '', memory: 0 };
  const facts = (...names: readonly string[]) => ({
    facts: {
      ...{ title: '', command: '', state: 'finished' as const, zero: '0', notes: [] },
      ...{ hosts: names.map((name) => ({ ...host, name })), pes: [place] },
    },
  });

  it('are called by PE, rank, name and host, as far as these are known', () => {
    const names = new Map([
      ['h1/7', { name: 'solver', rank: 1 }],
      ['h1/8', { name: 'mpirun', rank: null }],
    ]);
    const labels = (...hosts: readonly string[]) =>
      ['h1/9/9', 'h1/7/7', 'h1/7/71', 'h1/8/8', 'h1/6/6', 'h1/6/61'].map((entity) =>
        labelOf(entity, facts(...hosts), names),
      );
    expect(labels('h1')).toEqual([
      'PE 3',
      'rank 1, solver',
      'thread 71 of rank 1, solver',
      'mpirun 8',
      'process 6',
      'thread 61 of process 6',
    ]);
    expect(labels('h1', 'h2')[1]).toBe('rank 1, solver on h1');
  });

  it('have names that are asked for once, again for new processes, and not where nobody answers', async () => {
    const answers = [[['h1/7', 'solver', 1]], [['h1/8', 'other', null]]];
    let asked = 0;
    const query = async () => ({ columns: [], rows: answers[asked++] ?? [], more: false });
    const source = { query } as unknown as PageSource;
    expect([...(await processNames(source, ['h1/7']))]).toEqual([
      ['h1/7', { name: 'solver', rank: 1 }],
    ]);
    await processNames(source, ['h1/7']);
    expect(asked).toBe(1);
    expect((await processNames(source, ['h1/8'])).get('h1/8')?.rank).toBeNull();
    await processNames(source, ['h1/8', 'h1/7']);
    expect(asked).toBe(2);
    const saved = { query: () => Promise.reject(new Error()) } as unknown as PageSource;
    expect((await processNames(saved, ['h1/7'])).size).toBe(0);
  });
});

describe('the timeline', () => {
  const span = { from: 0, to: 4 };
  const nan = Number.NaN;

  it('shows of each stretch what took most of it, and joins bins of one sample', () => {
    const parts = [
      { label: 'handlers', shade: 0, values: [60, 60, 10, nan] },
      { label: 'queue', shade: 1, values: [20, 20, 30, nan] },
    ];
    expect(
      shareSlices(parts, 'waiting', span).map(({ from, to, name, share, text }) => [
        ...[from, to, name, share, text],
      ]),
    ).toEqual([
      [0, 2, 'handlers', 0.6, 'handlers 60 %, queue 20 %, waiting 20 %'],
      [2, 3, 'waiting', 0.6, 'waiting 60 %, queue 30 %, handlers 10 %'],
    ]);
  });

  it('numbers GVT computations, and counts those between two samples', () => {
    const rounds = roundSlices([1, 1, 2, 9], [1, 2, 2, 9], true, span);
    expect(rounds.map(({ from, to, name, text }) => [from, to, name, text])).toEqual([
      [0, 1, 'GVT 1', ''],
      [1, 3, 'GVT 2', ''],
      [3, 4, 'GVT 3 to 9', '7 GVT computations'],
    ]);
  });

  it('joins rollbacks of a pixel, and puts what overlaps into rows of its own', () => {
    const rollback = (t: number, undone: number) => ({
      ...{ pe: 0, kp: 3, id: 1, cause: 'straggler' as const, t, sourcePe: 1, sourceLp: 7, undone },
      depth: 2,
    });
    const [one, two] = rollbackSlices(
      [rollback(0.5, 10), rollback(3.1, 30), rollback(3.2, 60)],
      4,
      span,
    );
    expect([one.name, one.share, one.text]).toEqual([
      ...['rollback', 1 / 3],
      'KP 3: 10 events undone, 2.0 of virtual time back, by a straggler from LP 7 (PE 1)',
    ]);
    expect([two.name, two.from, two.text]).toEqual(['2 rollbacks', 3.1, '90 events undone']);
    const job = (from: number, to: number) => ({ from, to, hash: 0, share: 1, name: '', text: '' });
    const rows = packed([job(0, 3), job(1, 2), job(2, 4)], 2);
    expect(rows.map((row) => row.map(({ from }) => from))).toEqual([[0], [1, 2]]);
  });

  it('pins, hides, moves and filters rows', () => {
    const rows = ['PE 0', 'PE 1', 'GVT', 'main'].map((name) => ({ id: name, name }));
    const none = { pinned: '', hidden: '', order: '', filter: '' };
    const names = (change: Partial<typeof none>) =>
      arranged(rows, { ...none, ...change }).shown.map(({ name }) => name);
    expect(names({ pinned: toggled('', 'main') })).toEqual(['main', 'PE 0', 'PE 1', 'GVT']);
    expect(names({ hidden: 'PE 1,GVT' })).toEqual(['PE 0', 'main']);
    expect(names({ order: moved(rows, 'GVT', 0) })).toEqual(['GVT', 'PE 0', 'PE 1', 'main']);
    expect(names({ filter: 'pe', pinned: 'GVT' })).toEqual(['GVT', 'PE 0', 'PE 1']);
    expect(toggled('PE 1,GVT', 'PE 1')).toBe('GVT');
  });

  it('has round times, none cut off', () => {
    const texts = ticksOf(REAL, [0, 8340], 400).map(({ text }) => text);
    expect(texts).toEqual(['0 s', '30:00 min', '1:00:00 h', '1:30:00 h']);
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
