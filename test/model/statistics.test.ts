/** Medians, and Student's distribution against printed tables of it. */
import { describe, expect, it } from 'vitest';
import { median, sum } from '../../src/model/numbers.ts';
import { studentQuantile, studentTail } from '../../src/model/student.ts';

describe('lists of numbers', () => {
  it('have a sum and a median, whatever their order', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5]);
    expect([sum([3, 1, 2]), sum([])]).toEqual([6, 0]);
    expect(median([])).toBeNaN();
  });
});

describe('the distribution of Student', () => {
  it.each([
    [1, 12.706204736, 0.05],
    [2, 4.30265272991, 0.05],
    [4, 2.7764451052, 0.05],
    [5, 4.03214298356, 0.01],
    [9, 2.2621571628, 0.05],
    [10, 3.16927267261, 0.01],
    [19, 1.72913281153, 0.1],
    [30, 2.0422724563, 0.05],
    [1000, 1.96233908082, 0.05],
  ])('with %d degrees of freedom has beyond ±%d a share of %d', (freedom, t, share) => {
    expect(studentQuantile(freedom, share)).toBeCloseTo(t, 8);
    expect(studentTail(t, freedom)).toBeCloseTo(share, 9);
  });

  it('is nearly normal with many', () => {
    expect(studentQuantile(1e6, 0.05)).toBeCloseTo(1.95996635, 7);
  });

  it('has all beyond 0, and nearly nothing far out', () => {
    expect(studentTail(0, 5)).toBe(1);
    expect(studentTail(40, 30)).toBeLessThan(1e-20);
  });
});
