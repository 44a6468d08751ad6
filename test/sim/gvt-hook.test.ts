/** A model's hook at GVT: at a time, at every n-th GVT, on request. */
import '../support/small-machine.ts';
import { fileURLToPath } from 'node:url';
import {
  defineModel,
  type GvtHook,
  type Model,
  type OutputLine,
  type Settings,
  simulate,
} from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { lockstep } from './support/lockstep.ts';
import randomHooked, { EVERY_FIVE, hooked } from './support/random-hooked.ts';

const SYNCHRONISERS = [
  'sequential',
  'conservative',
  'optimistic',
  'optimistic-debug',
  'optimistic-realtime',
  'rollback-check',
] as const;
const MEMORY = 2 ** 20;

async function run(model: Model | string, settings: Settings) {
  const outputs: OutputLine[] = [];
  const result = await simulate(
    model,
    { maxMemory: MEMORY, ...settings },
    { signal: AbortSignal.timeout(240_000), onOutput: (lines) => outputs.push(...lines) },
  );
  return { run: result, outputs };
}

/** What the hooks of all PEs saw together, by time: LPs, events, sum of states. */
function seen(outputs: readonly OutputLine[]): [number, number, number, number][] {
  const all = new Map<number, [number, number, number, number]>();
  for (const { text } of outputs) {
    const [time, n, events, sum] = text.split(' ').map(Number) as [number, number, number, number];
    const so = all.get(time) ?? [time, 0, 0, 0];
    all.set(time, [time, so[1] + n, so[2] + events, so[3] + sum]);
  }
  return [...all.values()].sort((a, b) => a[0] - b[0]);
}

describe('a hook at a time', () => {
  const settings: Settings = {
    end: 22,
    lookahead: 0.25,
    options: { lps: 18, remote: 0.7, grid: 0.25 },
  };
  const want = run(randomHooked, { ...settings, synch: 'sequential' }).then((r) => seen(r.outputs));

  it('comes when its time has come, and again when asked', async () => {
    const sights = await want;
    expect(sights.map(([time]) => time)).toEqual([5, 10, 15, 20]);
    expect(sights.every(([, n]) => n === 18)).toBe(true);
    const events = sights.map(([, , n]) => n);
    expect(events).toEqual([...events].sort((a, b) => a - b));
    expect(events[0]).toBeGreaterThan(50);
  });

  it.each(SYNCHRONISERS)('sees all events before it and none after: %s', async (synch) => {
    const { outputs } = await run(randomHooked, { ...settings, synch });
    expect(seen(outputs)).toEqual(await want);
  });

  it.each(['conservative', 'optimistic'] as const)(
    'sees the same on PEs that take turns: %s',
    async (synch) => {
      for (const [pes, ahead] of [
        [2, 0],
        [2, 1],
        [3, 1],
        [4, 2],
      ] as const) {
        const { outputs } = lockstep(
          hooked(EVERY_FIVE),
          { ...settings, synch, pes, batch: 100, gvtInterval: 2 },
          [{ pe: ahead, turns: 25 }],
        );
        expect(outputs.length).toBe(4 * pes);
        expect(seen(outputs)).toEqual(await want);
      }
    },
  );

  it('sees the same on threads', async () => {
    const path = fileURLToPath(new URL('support/random-hooked.ts', import.meta.url));
    const { outputs } = await run(path, { ...settings, synch: 'optimistic', pes: 2 });
    expect(seen(outputs)).toEqual(await want);
  });

  const times = (hook: GvtHook<unknown>, synch: (typeof SYNCHRONISERS)[number]) => {
    const calls: number[] = [];
    const model = hooked({
      ...hook,
      run(context) {
        calls.push(context.gvt);
        hook.run(context);
      },
    });
    return run(model, { ...settings, synch }).then(() => calls);
  };

  it.each(SYNCHRONISERS)('may be the start or the end, not past it: %s', async (synch) => {
    expect(await times({ at: 0, run: (c) => c.again(22) }, synch)).toEqual([0, 22]);
    expect(await times({ at: 3, run: (c) => c.again(22.5) }, synch)).toEqual([3]);
    expect(await times({ at: 22.5, run() {} }, synch)).toEqual([]);
  });

  it.each(SYNCHRONISERS)('cannot be asked for in the past: %s', async (synch) => {
    expect(await times({ at: 3, run: (c) => c.again(2) }, synch)).toEqual([3]);
    expect(await times({ at: 3, run: (c) => c.again(c.gvt) }, synch)).toEqual([3]);
  });

  it.each(SYNCHRONISERS)('comes also where no event is near: %s', async (synch) => {
    const calls: number[] = [];
    const model = defineModel({
      name: 'sparse',
      end: 100,
      lps: () => 1,
      state: {},
      message: {},
      init: (lp) => void lp.send(0, 50),
      forward() {},
      gvtHook: {
        at: 10,
        run(context) {
          calls.push(context.gvt);
          context.again(context.gvt + 10);
        },
      },
    });
    await run(model, { synch, lookahead: 1 });
    expect(calls).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  });
});

describe('a hook at every n-th GVT', () => {
  it.each(['conservative', 'optimistic'] as const)('counts GVTs: %s', (synch) => {
    for (const [pes, every] of [
      [1, 1],
      [2, 3],
      [3, 7],
    ] as const) {
      const calls = Array.from({ length: pes }, () => 0);
      const gvts: number[] = [];
      const hook: GvtHook<unknown> = {
        every,
        run(context) {
          calls[context.pe] = (calls[context.pe] ?? 0) + 1;
          if (context.pe === 0) gvts.push(context.gvt);
        },
      };
      const { run: result } = lockstep(hooked(hook), {
        synch,
        pes,
        gvtInterval: 4,
        batch: 4,
        end: 40,
        lookahead: 0.5,
      });
      expect(result.gvtComputations).toBeGreaterThan(20);
      expect(calls).toEqual(calls.map(() => Math.floor(result.gvtComputations / every)));
      expect(gvts).toEqual([...gvts].sort((a, b) => a - b));
    }
  });

  // Where GVT goes by the clock, a short run has few.
  const counting = SYNCHRONISERS.filter((synch) => synch !== 'optimistic-realtime');

  it.each(counting)('comes on one PE, under any synchroniser: %s', async (synch) => {
    let calls = 0;
    const hook: GvtHook<unknown> = {
      every: 2,
      run: () => {
        calls++;
      },
    };
    await run(hooked(hook), { synch, gvtInterval: 1, batch: 4, end: 20, lookahead: 0.5 });
    expect(calls).toBeGreaterThan(5);
  });
});

describe('a hook on request', () => {
  /** LP 0 has an event at each whole time and asks at those in `asks`; `calls` are the GVTs by PE. */
  function asking(asks: readonly number[], calls: number[][], inInit = false): Model {
    return defineModel({
      name: 'asking',
      end: 10,
      lps: () => 4,
      state: { n: 'u32' },
      message: {},
      init(lp) {
        lp.send(lp.id, 1);
        if (inInit && lp.id === 0) lp.requestHook();
      },
      forward(lp) {
        lp.state.n++;
        lp.send(lp.id, 1);
        if (lp.id === 0 && asks.includes(lp.now)) lp.requestHook();
      },
      gvtHook: {
        run(context) {
          let list = calls[context.pe];
          if (list === undefined) {
            list = [];
            calls[context.pe] = list;
          }
          list.push(context.gvt);
        },
      },
    });
  }

  const SMALL: Settings = { gvtInterval: 1, batch: 1, lookahead: 1 };

  it.each(SYNCHRONISERS)('comes once the event is committed: %s', async (synch) => {
    for (const asks of [[3], [9], [2, 5, 9]]) {
      const calls: number[][] = [];
      await run(asking(asks, calls), { ...SMALL, synch });
      const gvts = calls[0] ?? [];
      for (const time of asks) expect(gvts.some((gvt) => gvt > time)).toBe(true);
      expect(Math.min(...gvts)).toBeGreaterThan(asks[0] as number);
      expect(gvts.length).toBeLessThanOrEqual(asks.length);
    }
  });

  it.each(SYNCHRONISERS)('may be asked for by init: %s', async (synch) => {
    const calls: number[][] = [];
    await run(asking([], calls, true), { ...SMALL, synch });
    expect(calls[0]?.length).toBe(1);
  });

  it.each(['conservative', 'optimistic'] as const)('comes on all PEs at one GVT: %s', (synch) => {
    for (const asks of [[3], [9], [2, 5, 9]]) {
      const calls: number[][] = [];
      lockstep(asking(asks, calls), { ...SMALL, synch, pes: 2 });
      expect(calls[1]).toEqual(calls[0]);
      const gvts = calls[0] ?? [];
      for (const time of asks) expect(gvts.some((gvt) => gvt > time)).toBe(true);
    }
  });

  it('never comes for an event that is rolled back', () => {
    const calls: number[] = [];
    const model = defineModel({
      name: 'mistaken',
      end: 20,
      lps: () => 2,
      state: { permits: 'u8' },
      message: { permit: 'bool' },
      init(lp) {
        lp.send(lp.id, lp.id === 0 ? 0.5 : 1);
      },
      forward(lp, m) {
        if (lp.id === 0) {
          lp.send(1, 0.25).permit = true;
          lp.send(0, 1);
        } else if (m.permit) lp.state.permits++;
        else {
          lp.send(1, 1);
          if (lp.state.permits === 0) lp.requestHook();
          else lp.state.permits--;
        }
      },
      gvtHook: { run: (context) => calls.push(context.gvt) },
    });
    const { run: result } = lockstep(model, { synch: 'optimistic', pes: 2, batch: 8 }, [
      { pe: 1, turns: 30 },
    ]);
    expect(result.eventsRolledBack).toBeGreaterThan(5);
    expect(calls).toEqual([]);
  });
});
