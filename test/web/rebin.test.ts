/** Bins of a saved page for the windows that it is zoomed to: worked by hand. */
import { describe, expect, it } from 'vitest';
import { rebinned } from '../../web/src/rebin.ts';

const of = (...values: readonly number[]) => Float32Array.from(values);
const known = {
  ...{ from: 10, to: 14 },
  series: [
    {
      entity: '1',
      min: of(0, 2, NaN, 6),
      max: of(4, 6, NaN, 10),
      mean: of(1, 3, NaN, 7),
    },
  ],
};
const shown = (from: number, to: number, bins: number) => {
  const [{ entity, min, max, mean }] = rebinned(known, from, to, bins);
  expect(entity).toBe('1');
  return [min, max, mean].map((values) => [...values]);
};

describe('bins of another window', () => {
  it('are the same where they are the same', () => {
    const [{ min, max, mean }] = known.series;
    expect(shown(10, 14, 4)).toEqual([min, max, mean].map((values) => [...values]));
  });

  it('are means by the parts of the bins below, with the least and the most of them', () => {
    // 10.5 to 11.25 s: two thirds of the first bin, a third of the second.
    expect(shown(10.5, 12, 2)).toEqual([
      [0, 2],
      [6, 6],
      [expect.closeTo((2 * 1 + 3) / 3, 6), 3],
    ]);
    // What was not measured has no part in it.
    expect(shown(10, 14, 2)).toEqual([
      [0, 6],
      [6, 10],
      [2, 7],
    ]);
  });

  it('repeat a bin that is wider, and are missing where nothing was measured, or outside', () => {
    expect(shown(13, 14.5, 6)[2]).toEqual([7, 7, 7, 7, NaN, NaN]);
    expect(shown(12.1, 12.9, 2)[0]).toEqual([NaN, NaN]);
  });
});
