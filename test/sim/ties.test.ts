import { describe, expect, test } from 'vitest';
import { EventPool, LocalBudget, SENDS, SOURCE, TIE } from '../../src/sim/event.ts';
import { ALIGN } from '../../src/sim/layout.ts';
import type { Placement } from '../../src/sim/placement.ts';
import { CORE_SEEDS, next, seedStream } from '../../src/sim/rng/clcg4.ts';
import { TieBreakers } from '../../src/sim/ties.ts';

const LPS = 6;
const BLOCK = 8;
const PLACEMENT: Placement = {
  lps: LPS,
  pes: 2,
  peOf: null,
  indexOf: null,
  firsts: [0, 3],
  counts: [3, 3],
};

/** PE 1 of 2, which has LPs 3, 4 and 5; `handled` events so far. */
function made(handled: () => number) {
  const pool = new EventPool(0, 4096, new LocalBudget(4096));
  const blocks = new Float64Array(3 * BLOCK + ALIGN);
  const ties = new TieBreakers(pool, {
    number: 1,
    placement: PLACEMENT,
    ids: Int32Array.of(3, 4, 5),
    blocks,
    blockSize: BLOCK,
    seeds: CORE_SEEDS,
    handled,
  });
  const baseOf = (index: number) => ALIGN + index * BLOCK;
  return {
    blocks,
    baseOf,
    takeBack: (index: number, n: number) => ties.takeBack(index, baseOf(index), n),
    /** An event that LP `index` sends. */
    send(index: number): number {
      const h = pool.alloc();
      pool.I[(h << 1) + SOURCE] = 3 + index;
      pool.F[h + TIE] = ties.take(index, baseOf(index));
      return h;
    },
    /** An event that LP `id` of another PE sent as its `n`-th, from 0. */
    fromElsewhere(id: number, n: number): number {
      const h = pool.alloc();
      pool.I[(h << 1) + SOURCE] = id;
      pool.F[h + TIE] = -1 - n;
      return h;
    },
    of: (h: number) => ties.of(h),
    held: (h: number) => pool.F[h + TIE],
  };
}

/** The first draws of LP `id`'s core stream, one by one. */
function draws(id: number, count: number): number[] {
  const S = new Float64Array(4);
  seedStream(S, 0, CORE_SEEDS, LPS + id);
  return Array.from({ length: count }, () => next(S, 0));
}

describe('a tie-breaker', () => {
  test('is the sender’s draw of that number, found when asked for, in any order', () => {
    const pe = made(() => 1e9);
    const events = Array.from({ length: 100 }, () => pe.send(1));
    expect(events.every((h) => pe.held(h) < 0)).toBe(true);
    const expected = draws(4, 100);
    for (const k of [99, 0, 57, 57, 1]) expect(pe.of(events[k])).toBe(expected[k]);
    expect(pe.held(events[57])).toBe(expected[57]);
    expect(pe.blocks[pe.baseOf(1) + SENDS]).toBe(100);
  });

  test('of an event from another PE is found from its sender’s id', () => {
    const pe = made(() => 1e9);
    expect(pe.of(pe.fromElsewhere(2, 17))).toBe(draws(2, 18)[17]);
  });

  test('that was taken back is given to the next event', () => {
    for (const handled of [1e9, 0]) {
      const pe = made(() => handled);
      for (let k = 0; k < 400; k++) pe.of(pe.send(0));
      pe.takeBack(0, 3);
      expect(pe.of(pe.send(0))).toBe(draws(3, 400)[397]);
      pe.takeBack(0, 200);
      expect(pe.of(pe.send(0))).toBe(draws(3, 400)[198]);
    }
  });
});

describe('where many are asked for', () => {
  test('records hold draws from then on, the same ones, and older events find theirs', () => {
    const pe = made(() => 0);
    const older = Array.from({ length: 5 }, () => pe.send(2));
    const events = Array.from({ length: 600 }, () => {
      const h = pe.send(0);
      pe.of(h);
      return h;
    });
    expect(events.map((h) => pe.of(h))).toEqual(draws(3, 600));
    const now = pe.send(0);
    expect(pe.held(now)).toBe(draws(3, 601)[600]);
    expect(older.map((h) => pe.of(h))).toEqual(draws(5, 5));
    expect(pe.held(pe.send(2))).toBe(draws(5, 6)[5]);
    expect(pe.of(pe.fromElsewhere(0, 2))).toBe(draws(0, 3)[2]);
  });

  test('they are found one by one while they are few among all events', () => {
    const pe = made(() => 1e6);
    for (let k = 0; k < 600; k++) pe.of(pe.send(0));
    expect(pe.held(pe.send(0))).toBe(-601);
  });
});
