import fc from 'fast-check';
import { AGGREGATIONS, type AggregationName } from 'triscope/signals';
import { describe, expect, it } from 'vitest';

const nan = Number.NaN;
const of = (name: AggregationName, ...values: number[]) =>
  AGGREGATIONS[name](Float64Array.from(values), values.length);

function expectNear(value: number, expected: number): void {
  if (Number.isNaN(expected)) expect(value).toBeNaN();
  else expect(Math.abs(value - expected)).toBeLessThanOrEqual(1e-9 * Math.abs(expected));
}

describe('aggregation', () => {
  it.each<[AggregationName, number[], number]>([
    ['sum', [1, 2, 4], 7],
    ['average', [1, 2, 6], 3],
    ['median', [9, 1, 4], 4],
    ['median', [9, 1, 4, 2], 3],
    ['integer_bitwise_or', [0b0101, 0b0011], 0b0111],
    ['integer_bitwise_or', [2 ** 40, 2 ** 31, 1], 2 ** 40 + 2 ** 31 + 1],
    ['logical_and', [1, 5], 1],
    ['logical_and', [1, 0], 0],
    ['logical_or', [0, 5], 1],
    ['logical_or', [0, 0], 0],
    ['region_hash', [0xd3d99e8b, 0xd3d99e8b], 0xd3d99e8b],
    ['region_hash', [0xd3d99e8b, 0x4ad0cf31], 0x725e8066],
    ['region_hint', [4, 4], 4],
    ['region_hint', [4, 2], 1],
    ['min', [3, -1, 2], -1],
    ['max', [3, -1, 2], 3],
    ['stddev', [2, 4, 4, 4, 5, 5, 7, 9], Math.sqrt(32 / 7)],
    ['stddev', [8], 0],
    ['select_first', [3, 9], 3],
    ['expect_same', [2, 2, 2], 2],
    ['expect_same', [2, 2, 3], nan],
  ])('%s of %j is %d', (name, values, expected) => {
    expectNear(of(name, ...values), expected);
  });

  const droppers = Object.keys(AGGREGATIONS).filter((name) => name !== 'select_first');

  it.each(droppers as AggregationName[])('%s leaves out what is absent', (name) => {
    expect(of(name, nan, 7, nan, 7)).toBe(of(name, 7, 7));
    expect(of(name, nan, nan)).toBeNaN();
    expect(of(name)).toBeNaN();
  });

  it('select_first takes the first, absent or not; of nothing it is 0', () => {
    expect(of('select_first', nan, 7)).toBeNaN();
    expect(of('select_first')).toBe(0);
  });

  it('does not depend on the order, but for select_first', () => {
    const numbers = fc.array(fc.oneof(fc.integer({ min: 0, max: 1e6 }), fc.constant(nan)));
    fc.assert(
      fc.property(fc.constantFrom(...(droppers as AggregationName[])), numbers, (name, values) => {
        const turned = [...values].reverse();
        expectNear(of(name, ...turned), of(name, ...values));
      }),
    );
  });
});
