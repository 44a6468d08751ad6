/** Text tables in narrow terminals. */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { cut, fitRows, widthOf, wrapped } from '../../src/cli/fit.ts';
import { textTable } from '../../src/cli/result-rows.ts';

describe('a table that is too wide', () => {
  const ROWS = [
    ['name', 'help', 'value'],
    ['a', 'a long sentence about a', '1234567.5'],
    ['b', 'short', '-2 %'],
  ];

  it('has its texts cut, the longest first, and never a number', () => {
    const { rows, left } = fitRows(ROWS, 35);
    expect(left).toBe(0);
    expect(rows[1]).toEqual(['a', 'a long sentence a…', '1234567.5']);
    expect(rows[2]).toEqual(['b', 'short', '-2 %']);
    expect(fitRows(ROWS, Infinity).rows).toEqual(ROWS);
  });

  it('loses its last columns where that is not enough', () => {
    const { rows, left } = fitRows(ROWS, 20);
    expect([left, rows[1]]).toEqual([1, ['a', 'a long sent…']]);
  });

  it('fits, whatever is in it', () => {
    const cell = fc.oneof(fc.string({ maxLength: 60 }), fc.integer().map(String));
    const rows = fc
      .integer({ min: 1, max: 6 })
      .chain((n) => fc.array(fc.array(cell, { minLength: n, maxLength: n }), { minLength: 1 }));
    fc.assert(
      fc.property(rows, fc.integer({ min: 20, max: 200 }), (all, width) => {
        const { rows: shown, widths, left } = fitRows(all, width);
        expect(widths.length + left).toBe(all[0].length);
        const total = widths.reduce((sum, one) => sum + one + 2, -2);
        // One column is always shown.
        expect(total <= width || widths.length === 1).toBe(true);
        for (const row of shown) {
          for (const [k, text] of row.entries()) expect(text.length).toBeLessThanOrEqual(widths[k]);
        }
      }),
    );
  });
});

describe('the width', () => {
  const before = process.env.COLUMNS;
  afterEach(() => {
    if (before === undefined) delete process.env.COLUMNS;
    else process.env.COLUMNS = before;
  });

  it('is the terminal’s, COLUMNS before it, and none where output is piped', () => {
    delete process.env.COLUMNS;
    expect(widthOf({ isTTY: true, columns: 93 })).toBe(93);
    expect(widthOf({ isTTY: false, columns: 93 })).toBe(Infinity);
    process.env.COLUMNS = '71';
    expect([widthOf({ isTTY: true, columns: 93 }), widthOf({})]).toEqual([71, 71]);
    process.env.COLUMNS = 'wide';
    expect(widthOf({})).toBe(Infinity);
  });

  it('is kept by words in lines', () => {
    expect(wrapped('one two three four', 10, '  ')).toEqual(['  one two', '  three', '  four']);
    expect(wrapped('one two', Infinity)).toEqual(['one two']);
    expect([cut('abcdef', 4), cut('abc', 4)]).toEqual(['abc…', 'abc']);
  });
});

describe('a list of numbers', () => {
  it('is drawn where it is long', () => {
    const columns = [{ name: 'x', type: 'DOUBLE[]' }];
    const rows = [[[0, 1, 2, 3, 4, 5, null, 7]], [[1, 2]]];
    expect(textTable(columns, rows)).toBe('x\n▁▂▃▄▅▆ █\n[1,2]\n');
  });
});
