/** What a counter counted, reading by reading: as `formats/tacc/repair.test.ts` has it for two readings. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Counter, isExact, repair, risen } from '../../src/model/counter.ts';
import { ruleOf } from '../../src/model/counter-rules.ts';
import type { Metric } from '../../src/model/metric.ts';

const metric = (key: string, more: Partial<Metric> = {}): Metric => ({
  key,
  cell: 'u64',
  kind: 'event',
  behaviour: 'monotone',
  form: 'total',
  unit: '',
  over: 'sum',
  help: '',
  ...more,
});

function counts(table: string, of: Metric, readings: readonly (readonly [number, bigint])[]) {
  const counter = new Counter(ruleOf(table, of));
  return readings.map(([seconds, value]) => counter.step(seconds, value));
}

describe('a counter, reading by reading', () => {
  it('goes on from before a dip', () => {
    const readings = [1000n, 1100n, 1092n, 1110n].map((v, k) => [10 * k, v] as const);
    expect(counts('node_numa', metric('numa_hit'), readings)).toEqual([Number.NaN, 100, 0, 10]);
  });

  it('rolls over where its table is known to, though no width is declared', () => {
    const readings = [2n ** 32n - 5n, 5n].map((v, k) => [10 * k, v] as const);
    expect(counts('node_block', metric('rd_ticks', { unit: 'ms' }), readings)[1]).toBe(10);
  });

  it('tells nothing of what was reset, or rose by more than can be', () => {
    const readings = [5000n, 7n, 9n, 10n ** 18n, 30n].map((v, k) => [k, v] as const);
    expect(counts('node_ps', metric('ctxt'), readings)).toEqual([
      Number.NaN,
      Number.NaN,
      2,
      Number.NaN,
      21,
    ]);
  });

  it('gives for any readings what the rule gives for each two', () => {
    const word = fc.oneof(fc.bigInt(0n, 50n), fc.bigInt(2n ** 32n - 50n, 2n ** 32n - 1n));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), (values) => {
        const rule = ruleOf('node_ib', metric('port_rcv_packets', { bits: 32 }));
        const counter = new Counter(rule);
        let [previous, last, since] = [0n, 0n, 0];
        for (const [k, value] of values.entries()) {
          const counted = counter.step(k, value);
          if (k === 0) {
            expect(counted).toBeNaN();
            previous = value;
          } else {
            const expected = repair({ previous, value, seconds: k - since, rule, last });
            expect(counted).toBe(isExact(expected) ? Number(expected.delta) : Number.NaN);
            previous = expected.base;
          }
          if (previous === value) since = k;
          last = value;
        }
      }),
    );
  });
});

describe('a total that is a double', () => {
  it('is its difference, or nothing where it fell', () => {
    expect([risen(1.5, 2), risen(2, 2), risen(2, 1)]).toEqual([0.5, 0, Number.NaN]);
  });
});
