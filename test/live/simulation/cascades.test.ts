/** Cascades: trees of rollbacks, by hand-worked numbers, and whatever a file holds. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ROSS_ROLLBACK } from '../../../src/model/schemas/ross.ts';
import { CascadeIndex } from '../../../src/view/simulation/cascades.ts';
import { rollbacksIn } from '../../../src/view/simulation/rollback-view.ts';
import { Rollbacks } from '../../../src/view/simulation/rollbacks.ts';
import { atOnce } from '../../../src/view/steps.ts';
import { batch, type Row } from '../support/samples.ts';

/** Those of rows, asked for all at once. */
function index(rows: readonly Row[]) {
  const all = new Rollbacks();
  all.take(batch(ROSS_ROLLBACK, rows));
  const made = atOnce(CascadeIndex.of)(all);
  return { list: atOnce(made.list.bind(made)), tree: atOnce(made.tree.bind(made)) };
}

const rollback = (pe: number, id: number, t: number, undone: number, more: Row = {}): Row => ({
  pe_id: pe,
  rollback_id: id,
  real_time: t,
  events_undone: undone,
  cause: 'straggler',
  ...more,
});
const by = (pe: number, id: number): Row => ({
  parent_pe: pe,
  parent_id: id,
  cause: 'cancellation',
});

/**
 * 1/1 (10 undone) ─► 0/1 (20) ─► 1/2 (5, told before its parents)
 *                └─► 0/2 (1)
 * 1/3 (30) alone
 */
const ROWS = [
  rollback(1, 2, 1.3, 5, { ...by(0, 1), kp_id: 7, depth: 4 }),
  rollback(1, 1, 1, 10, { kp_id: 2, source_pe: 0, source_lp: 9, depth: 1.5 }),
  rollback(0, 1, 1.1, 20, { ...by(1, 1), depth: 2 }),
  rollback(0, 2, 1.2, 1, { ...by(1, 1), kp_id: 3, depth: 2.5 }),
  rollback(1, 3, 5, 30),
];

describe('cascades', () => {
  it('are ranked by all that they undid', () => {
    const list = index(ROWS).list({ most: 10 });
    expect(list).toMatchObject({ count: 2, rollbacks: 5, undone: 66, undoneByParents: 26 });
    expect(list.cascades).toEqual([
      {
        pe: 1,
        id: 1,
        kp: 2,
        cause: 'straggler',
        orphan: false,
        from: 1,
        to: 1.3,
        sourcePe: 0,
        sourceLp: 9,
        rollbacks: 4,
        generations: 3,
        pes: 2,
        undone: 36,
        undoneAtOnce: 10,
        depth: 4,
      },
      expect.objectContaining({ pe: 1, id: 3, rollbacks: 1, generations: 1, undone: 30 }),
    ]);
  });

  it('count whole, wherever a rollback of them is in the window or the KP', () => {
    const all = index(ROWS);
    const worst = (filter: object) =>
      all.list({ most: 10, ...filter }).cascades.map(({ undone }) => undone);
    expect(worst({ from: 1.25, to: 1.35 })).toEqual([36]);
    expect(worst({ from: 4, to: 6 })).toEqual([30]);
    expect(worst({ pe: 0 })).toEqual([36]);
    expect(worst({ pe: 1, kp: 7 })).toEqual([36]);
    expect(worst({ pe: 1, kp: 5 })).toEqual([]);
    expect(worst({ from: 1.3 })).toEqual([36, 30]);
    expect(all.list({ most: 1 })).toMatchObject({ count: 2, cascades: [{ undone: 36 }] });
  });

  it('show their path from the straggler on, parents before children', () => {
    const tree = index(ROWS).tree(0, 2, 100);
    expect(
      tree?.nodes.map(({ pe, id, parent, generation }) => [pe, id, parent, generation]),
    ).toEqual([
      [1, 1, -1, 0],
      [0, 1, 0, 1],
      [0, 2, 0, 1],
      [1, 2, 1, 2],
    ]);
    expect(index(ROWS).tree(1, 1, 3)).toMatchObject({ left: 1 });
    expect(index(ROWS).tree(3, 3, 3)).toBeNull();
  });

  it('whose beginning was not recorded say so', () => {
    const list = index([rollback(0, 4, 1, 2, by(1, 77))]).list({ most: 1 });
    expect(list.cascades).toMatchObject([{ orphan: true, undone: 2 }]);
    expect(list.undoneByParents).toBe(2);
  });

  it('count each rollback once, whatever rings and repetitions a file holds', () => {
    const row = fc.record({
      pe: fc.nat(2),
      id: fc.integer({ min: 1, max: 6 }),
      parentPe: fc.nat(2),
      parentId: fc.nat(6),
      undone: fc.nat(50),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 30 }), (rows) => {
        const all = index(
          rows.map(({ pe, id, parentPe, parentId, undone }, k) =>
            rollback(pe, id, k, undone, by(parentPe, parentId)),
          ),
        );
        const first = new Map(rows.map((one) => [`${one.pe}/${one.id}`, one] as const).reverse());
        const list = all.list({ most: 100 });
        expect(list.rollbacks).toBe(first.size);
        expect(list.undone).toBe([...first.values()].reduce((sum, { undone }) => sum + undone, 0));
        for (const { pe, id, rollbacks } of list.cascades) {
          const nodes = all.tree(pe, id, 100)?.nodes ?? [];
          expect(nodes).toHaveLength(rollbacks);
          nodes.forEach(({ parent, generation }, k) => {
            expect(parent).toBeLessThan(k);
            expect(generation).toBe(parent < 0 ? 0 : nodes[parent].generation + 1);
          });
        }
      }),
    );
  });
});

describe('rollbacks', () => {
  it('of a window come in time, those that undid most where there are many', () => {
    const all = new Rollbacks();
    all.take(batch(ROSS_ROLLBACK, ROWS));
    const some = atOnce(rollbacksIn)(all, { from: 0, to: 2, within: '' }, 2);
    expect(some.total).toBe(4);
    expect(some.rollbacks.map(({ t, undone }) => [t, undone])).toEqual([
      [1, 10],
      [1.1, 20],
    ]);
    expect(atOnce(rollbacksIn)(all, { from: 0, to: 9, within: '1/7' }, 9).total).toBe(1);
  });

  it('are kept as far as there is room', () => {
    const all = new Rollbacks(4);
    for (let k = 0; k < 10; k++) all.take(batch(ROSS_ROLLBACK, [rollback(0, k + 1, k, 1)]));
    expect(all.length).toBeLessThanOrEqual(4);
    expect(all.column('rollback_id')[all.length - 1]).toBe(10);
  });

  it('of a copy stay when more come', () => {
    const all = new Rollbacks(4);
    for (let k = 0; k < 4; k++) all.take(batch(ROSS_ROLLBACK, [rollback(0, k + 1, k, 1)]));
    const copy = all.copy();
    for (let k = 4; k < 10; k++) all.take(batch(ROSS_ROLLBACK, [rollback(0, k + 1, k, 1)]));
    const ids = copy.column('rollback_id').subarray(0, copy.length);
    expect([...ids]).toEqual([1, 2, 3, 4]);
    expect(copy.cause(3)).toBe('straggler');
  });
});
