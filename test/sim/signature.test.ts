/** Event order at equal times: priority, then the tie-breakers of the zero-offset chain. */
import '../support/small-machine.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EXTRA, RECV, SOURCE, TIE } from '../../src/sim/event.ts';
import { compareKeys, type Key, maker, randomFrom } from './support/events.ts';

const anyValue = fc.constantFrom(0.1, 0.2, 0.3, 0.7);
const anyKey: fc.Arbitrary<Key> = fc.record({
  time: fc.constantFrom(1, 1, 1, 2),
  priority: fc.constantFrom(1, 1, 1, 0, 0.25, 3, -1, 1e300),
  list: fc.array(anyValue, { minLength: 1, maxLength: 5 }),
  source: fc.nat(2),
  sendTime: fc.constantFrom(0, 1),
});

const sign = (x: number) => Math.sign(x) + 0;

describe('event order', () => {
  it('is the documented one', () => {
    fc.assert(
      fc.property(anyKey, anyKey, (a, b) => {
        const { make, signatures } = maker(4);
        const ha = make(a);
        const hb = make(b);
        const want = sign(compareKeys(a, b));
        expect(Number(signatures.before(hb, ha)) - Number(signatures.before(ha, hb))).toBe(want);
        if (a.time === b.time) expect(signatures.tieBefore(ha, hb)).toBe(want < 0);
      }),
      { numRuns: 2000 },
    );
  });

  it('is strict and total', () => {
    fc.assert(
      fc.property(fc.array(anyKey, { minLength: 1, maxLength: 12 }), (keys) => {
        const { make, signatures } = maker(keys.length);
        const hs = keys.map(make);
        for (const a of hs) {
          expect(signatures.before(a, a)).toBe(false);
          for (const b of hs) {
            const ab = signatures.before(a, b);
            expect(ab && signatures.before(b, a)).toBe(false);
            for (const c of hs) {
              if (ab && signatures.before(b, c)) expect(signatures.before(a, c)).toBe(true);
            }
          }
        }
        const sorted = [...hs].sort((a, b) => (signatures.before(a, b) ? -1 : 1));
        const want = [...keys.keys()].sort((a, b) => compareKeys(keys[a] as Key, keys[b] as Key));
        expect(sorted.map((h) => identity(keys[hs.indexOf(h)] as Key))).toEqual(
          want.map((k) => identity(keys[k] as Key)),
        );
      }),
      { numRuns: 300 },
    );
  });

  const identity = (k: Key) => JSON.stringify(k);
  const plainKey: Key = { time: 1, priority: 1, list: [0.5], source: 0, sendTime: 0 };

  it('puts a lower priority first, whatever the tie-breakers', () => {
    const { make, signatures } = maker(2);
    const urgent = make({ ...plainKey, priority: 0.5, list: [0.9] });
    const usual = make({ ...plainKey, list: [0.1] });
    expect(signatures.before(urgent, usual)).toBe(true);
    expect([signatures.priority(urgent), signatures.priority(usual)]).toEqual([0.5, 1]);
  });

  it('puts a zero-offset event after its parent and before what follows the parent', () => {
    const { make, signatures, pool } = maker(4);
    const parent = make({ ...plainKey, list: [0.4] });
    const follower = make({ ...plainKey, list: [0.41] });
    const child = make({ ...plainKey, list: [0.01] });
    signatures.inherit(child, parent, true, 1);
    expect(signatures.prefixLength(child)).toBe(1);
    expect(signatures.before(parent, child)).toBe(true);
    expect(signatures.before(child, follower)).toBe(true);
    expect(pool.F[child + TIE]).toBe(0.01);
  });

  it('raises the priority of a zero-offset event to its parent, never above it', () => {
    const { make, signatures } = maker(6);
    const parent = make({ ...plainKey, priority: 2 });
    const [eager, lazy, plain] = [0, 3, 1].map((priority) => {
      const child = make(plainKey);
      signatures.inherit(child, parent, true, priority);
      return child;
    }) as [number, number, number];
    expect([eager, lazy, plain].map((h) => signatures.priority(h))).toEqual([2, 3, 2]);
    for (const child of [eager, lazy, plain]) expect(signatures.before(parent, child)).toBe(true);
  });

  it('gives an event with an offset its own priority and none of its parent', () => {
    const { make, signatures } = maker(2);
    const parent = make({ ...plainKey, priority: 2, list: [0.1, 0.2] });
    const child = make({ ...plainKey, time: 2, list: [0.3] });
    signatures.inherit(child, parent, false, 0.5);
    expect([signatures.priority(child), signatures.prefixLength(child)]).toEqual([0.5, 0]);
  });
});

describe('zero-offset chains', () => {
  /** A chain of `depth` events, each the child of the one before. */
  function chain({ make, signatures }: ReturnType<typeof maker>, depth: number, seed: number) {
    const random = randomFrom(seed);
    const events: number[] = [];
    for (let k = 0; k < depth; k++) {
      const h = make({ time: 1, priority: 1, list: [random()], source: seed, sendTime: 1 });
      const parent = events.at(-1);
      if (parent !== undefined) signatures.inherit(h, parent, true, 1);
      events.push(h);
    }
    return events;
  }

  it('of depth 1000 are in order of cause, and do not mix with another chain', () => {
    const made = maker(2001);
    const { signatures } = made;
    const left = chain(made, 1000, 1);
    const right = chain(made, 1000, 2);
    expect(signatures.prefixLength(left[999] as number)).toBe(999);
    const leftFirst = signatures.before(left[0] as number, right[0] as number);
    for (let k = 1; k < 1000; k++) {
      expect(signatures.before(left[k - 1] as number, left[k] as number)).toBe(true);
      expect(signatures.before(left[k] as number, left[k - 1] as number)).toBe(false);
    }
    for (const [a, b] of [
      [0, 999],
      [999, 0],
      [500, 400],
      [999, 999],
    ] as const) {
      expect(signatures.before(left[a] as number, right[b] as number)).toBe(leftFirst);
    }
  });

  it('survive the freeing of their ancestors', () => {
    const made = maker(1001);
    const { signatures } = made;
    const events = chain(made, 1000, 3);
    const list = new Float64Array(1000);
    const last = events.pop() as number;
    expect(signatures.write(last, list, 0)).toBe(999);
    const before = list.slice();
    for (const h of events) made.free(h);
    // Freed records and nodes are used again.
    chain(made, 1000, 4);
    expect(signatures.write(last, list, 0)).toBe(999);
    expect(list).toEqual(before);
  });

  it('travel: written to a message and read from it they order the same', () => {
    fc.assert(
      fc.property(anyKey, anyKey, (a, b) => {
        const home = maker(4);
        const away = maker(4);
        const ha = home.make(a);
        const copy = away.make({ ...a, priority: 1, list: [a.list.at(-1) as number] });
        const message = new Float64Array(10);
        const n = home.signatures.write(ha, message, 1);
        expect(n).toBe(a.list.length - 1);
        away.signatures.adopt(copy, home.signatures.priority(ha), message, 1, n);
        const hb = away.make(b);
        expect(away.signatures.before(copy, hb)).toBe(compareKeys(a, b) < 0);
        expect(away.signatures.before(hb, copy)).toBe(compareKeys(b, a) < 0);
      }),
    );
  });

  it('free all that they held', () => {
    const made = maker(1001);
    const bytes = () => process.memoryUsage().arrayBuffers;
    const round = (seed: number) => {
      const events = chain(made, 1000, seed);
      // In any order: from the root, from the tip, and mixed.
      const order = seed % 3;
      if (order === 1) events.reverse();
      if (order === 2) events.sort((a, b) => (a ^ 5) - (b ^ 5));
      for (const h of events) made.free(h);
      expect(events.some((h) => made.pool.I[(h << 1) + EXTRA] !== 0)).toBe(false);
    };
    for (let seed = 0; seed < 4; seed++) round(seed);
    const before = bytes();
    for (let seed = 4; seed < 400; seed++) round(seed);
    // 400,000 nodes would be 8 MB.
    expect(bytes() - before).toBeLessThan(1 << 20);
    expect(made.pool.live).toBe(0);
  });

  it('of a freed record leave nothing to the next event in it', () => {
    const made = maker(3);
    const first = made.make({ time: 1, priority: 9, list: [0.1, 0.2], source: 1, sendTime: 0 });
    made.free(first);
    const second = made.make({ time: 1, priority: 1, list: [0.3], source: 1, sendTime: 0 });
    expect(second).toBe(first);
    expect(made.signatures.priority(second)).toBe(1);
    expect(made.signatures.prefixLength(second)).toBe(0);
    expect([made.pool.F[second + RECV], made.pool.I[(second << 1) + SOURCE]]).toEqual([1, 1]);
  });
});
