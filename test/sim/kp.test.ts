/** The entries of KPs: what rollback and fossil collection take from their two ends. */
import '../support/small-machine.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { E_HANDLE, E_OUTS, KP_SHIFT, KpEntries, LENGTH, NEWEST, OLDEST } from '../../src/sim/kp.ts';

describe('the entries of several KPs in one array', () => {
  it('are those of a list each, whatever is appended and dropped at either end', () => {
    const move = fc.tuple(fc.nat(2), fc.constantFrom('append', 'newest', 'oldest'), fc.nat(150));
    const moves = fc.array(move, { maxLength: 60 });
    const cases = fc.property(moves, (list) => {
      const entries = new KpEntries(3, 3 * 60 * 150);
      const { E, K } = entries;
      const lists: number[][] = [[], [], []];
      let next = 1;
      for (const [kp, what, times] of list) {
        const s = (kp + 1) << KP_SHIFT;
        const expected = lists[kp] as number[];
        for (let n = 0; n < times; n++) {
          if (what === 'append') {
            const at = entries.append(s);
            expect(E[at + E_OUTS]).toBe(0);
            E[at + E_HANDLE] = next;
            E[at + E_OUTS] = 7;
            expected.push(next++);
          } else if (expected.length > 0) {
            if (what === 'newest') {
              entries.dropNewest(s);
              expected.pop();
            } else {
              entries.dropOldest(s);
              expected.shift();
            }
          }
          expect(K[s + LENGTH]).toBe(expected.length);
          if (expected.length === 0) continue;
          expect(E[(K[s + NEWEST] as number) + E_HANDLE]).toBe(expected.at(-1));
          expect(E[(K[s + OLDEST] as number) + E_HANDLE]).toBe(expected[0]);
        }
      }
    });
    fc.assert(cases, { numRuns: 50 });
  });

  it('take no more memory for being appended and dropped for long', () => {
    const entries = new KpEntries(1, 200);
    const s = 1 << KP_SHIFT;
    for (let n = 0; n < 100; n++) entries.append(s);
    for (let n = 0; n < 100_000; n++) {
      entries.append(s);
      entries.dropOldest(s);
    }
    expect(entries.K[s + NEWEST]).toBeLessThan(entries.E.length);
    expect(entries.K[s + LENGTH]).toBe(100);
  });
});
