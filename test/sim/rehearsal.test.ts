import { describe, expect, it } from 'vitest';
import { LocalBudget } from '../../src/sim/event.ts';
import { InOrderLp } from '../../src/sim/in-order.ts';
import type { Model } from '../../src/sim/model.ts';
import phold from '../../src/sim/models/phold.ts';
import { optimisticContexts } from '../../src/sim/optimistic-contexts.ts';
import { Pe } from '../../src/sim/pe.ts';
import { placeLps } from '../../src/sim/placement.ts';
import { rehearseEnd, rehearseQueue } from '../../src/sim/rehearsal.ts';
import { configFor, type Settings } from '../../src/sim/settings.ts';
import randomMixed from './support/random-mixed.ts';

type ContextFactory = ConstructorParameters<typeof Pe>[6];

const inOrder: ContextFactory = (...args) => new InOrderLp(...args, null);
const SYNCHS = { sequential: inOrder, conservative: inOrder, optimistic: null };
const MODELS: readonly { model: Model; options: NonNullable<Settings['options']> }[] = [
  { model: phold, options: { 'total-lps': 16 } },
  // Two types of LPs.
  { model: randomMixed, options: { lps: 16 } },
];
const CASES = (['sequential', 'conservative', 'optimistic'] as const).flatMap((synch) =>
  MODELS.map((one) => ({ ...one, synch })),
);

describe('rehearsing a run', () => {
  it.each(CASES.flatMap((one) => [1000, 5].map((records) => ({ ...one, records }))))(
    'leaves no trace: $model.name, $synch, $records records',
    ({ model, options, synch, records }) => {
      const settings: Settings = { synch, options, end: 10, lookahead: 0.1 };
      const config = configFor(model, settings);
      const placement = placeLps(model, 16, 1);
      const contextFor = SYNCHS[synch] ?? optimisticContexts().contextFor;
      const budget = new LocalBudget(records);
      const pe = new Pe(model, config, placement, 0, budget, 1000, contextFor);
      const of = () => ({
        memory: [...pe.memory.i32],
        counts: [...pe.counts],
        least: [...pe.leastOffset],
        live: pe.pool.live,
        peak: pe.pool.peak,
        first: pe.queue.peek(),
      });
      const before = of();
      rehearseQueue(pe);
      rehearseEnd(pe);
      expect(of()).toEqual(before);
      // Another PE may need all of the memory.
      expect(budget.take(records)).toBe(records);
      budget.give(records);
      // Events of any times come in order, the first ones at 0.
      const times = [3, 0, 0.5, 2, 0, 1].slice(0, records);
      for (const time of times) {
        const h = pe.pool.alloc();
        pe.pool.F[h] = time;
        pe.queue.push(time, h);
      }
      const popped = times.map(() => pe.pool.F[pe.queue.pop()]);
      expect([popped, pe.queue.pop()]).toEqual([times.sort((a, b) => a - b), 0]);
    },
  );
});
