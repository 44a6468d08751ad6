/** Whether two runs differ by more than chance explains: numbers worked by hand, and runs that are only chance. */
import { describe, expect, it } from 'vitest';
import { compareFindings } from '../../src/report/compare/findings.ts';
import { pairHosts } from '../../src/report/compare/hosts.ts';
import { beyondChance, gapOf, quantile, ratioOf, tail } from '../../src/report/compare/noise.ts';

describe('the distribution of Student', () => {
  it.each([
    // Printed in any table of it.
    [1, 12.706],
    [4, 2.776],
    [10, 2.228],
    [19, 2.093],
    [1e6, 1.96],
  ])('with %d degrees of freedom has a twentieth beyond ±%d', (freedom, t) => {
    expect(quantile(freedom)).toBeCloseTo(t, 3);
    expect(tail(t, freedom)).toBeCloseTo(0.05, 4);
  });

  it('has all beyond 0, and nearly nothing far out', () => {
    expect(tail(0, 5)).toBe(1);
    expect(tail(40, 30)).toBeLessThan(1e-20);
  });
});

describe('a gap', () => {
  it('is judged by Welch’s test', () => {
    // Errors 3 and 4 make 5; of equal blocks n: (9 + 16)² / (81 + 256) · (n − 1) degrees of freedom.
    const gap = gapOf({ value: 100, error: 3, blocks: 20 }, { value: 110, error: 4, blocks: 20 });
    const freedom = (625 / 337) * 19;
    expect(gap.change).toBe(10);
    expect(gap.bound).toBeCloseTo(5 * quantile(freedom), 10);
    expect(gap.chance).toBeCloseTo(tail(2, freedom), 10);
  });

  it('of numbers that do not scatter is certain, and of numbers without an error unknown', () => {
    const exact = { value: 7, error: 0, blocks: 20 };
    expect(gapOf(exact, { ...exact, value: 8 })).toEqual({ change: 1, bound: 0, chance: 0 });
    expect(gapOf(exact, exact).chance).toBe(1);
    expect(gapOf(exact, { ...exact, error: null })).toEqual({
      change: 0,
      bound: null,
      chance: null,
    });
  });
});

describe('a ratio of sums', () => {
  it('has the error that its stretches scatter by', () => {
    // 12 in 4: 3, from which the stretches are off by −2, 0, −1 and 3; the others count nothing.
    const { ratio, total, course } = ratioOf([1, null, 3, 2, 6, 0], [1, null, 1, 1, 1, 0]);
    const error = Math.sqrt((4 / 3) * 14);
    expect(ratio).toEqual({ value: 3, error: error / 4, blocks: 4 });
    expect(total).toEqual({ value: 12, error, blocks: 4 });
    expect(course).toEqual([1, null, 3, 2, 6, null]);
  });

  it('of too few stretches has none, and without a lower sum is none', () => {
    expect(ratioOf([1, 2, 3], [1, 1, 1]).ratio).toEqual({ value: 2, error: null, blocks: 3 });
    expect(ratioOf([1, 2], [0, null])).toEqual({
      ratio: null,
      total: { value: 3, error: null, blocks: 0 },
      course: [null, null],
    });
    expect(ratioOf([null], [1])).toEqual({ ratio: null, total: null, course: [null] });
  });
});

describe('many differences', () => {
  it('are named so that few of those named are chance', () => {
    // Limits for five: 0.01, 0.02, 0.03, 0.04, 0.05.
    expect(beyondChance([0.005, 0.6, 0.029, null, 0.019, 0.2])).toEqual([
      true,
      false,
      true,
      false,
      true,
      false,
    ]);
    expect(beyondChance([])).toEqual([]);
  });

  it('of runs that differ by chance alone are named about never', () => {
    let seed = 12345;
    const random = () => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return seed / 2 ** 32;
    };
    // Twenty blocks of a mean of 12 random numbers.
    const estimate = () => {
      const blocks = Array.from({ length: 20 }, () =>
        Array.from({ length: 12 }, random).reduce((sum, one) => sum + one),
      );
      const value = blocks.reduce((sum, one) => sum + one) / 20;
      const squares = blocks.reduce((sum, one) => sum + (one - value) ** 2, 0);
      return { value, error: Math.sqrt(((20 / 19) * squares) / 400), blocks: 20 };
    };
    const gaps = Array.from({ length: 1000 }, () => gapOf(estimate(), estimate()));
    const outside = gaps.filter(({ change, bound }) => Math.abs(change) > (bound ?? 0)).length;
    expect(outside).toBeGreaterThan(30);
    expect(outside).toBeLessThan(70);
    expect(beyondChance(gaps.map(({ chance }) => chance)).filter(Boolean).length).toBeLessThan(3);
  });
});

describe('hosts of two recordings', () => {
  const pairs = (a: string[], b: string[]) =>
    [...pairHosts(a, b)].map(([inB, inA]) => `${inA} ${inB}`);

  it('are those of one name, short or long; of the others each the next, where both have as many', () => {
    expect(pairs(['a', 'b.x'], ['b', 'a'])).toEqual(['a a', 'b.x b']);
    expect(pairs(['c1'], ['c2'])).toEqual(['c1 c2']);
    expect(pairs(['c1', 'c2', 'c3'], ['c3', 'c7', 'c8'])).toEqual(['c3 c3', 'c1 c7', 'c2 c8']);
    expect(pairs(['c1', 'c2'], ['c2', 'c3', 'c4'])).toEqual(['c2 c2']);
  });
});

describe('findings of two recordings', () => {
  const finding = (rule: string, severity: 'problem' | 'notice' | 'info') => ({
    ...{ rule, severity, sentence: `${rule}: ${severity}`, advice: '' },
    evidence: { sql: '', rows: [] },
  });

  it('come, go, and change their weight; how things went is none', () => {
    const changes = compareFindings(
      [finding('swap', 'notice'), finding('imbalance', 'notice'), finding('efficiency', 'info')],
      [
        finding('imbalance', 'notice'),
        finding('imbalance', 'problem'),
        finding('efficiency', 'notice'),
      ],
    );
    expect(changes.map(({ rule, what }) => [rule, what])).toEqual([
      ['efficiency', 'gained'],
      ['imbalance', 'worse'],
      ['swap', 'lost'],
    ]);
    expect(changes[1].b?.severity).toBe('problem');
  });
});
