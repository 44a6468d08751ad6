/** What the timeline works with, without a browser: slices and rows. */
import { describe, expect, it } from 'vitest';
import { REAL } from '../../web/src/axis.ts';
import { arranged, moved, toggled } from '../../web/src/timeline/arrange.ts';
import { packed, rollbackSlices, roundSlices, shareSlices } from '../../web/src/timeline/slices.ts';
import { ticksOf } from '../../web/src/timeline/ticks.ts';

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
