/** Whether runs differ by more than chance explains: numbers worked by hand, runs that are only chance, changes made on purpose. */
import { describe, expect, it } from 'vitest';
import { studentQuantile, studentTail } from '../../src/model/student.ts';
import { compareFindings } from '../../src/report/compare/findings.ts';
import { pairHosts } from '../../src/report/compare/hosts.ts';
import type { Stretches } from '../../src/report/compare/measures.ts';
import {
  beyondChance,
  detectable,
  estimateOf,
  gapOf,
  rampEnd,
  runValue,
} from '../../src/report/compare/noise.ts';

/** A number of a run of 20 s: its upper sum each second, of 1 below. */
const stretches = (counts: readonly number[], more: Partial<Stretches> = {}) => ({
  samples: {
    ...{ numbers: counts.map((_, k) => k), counts, per: counts.map(() => 1) },
    ...{ from: 0, length: 1, isTotal: false, isSampled: false, ...more },
  },
});

describe('a run', () => {
  it('has the error of its stretches, joined where they waver slowly', () => {
    // 9 and 11 in turns: √(20/19 · 20) / 20; joined by two they do not scatter at all.
    const fast = runValue(
      stretches(Array.from({ length: 20 }, (_, k) => 10 + (-1) ** k)),
      -Infinity,
    );
    expect(fast).toMatchObject({ value: 10, error: expect.closeTo(Math.sqrt(1 / 19), 12) });
    // Four 9s, four 11s, …: by four, five of −4, 4, −4, 4, −4 about their mean of 9.8.
    const slow = runValue(
      stretches(Array.from({ length: 20 }, (_, k) => 10 - (-1) ** (k >> 2))),
      -Infinity,
    );
    const squares = 3 * (4 * 0.8) ** 2 + 2 * (4 * 1.2) ** 2;
    expect(slow?.value).toBe(9.8);
    expect(slow?.error).toBeCloseTo(Math.sqrt((5 / 4) * squares) / 20, 12);
  });

  it('of a total has the error of its ratio to the work, and of a number alone none', () => {
    const counts = Array.from({ length: 20 }, (_, k) => 10 + (-1) ** k);
    const total = runValue(stretches(counts, { isTotal: true }), 5);
    // Of 20 s; the error by the 15 after the ramp.
    expect(total?.value).toBe(200);
    expect(runValue({ samples: 7 }, 5)).toEqual({ value: 7, error: null });
    expect(runValue(stretches([1, 2, 3]), -Infinity)).toMatchObject({ value: 2, error: null });
    const drawn = stretches(counts, { isSampled: true });
    expect(runValue(drawn, -Infinity)).toMatchObject({ value: 10, error: null });
    expect(runValue(stretches([Number.NaN, Number.NaN]), -Infinity)).toBeNull();
  });

  it('has a ramp that is left out, of half a run at most', () => {
    const rising = [1, 4, 8, ...Array.from({ length: 17 }, (_, k) => 10 + (-1) ** k / 10)];
    expect(rampEnd(stretches(rising))).toBe(3);
    expect(runValue(stretches(rising), 3)?.value).toBeCloseTo(10, 1);
    expect(rampEnd(stretches(rising.map(() => 10)))).toBe(-Infinity);
    expect(rampEnd(stretches(rising.map((_, k) => k)))).toBeLessThanOrEqual(10);
    expect(rampEnd(stretches([1, 9, 9]))).toBe(-Infinity);
  });
});

const run = (value: number, error: number | null) => ({ value, error });

describe('a side', () => {
  it('of one run has twice the error of its stretches', () => {
    expect(estimateOf([run(100, 3)])).toEqual({ value: 100, error: 6, freedom: 10 });
    expect(estimateOf([run(100, null)])).toMatchObject({ value: 100, error: null });
  });

  it('of several has their median, and their own scatter where that is more', () => {
    // Variance 100 of three runs; their stretches say 4 · 1.
    expect(estimateOf([run(90, 1), run(100, 1), run(110, 1)])).toEqual({
      value: 100,
      error: expect.closeTo(Math.sqrt((100 / 3) * (Math.PI / 2)), 12),
      // 2 + 10 · (4 / 100)²
      freedom: expect.closeTo(2.016, 12),
    });
    // Alike by luck: (2 · 1 + 10 · 36) / 12.
    expect(estimateOf([run(99, 3), run(100, 3), run(101, 3)])).toEqual({
      value: 100,
      error: expect.closeTo(Math.sqrt((362 / 12 / 3) * (Math.PI / 2)), 12),
      freedom: 12,
    });
    // Reports have no samples: their repetitions tell all there is.
    expect(estimateOf([run(1, null), run(3, null)])).toMatchObject({
      value: 2,
      error: 1,
      freedom: 1,
    });
  });
});

describe('a gap', () => {
  it('is judged by Welch’s test', () => {
    // Errors 3 and 4 make 5; of equal freedoms n: (9 + 16)² / (81 + 256) · n degrees of freedom.
    const gap = gapOf({ value: 100, error: 3, freedom: 19 }, { value: 110, error: 4, freedom: 19 });
    const freedom = (625 / 337) * 19;
    expect(gap.change).toBe(10);
    expect(gap.bound).toBeCloseTo(5 * studentQuantile(freedom, 0.05), 10);
    expect(gap.chance).toBeCloseTo(studentTail(2, freedom), 10);
    expect(detectable(gap, 0.01)).toBeCloseTo(
      5 * (studentQuantile(freedom, 0.01) + studentQuantile(freedom, 0.1)),
      10,
    );
  });

  it('of numbers that do not scatter is certain, and of numbers without an error unknown', () => {
    const exact = { value: 7, error: 0, freedom: 19 };
    expect(gapOf(exact, { ...exact, value: 8 })).toMatchObject({ change: 1, bound: 0, chance: 0 });
    expect(gapOf(exact, exact).chance).toBe(1);
    const unknown = gapOf(exact, { ...exact, error: null });
    expect(unknown).toMatchObject({ change: 0, bound: null, chance: null });
    expect(detectable(unknown, 0.01)).toBeNull();
  });
});

it('many differences are named so that few of those named are chance', () => {
  // Limits for five: 0.002, 0.004, 0.006, 0.008, 0.01.
  const { beyond, level } = beyondChance([0.001, 0.6, 0.0059, null, 0.0039, 0.2]);
  expect(beyond).toEqual([true, false, true, false, true, false]);
  expect(level).toBeCloseTo(0.008, 12);
  expect(beyondChance([]).beyond).toEqual([]);
});

/** Numbers of a run, made from a seed: stretches that are alike to their neighbours, runs that differ, a ramp. */
class MadeRuns {
  private seed = 12345;

  private random(): number {
    this.seed = (Math.imul(this.seed, 1103515245) + 12345) >>> 0;
    return this.seed / 2 ** 32;
  }

  /** Normal, about. */
  private normal(): number {
    let all = -6;
    for (let k = 0; k < 12; k++) all += this.random();
    return all;
  }

  /** @param mean of what is per stretch @param scatter of a stretch, as a share; runs differ by as much as 20 of them leave */
  number(mean: number, scatter: number) {
    const between = 1 + (1.5 * scatter * this.normal()) / Math.sqrt(20);
    let waver = this.normal();
    const counts = Array.from({ length: 20 }, (_, k) => {
      waver = 0.4 * waver + Math.sqrt(1 - 0.4 ** 2) * this.normal();
      return mean * between * (1 + scatter * waver) * (k < 2 ? (k + 1) / 4 : 1);
    });
    const one = runValue(stretches(counts), rampEnd(stretches(counts)));
    if (one === null) throw new Error('no value');
    return one;
  }

  side(runs: number, mean: number, scatter: number) {
    return estimateOf(Array.from({ length: runs }, () => this.number(mean, scatter)));
  }
}

describe.each([1, 3, 5])('%d runs a side', (runs) => {
  const scatters = Array.from({ length: 40 }, (_, k) => 0.02 + 0.01 * k);

  it('of one setting: of 1,000 values one at most is called changed', () => {
    const made = new MadeRuns();
    let called = 0;
    for (let table = 0; table < 25; table++) {
      const gaps = scatters.map((scatter) =>
        gapOf(made.side(runs, 100, scatter), made.side(runs, 100, scatter)),
      );
      called += beyondChance(gaps.map(({ chance }) => chance)).beyond.filter(Boolean).length;
    }
    expect(called).toBeLessThanOrEqual(1);
  });

  it('of 20 changes, each 20 % beyond the noise of its number, 18 at least are called, of single runs 16', () => {
    const made = new MadeRuns();
    const gaps = Array.from({ length: 20 }, (_, k) => {
      const scatter = 0.02 + 0.01 * k;
      // Noise: by how much one pair in a thousand of runs of the setting differs.
      const noise = 3.29 * Math.SQRT2 * 1.8 * (scatter / Math.sqrt(20));
      const change = 1 + (-1) ** k * (0.2 + noise);
      return gapOf(made.side(runs, 100, scatter), made.side(runs, 100 * change, scatter));
    });
    const { beyond } = beyondChance(gaps.map(({ chance }) => chance));
    const called = beyond.filter(Boolean).length;
    expect(called).toBeGreaterThanOrEqual(runs === 1 ? 16 : 18);
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
      [[finding('swap', 'notice'), finding('imbalance', 'notice'), finding('efficiency', 'info')]],
      [
        [finding('imbalance', 'notice'), finding('efficiency', 'notice')],
        [
          finding('imbalance', 'problem'),
          finding('efficiency', 'notice'),
          finding('swap', 'notice'),
        ],
        // What one run of three has is not told.
        [finding('imbalance', 'notice'), finding('efficiency', 'notice')],
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
