/** Conservative PEs go as far as nothing can arrive that comes before, and no further; where it does, the run ends. */

import '../support/small-machine.ts';
import type { Model, RunResult, Settings } from 'triscope/sim';
import { simulate } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { LocalBudget } from '../../src/sim/event.ts';
import { InOrderEngine, InOrderLp, LateEventError } from '../../src/sim/in-order.ts';
import { DEST, EXTRA, RECV, SOURCE, TIE } from '../../src/sim/layout.ts';
import phold from '../../src/sim/models/phold.ts';
import { Pe } from '../../src/sim/pe.ts';
import { placeLps } from '../../src/sim/placement.ts';
import { configFor } from '../../src/sim/settings.ts';
import { RingProducer } from '../../src/sim/transport/ring.ts';
import { SequentialTransport } from '../../src/sim/transport/sequential.ts';
import type { Gvt, Transport } from '../../src/sim/transport/transport.ts';
import { type Fittings, lockstep } from './support/lockstep.ts';
import randomAutomatic from './support/random-automatic.ts';

const smallRings = (slots: number): Fittings => ({
  producer: (words, size) => new RingProducer(words, size, slots),
});

const DENSE: Settings = {
  synch: 'conservative',
  end: 1.5,
  lookahead: 0.35,
  options: { 'total-lps': 16, 'start-events': 30, remote: 1 },
};

const digests = ({ netEvents, eventDigest, stateDigest }: RunResult) => ({
  netEvents,
  eventDigest,
  stateDigest,
});

const inSequence = async (model: Model, { end, lookahead, options }: Settings) =>
  digests(await simulate(model, { synch: 'sequential', end, lookahead, options } as Settings));

describe.each([1, 2, 7])('with rings of %i slots', (slots) => {
  it.each([2, 4])('a message that waits for room is not overtaken, on %i PEs', async (pes) => {
    const want = await inSequence(phold as Model, DENSE);
    // One PE sends many times before the other drains, and the other way round.
    let held = 0;
    for (const turns of [2, 40]) {
      const schedule = [
        { pe: 0, turns },
        { pe: 1, turns: 1 },
      ];
      for (const batch of [16, 1024]) {
        const settings = { ...DENSE, pes, batch };
        const { run } = lockstep(phold as Model, settings, schedule, () => smallRings(slots));
        expect(digests(run)).toEqual(want);
        held += run.heldBack;
      }
    }
    expect(held).toBeGreaterThan(20);
  });

  it('an optimistic run that goes far ahead of GVT comes to its end', async () => {
    const settings: Settings = {
      ...{ end: 20, lookahead: 0.1, nkp: 1, batch: 16, gvtInterval: 1 },
      options: { 'total-lps': 16 },
    };
    const want = await inSequence(phold as Model, settings);
    const { run } = lockstep(
      phold as Model,
      { ...settings, synch: 'optimistic', pes: 2, maxOptLookahead: 10 },
      [],
      () => smallRings(slots),
    );
    expect(digests(run)).toEqual(want);
  });

  it('tie-breakers longer than a ring arrive slot by slot', async () => {
    const settings: Settings = {
      end: 2,
      options: { lps: 8, depth: 30, zero: 1, remote: 1, extra: 0.2 },
    };
    const want = await inSequence(randomAutomatic, settings);
    const { run } = lockstep(
      randomAutomatic,
      { ...settings, synch: 'optimistic', pes: 2 },
      [],
      () => smallRings(slots),
    );
    expect(digests(run)).toEqual(want);
  });
});

/** The first of two PEs; nobody listens to what it sends. */
class Nowhere extends SequentialTransport {
  override readonly pes = 2;
  override post(): void {}
}

/** As `transport`, but for what a GVT says of messages under way. */
function forgetful(transport: Transport): Transport {
  const take = transport.takeGvt.bind(transport);
  transport.takeGvt = (out: Gvt) => {
    const taken = take(out);
    out.underWay = Number.POSITIVE_INFINITY;
    return taken;
  };
  return transport;
}

it('an event that arrives before what has been handled ends the run, and both are named', () => {
  const run = () =>
    lockstep(
      phold as Model,
      { ...DENSE, pes: 2, batch: 1024 },
      [
        { pe: 0, turns: 40 },
        { pe: 1, turns: 1 },
      ],
      () => ({ ...smallRings(1), around: forgetful }),
    );
  expect(run).toThrow(
    /^the event from LP \d+ to LP \d+ at virtual time [\d.]+ reached PE [01] after the event from LP \d+ to LP \d+ at virtual time [\d.]+ had been handled there, so the run would be wrong: this is a mistake of the simulator's;.*$/,
  );
});

it('with a lookahead that does not move time, long chains without an offset end the run, or come out right', async () => {
  const ends = { right: 0, refused: 0 };
  for (const depth of [3, 4, 12, 14]) {
    for (const seed of [1, 2, 3, 4]) {
      const settings: Settings = {
        end: 3,
        lookahead: 1e-17,
        maxMemory: 2 ** 22,
        seeds: [seed, 2, 3, 4],
        options: { lps: 6, start: 2, grid: 1, extra: 0.5, fan: 2, depth, zero: 1, remote: 1 },
      };
      const want = digests(await simulate(randomAutomatic, { ...settings, synch: 'sequential' }));
      try {
        const { run } = lockstep(randomAutomatic, { ...settings, synch: 'conservative', pes: 3 });
        expect(digests(run)).toEqual(want);
        ends.right++;
      } catch (error) {
        if (!(error instanceof LateEventError)) throw error;
        expect(error.message).toMatch(
          /so the run would be wrong: --lookahead=1e-17 does not move virtual time here, and chains of more than 8 events without an offset are not told apart; raise it, or take --synch=3$/,
        );
        expect(depth).toBeGreaterThan(8);
        ends.refused++;
      }
    }
  }
  expect(ends.right).toBeGreaterThan(8);
  expect(ends.refused).toBeGreaterThan(0);
});

describe('what comes after the event handled last', () => {
  const config = configFor(phold as Model, { ...DENSE, pes: 2, maxMemory: 2 ** 20 });
  const placement = placeLps(phold as Model, 16, 2);
  const contextFor: ConstructorParameters<typeof Pe>[6] = (...args) => new InOrderLp(...args, null);

  /** An engine that has handled an event at 1 with priority 1 and tie-breaker 0.5. */
  function engine() {
    const pe = new Pe(
      phold as Model,
      config,
      placement,
      0,
      new LocalBudget(4096),
      4096,
      contextFor,
    );
    const own = new InOrderEngine(pe, new Nowhere());
    const arrive = (time: number, tie: number, priority = 1) => {
      const { F, I } = pe.pool;
      const h = own.arriving();
      F[h + RECV] = time;
      F[h + TIE] = tie;
      I[(h << 1) + SOURCE] = 9;
      I[(h << 1) + DEST] = 3;
      I[(h << 1) + EXTRA] = 0;
      if (priority !== 1) pe.signatures.adopt(h, priority, new Float64Array(0), 0, 0);
      own.arrived(h);
    };
    arrive(1, 0.5);
    expect(own.run(1, 2)).toBe(1);
    return arrive;
  }

  it.each([
    ['a later time', 1.5, 0.1, 0],
    ['the same time and a higher tie-breaker', 1, 0.75, 1],
    ['the same time and a higher priority', 1, 0.1, 2],
  ])('is taken: %s', (_, time, tie, priority) => {
    expect(() => engine()(time, tie, priority)).not.toThrow();
  });

  it.each([
    ['an earlier time', 0.5, 0.75, 2],
    ['the same time and a lower tie-breaker', 1, 0.25, 1],
    ['the same time and a lower priority', 1, 0.75, 0],
  ])('is not: %s', (_, time, tie, priority) => {
    expect(() => engine()(time, tie, priority)).toThrow(
      `the event from LP 9 to LP 3 at virtual time ${time} reached PE 0 after the event from LP 9 to LP 3 at virtual time 1 had been handled there`,
    );
  });
});
