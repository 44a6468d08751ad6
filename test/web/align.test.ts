/** Moments of two runs that belong together, and B's samples on A's axis. */
import { describe, expect, it } from 'vitest';
import { aligned, matchesOf, type Timing, wanted } from '../../web/src/compare/align.ts';

/** A reaches virtual time 10 in 10 s; B in 20 s, the second half of it in 15. */
const A: Timing = {
  extent: [0, 10],
  clock: { real: [0, 5, 10], virtual: [0, 5, 10], gvt: [0, 1, 2] },
  regions: null,
};
const B: Timing = {
  extent: [1, 21],
  clock: { real: [1, 6, 21], virtual: [0, 5, 10], gvt: [0, 2, 4] },
  regions: { real: [1, 2], virtual: [1, 2], gvt: [1, 2] },
};

describe('how moments of two runs are matched', () => {
  it('offers what both recorded', () => {
    expect(matchesOf(A, B)).toEqual(['share', 'seconds', 'virtual', 'gvt']);
    expect(matchesOf({ ...A, clock: null }, B)).toEqual(['share', 'seconds']);
    expect(matchesOf({ ...A, regions: B.regions }, B)).toContain('regions');
  });

  it('goes by real time, the share, virtual time, the index of GVT, or regions entered', () => {
    const at = (match: Parameters<typeof aligned>[0], seconds: number) =>
      aligned(match, { ...A, regions: A.clock }, B)(seconds);
    expect(at('seconds', 5)).toBe(6);
    expect(at('share', 5)).toBe(11);
    expect(at('virtual', 5)).toBeCloseTo(6, 6);
    expect(at('virtual', 7.5)).toBeCloseTo(13.5, 6);
    // A's first GVT after 5 s; B's first in the middle of its first 5 s.
    expect(at('gvt', 5)).toBeCloseTo(3.5, 6);
    expect(at('regions', 1.5)).toBeCloseTo(1.5, 6);
  });

  it('places means of B on bins of A, with what lies in each', () => {
    const toB = aligned('virtual', A, B);
    const { from, to, count, place } = wanted('virtual', toB, [0, 10], 10);
    expect([from, to, count]).toEqual([expect.closeTo(1, 6), expect.closeTo(21, 6), 40]);
    // B's value is the second at the middle of each of its bins.
    const mean = Float32Array.from(
      { length: count },
      (_, k) => from + ((k + 0.5) * (to - from)) / count,
    );
    const placed = [...place({ mean })];
    const middles = Array.from({ length: 10 }, (_, k) => toB(k + 0.5));
    for (const [k, value] of placed.entries()) expect(value).toBeCloseTo(middles[k], 4);
    const gap = Float32Array.from(mean, (value, k) => (k < 10 ? Number.NaN : value));
    expect([...place({ mean: gap })].map(Number.isNaN)).toEqual(
      Array.from({ length: 10 }, (_, k) => k < 5),
    );
  });
});
