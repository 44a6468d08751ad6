/** Memory that rises is told from memory that goes up and down. */
import { describe, expect, it } from 'vitest';
import { riseOver, slopeOf } from './slope.ts';
import { withResults } from './table.ts';

const at = (values: readonly number[]) => values.map((value, k) => ({ at: 10 * k, value }));

describe('a line through samples', () => {
  it('has the mean of 2, 4, 6 and rises by 0.2 a second', () => {
    expect(slopeOf(at([2, 4, 6]))).toEqual({ mean: 4, perSecond: 0.2 });
    expect(riseOver(at([2, 4, 6]), 20)).toBe(1);
  });

  it('of a saw is flat', () => {
    expect(Math.abs(riseOver(at([1, 2, 3, 2, 1, 2, 3, 2, 1]), 80))).toBeLessThan(1e-9);
  });
});

describe('the table of results', () => {
  const page = 'a\n<!-- results: written by scripts -->\n<!-- end of results -->\nb\n';
  const first = withResults(page, [{ name: 'x', cases: 1234, failures: 1 }], 'seed 1');

  it('has a row for each test', () => {
    expect(first).toContain('| x | 1,234 | 1 | seed 1 |');
    expect(first.endsWith('<!-- end of results -->\nb\n')).toBe(true);
  });

  it('keeps other rows, and replaces those of the same name', () => {
    const more = [
      { name: 'x', cases: 2, failures: 0 },
      { name: 'a', cases: 3, failures: 0 },
    ];
    const second = withResults(first, more, 'seed 2');
    expect(second.split('\n').filter((line) => /^\| [xa] /.test(line))).toEqual([
      '| a | 3 | 0 | seed 2 |',
      '| x | 2 | 0 | seed 2 |',
    ]);
  });
});
