/** A run always gets on: no window, look-ahead or time is so small that GVT stands still. */
import '../support/small-machine.ts';
import { defineModel, type Model, type Settings, simulate } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { lockstep } from './support/lockstep.ts';
import randomMixed from './support/random-mixed.ts';

const run = (model: Model, settings: Settings) =>
  simulate(model, { maxMemory: 2 ** 22, ...settings }, { signal: AbortSignal.timeout(240_000) });

describe('GVT gets on', () => {
  const options = { lps: 8, remote: 0.5 };

  it.each([1e-300, 1e-17])('with a look-ahead bound of %s', async (maxOptLookahead) => {
    const settings: Settings = { end: 8, options };
    const want = await run(randomMixed, { ...settings, synch: 'sequential' });
    const got = await run(randomMixed, { ...settings, synch: 'optimistic', maxOptLookahead });
    expect([got.finished, got.stateDigest]).toEqual([true, want.stateDigest]);
    const { run: two } = lockstep(randomMixed, { ...settings, maxOptLookahead, pes: 2 });
    expect(two.stateDigest).toBe(want.stateDigest);
  });

  it.each([1e-300, 1e-17])('in a conservative run with a lookahead of %s', async (lookahead) => {
    const settings: Settings = { end: 8, options: { ...options, zero: 0 }, lookahead };
    const want = await run(randomMixed, { ...settings, synch: 'sequential' });
    const got = await run(randomMixed, { ...settings, synch: 'conservative' });
    expect([got.finished, got.stateDigest]).toEqual([true, want.stateDigest]);
    const { run: two } = lockstep(randomMixed, { ...settings, synch: 'conservative', pes: 2 });
    expect(two.stateDigest).toBe(want.stateDigest);
  });

  /** At each whole time LPs bat a ball to and fro across PEs, without an offset: much is rolled back. */
  const volleys = defineModel({
    name: 'volleys',
    end: 150,
    lps: () => 8,
    state: { hits: 'u32', order: 'u32' },
    message: { left: 'u8', serve: 'bool' },
    init(lp) {
      lp.send(lp.id, 1).serve = true;
    },
    forward(lp, m) {
      const s = lp.state;
      s.hits++;
      s.order = (Math.imul(s.order, 31) + lp.event.source + m.left) >>> 0;
      if (m.serve) {
        lp.send(lp.id, 1).serve = true;
        lp.send(lp.integer(0, 7), 0).left = 12;
      } else if (m.left > 0) lp.send(lp.integer(0, 7), 0).left = m.left - 1;
    },
  });

  it('where much is rolled back at one and the same time, whatever the window', async () => {
    const want = await run(volleys, { synch: 'sequential' });
    expect(want.netEvents).toBe(8 * 149 * 14);
    const settings: Settings = { synch: 'optimistic', pes: 2, batch: 32, gvtInterval: 4 };
    for (const maxOptLookahead of [Infinity, 4]) {
      const { run: got } = lockstep(volleys, { ...settings, maxOptLookahead }, [
        { pe: 1, turns: 3 },
        { pe: 0, turns: 2 },
      ]);
      expect(got.eventsRolledBack).toBeGreaterThan(0.1 * got.netEvents);
      expect([got.stateDigest, got.eventDigest]).toEqual([want.stateDigest, want.eventDigest]);
    }
  });
});
