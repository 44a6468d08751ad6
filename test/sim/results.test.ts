/** What models report: sums that do not depend on where LPs are, and where two runs' reports differ. */
import '../support/small-machine.ts';
import { describe, expect, it } from 'vitest';
import { addTo, rounded } from '../../src/sim/exact-sum.ts';
import type { OutputLine } from '../../src/sim/pe.ts';
import { outputDifference, resultsDifference } from '../../src/sim/report-difference.ts';
import { mergeResults, ResultsCollector } from '../../src/sim/results.ts';
import { Dice } from '../../src/sim/transport/chaos.ts';

const sumOf = (terms: readonly number[]) => {
  const sum: number[] = [];
  for (const term of terms) addTo(sum, term);
  return rounded(sum);
};

/** The nearest double of a sum of doubles, by whole numbers: in units of 2^-1074. */
function reference(terms: readonly number[]): number {
  let units = 0n;
  const word = new DataView(new ArrayBuffer(8));
  for (const term of terms) {
    word.setFloat64(0, term);
    const bits = word.getBigUint64(0);
    const exponent = (bits >> 52n) & 0x7ffn;
    const fraction = bits & 0xfffffffffffffn;
    const size = exponent === 0n ? fraction : (fraction | 0x10000000000000n) << (exponent - 1n);
    units += bits >> 63n === 1n ? -size : size;
  }
  const size = units < 0n ? -units : units;
  const extra = BigInt(Math.max(0, size.toString(2).length - 53));
  const half = extra === 0n ? 0n : 1n << (extra - 1n);
  const down = size >> extra;
  const rest = size - (down << extra);
  const up = extra > 0n && (rest > half || (rest === half && (down & 1n) === 1n));
  const value = Number(down + (up ? 1n : 0n)) * 2 ** (Number(extra) - 537) * 2 ** -537;
  return units < 0n ? -value : value;
}

const integer = (dice: Dice, from: number, to: number) =>
  from + Math.floor(dice.uniform() * (to + 1 - from));

describe('sums', () => {
  it('are the nearest double, whatever the order', () => {
    const dice = new Dice(7, 1);
    for (let k = 0; k < 300; k++) {
      const terms = Array.from(
        { length: 1 + integer(dice, 0, 12) },
        () =>
          (dice.chance(0.5) ? -1 : 1) *
          (1 + integer(dice, 0, 2 ** 30)) *
          2 ** integer(dice, -80, 60),
      );
      const expected = reference(terms);
      expect(sumOf(terms)).toBe(expected);
      expect(sumOf(terms.toReversed())).toBe(expected);
    }
  });

  it.each([
    [[0.1, 0.2, 0.3, -0.3, -0.2, -0.1], 0],
    [[1e308, 1, -1e308], 1],
    [[1, 2 ** -53, 2 ** -80], 1 + 2 ** -52],
    [[1, 2 ** -53], 1],
    [[Infinity, 1], Infinity],
    [[1e308, 1e308], Infinity],
    [[], 0],
  ])('%j', (terms, sum) => expect(sumOf(terms)).toBe(sum));

  it('are of all PEs, as if of one', () => {
    const of = (values: readonly number[]) => {
      const one = new ResultsCollector();
      for (const value of values) {
        one.add('total', value);
        one.count('bins', 1, value);
      }
      return one.data;
    };
    const whole = mergeResults([of([0.1, 0.2, 0.3, 0.4])]);
    expect(mergeResults([of([0.4, 0.2]), of([0.3, 0.1])])).toEqual(whole);
    expect(whole.totals).toEqual({ total: 1 });
    expect(whole.counts).toEqual({ bins: [0, 1] });
  });
});

describe('the first difference', () => {
  const results = (total: number, load: number) => ({
    totals: { served: total },
    maxima: {},
    counts: {},
    rows: { shops: [{ lp: 3, values: { load } }] },
    statistics: {},
  });
  const line = (time: number, lp: number, text: string): OutputLine => ({
    time,
    lp,
    text,
    priority: 1,
    tie: 0.5,
    prefix: [],
  });
  const NAMES = ['a', 'b'] as const;

  it('of results', () => {
    expect(resultsDifference(NAMES, results(1, Number.NaN), results(1, Number.NaN))).toBeNull();
    expect(resultsDifference(NAMES, results(1, 2), results(1, 3))).toBe(
      'results rows.shops[0].load is 2 in a and 3 in b',
    );
    expect(resultsDifference(NAMES, results(1, 2), { ...results(1, 2), rows: {} })).toBe(
      'results rows.shops[0] is of LP 3 in a and missing in b',
    );
  });

  it('of lines, in any order; hooks’ own left out', () => {
    const lines = [line(1, 0, 'x'), line(2, 1, 'y')];
    expect(outputDifference(NAMES, lines, lines.toReversed())).toBeNull();
    expect(outputDifference(NAMES, lines, [...lines, line(1, -1, 'PE 0')])).toBeNull();
    expect(outputDifference(NAMES, lines, [lines[0]])).toBe(
      'line 2 of the output is “LP 1 at 2: y” in a and nothing in b',
    );
  });
});
