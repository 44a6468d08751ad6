/** What handlers do besides changing their state: it happens when, and only if, their event commits. */
import '../support/small-machine.ts';
import { fileURLToPath } from 'node:url';
import {
  defineModel,
  type Fields,
  int,
  type LoadedModel,
  type LpType,
  loadModel,
  type Model,
  type OutputLine,
  ring,
  type Settings,
  simulate,
} from 'triscope/sim';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import guarded, { OVERFLOWS, SENDS_WRONGLY, SUSPENDS, THROWS } from './support/guarded.ts';
import { lockstep } from './support/lockstep.ts';

const MEMORY = 2 ** 20;
const SYNCHRONISERS = [
  'sequential',
  'conservative',
  'optimistic',
  'optimistic-debug',
  'optimistic-realtime',
  'rollback-check',
] as const;

async function run(model: Model | LoadedModel, settings: Settings) {
  const outputs: OutputLine[] = [];
  const result = await simulate(
    model,
    { maxMemory: MEMORY, ...settings },
    { signal: AbortSignal.timeout(240_000), onOutput: (lines) => outputs.push(...lines) },
  );
  return { run: result, outputs };
}

/** The message with which a run fails. */
const failureOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'it did not fail',
    (error: unknown) => (error as Error).message,
  );

/** The user's PE runs ahead of the keeper's, again and again. */
const USERS_FIRST = [{ pe: 1, turns: 40 }];

describe('an LP that wrong speculation has led astray', () => {
  const settings: Settings = { synch: 'optimistic', pes: 2, nkp: 3, batch: 8, end: 30 };
  const sequential = (options: Settings['options'] = {}) =>
    run(guarded, { synch: 'sequential', end: 30, options });

  it.each([
    ['suspends itself', { how: SUSPENDS }],
    ['suspends itself, with a reverse by hand', { how: SUSPENDS, hand: 1 }],
    ['throws', { how: THROWS }],
    ['overflows a field', { how: OVERFLOWS }],
    ['sends to nowhere', { how: SENDS_WRONGLY }],
  ])('%s, is rolled back and goes on', async (_what, options) => {
    const want = await sequential(options);
    const got = lockstep(guarded, { ...settings, options }, USERS_FIRST);
    expect(got.run.eventsRolledBack).toBeGreaterThan(4);
    expect(got.run.finished).toBe(true);
    expect(got.run.stateDigest).toBe(want.run.stateDigest);
    expect(got.run.eventDigest).toBe(want.run.eventDigest);
    const byTime = (lines: readonly OutputLine[]) => lines.map((l) => `${l.time} ${l.text}`).sort();
    expect(byTime(got.outputs)).toEqual(byTime(want.outputs));
  });

  it('handles nothing while it is suspended', () => {
    const { run: got } = lockstep(
      guarded,
      { ...settings, end: 10, gvtInterval: 1000, options: { users: 1 } },
      [{ pe: 1, turns: 2000 }],
    );
    // Suspended at its first use, the user sends no second one: there is nothing more to roll back.
    expect(got.eventsRolledBack).toBeLessThan(3 * got.netEvents);
    expect(got.finished).toBe(true);
  });

  it('goes on under threads too', async () => {
    const path = fileURLToPath(new URL('support/guarded.ts', import.meta.url));
    const model = await loadModel(path);
    try {
      for (const how of [SUSPENDS, THROWS]) {
        const want = await sequential({ how });
        const got = await run(model, { ...settings, pes: 2, options: { how } });
        expect(got.run.stateDigest).toBe(want.run.stateDigest);
        expect(got.run.eventDigest).toBe(want.run.eventDigest);
      }
    } finally {
      model.dispose();
    }
  });
});

describe('an LP that goes astray for good', () => {
  let threaded: LoadedModel;
  beforeAll(async () => {
    threaded = await loadModel(fileURLToPath(new URL('support/guarded.ts', import.meta.url)));
  });
  afterAll(() => threaded.dispose());

  const CASES = [
    [{ how: SUSPENDS, last: 7 }, 'suspended itself: no permit'],
    [{ how: THROWS, last: 7 }, 'no permit'],
    [{ how: OVERFLOWS, last: 7 }, 'user.permits: -1 does not fit in u8'],
    [{ how: SENDS_WRONGLY, last: 7 }, 'no such LP; ids are 0…3'],
  ] as const;
  // The keeper's last permit is good for time 7; at 8 the users find none.
  const WHERE = /^LP [123] \(user\) at (virtual time )?8\b/;

  describe.each(SYNCHRONISERS)('%s', (synch) => {
    it.each(CASES)('ends the run and says where: %j', async (options, message) => {
      const settings: Settings = { synch, lookahead: 0.25, end: 30, options };
      const failure = await failureOf(run(guarded, settings));
      expect(failure).toContain(message);
      expect(failure).toMatch(WHERE);
    });
  });

  it.each(['conservative', 'optimistic'] as const)('on two threads, %s', async (synch) => {
    for (const [options, message] of CASES) {
      const settings: Settings = { synch, pes: 2, lookahead: 0.25, end: 30, options };
      const failure = await failureOf(run(threaded, settings));
      expect(failure).toContain(message);
      expect(failure).toMatch(WHERE);
    }
  });

  it('is suspended with a reverse by hand: the same', async () => {
    const options = { how: SUSPENDS, last: 7, hand: 1 };
    const failure = await failureOf(run(guarded, { synch: 'optimistic', end: 30, options }));
    expect(failure).toContain('suspended itself: no permit');
  });
});

// --- small models ----------------------------------------------------------------------------------

/** A model in a few lines. */
function small<const S extends Fields, const M extends Fields>(
  model: LpType<S, M, null> & { readonly message: M; readonly lps?: number },
): Model {
  const { lps = 1, ...rest } = model;
  return defineModel({ name: 'small', end: 10, lps: () => lps, prepare: () => null, ...rest });
}

describe('output', () => {
  /** A chain of events at one time, each sent by the one before it. */
  const chain = small({
    state: {},
    message: { link: 'u8' },
    init: (lp) => void lp.send(lp.id, 1),
    forward(lp, m) {
      lp.output(`link ${m.link}`);
      if (m.link < 20) lp.send(lp.id, 0).link = m.link + 1;
    },
  });
  const LINKS = Array.from({ length: 21 }, (_, k) => `link ${k}`);

  it.each(SYNCHRONISERS)(
    'of one time comes in the order of handling, causes first: %s',
    async (synch) => {
      const { outputs } = await run(chain, { synch, lookahead: 1 });
      expect(outputs.map((line) => line.text)).toEqual(LINKS);
    },
  );

  const urgent = small({
    state: {},
    message: { what: 'u8' },
    init(lp) {
      for (let k = 0; k < 20; k++) lp.send(lp.id, 1, k / 20).what = k;
    },
    forward: (lp, m) => lp.output(`priority ${m.what / 20}`),
  });

  it.each(SYNCHRONISERS)('of one time comes in order of priority: %s', async (synch) => {
    const { outputs } = await run(urgent, { synch, lookahead: 1 });
    expect(outputs.map((line) => line.text)).toEqual(
      Array.from({ length: 20 }, (_, k) => `priority ${k / 20}`),
    );
  });

  it.each(SYNCHRONISERS)('of init comes first, of one event in order: %s', async (synch) => {
    const model = small({
      state: {},
      message: {},
      init(lp) {
        lp.output('starts');
        lp.send(lp.id, 1);
      },
      forward(lp) {
        for (const word of ['one', 'two', 'three']) lp.output(word);
      },
    });
    const { outputs } = await run(model, { synch, lookahead: 1 });
    expect(outputs.map((line) => line.text)).toEqual(['starts', 'one', 'two', 'three']);
    expect(outputs.map((line) => line.time)).toEqual([0, 1, 1, 1]);
  });
});

describe('a sent message', () => {
  it.each(SYNCHRONISERS)(
    'is zeroed, also one past the end that nobody will get: %s',
    async (synch) => {
      const model = small({
        state: { sent: 'u32' },
        message: { n: 'u8', list: ring('u8', 2) },
        init: (lp) => void lp.send(lp.id, 1).list.push(1),
        forward(lp) {
          for (const delay of [1, 1000, 1000]) {
            if (delay === 1 && lp.state.sent > 20) continue;
            const m = lp.send(lp.id, delay);
            if (m.n !== 0 || m.list.length !== 0) throw new Error(`not zeroed: ${m.n}`);
            m.n += 200;
            m.list.push(7);
            lp.state.sent++;
          }
        },
      });
      const result = await run(model, { synch, lookahead: 1, end: 50 });
      expect(result.run.finished).toBe(true);
    },
  );

  it.each(['optimistic', 'sequential'] as const)(
    'may not have a priority of NaN: %s',
    async (synch) => {
      const model = small({
        state: {},
        message: {},
        init: (lp) => void lp.send(lp.id, 1),
        forward: (lp) => void lp.send(lp.id, 1, Number.NaN),
      });
      expect(await failureOf(run(model, { synch }))).toMatch(/priority/);
    },
  );

  it('arrives at any later time, however little later', async () => {
    const model = small({
      lps: 2,
      state: { times: ring('f64', 100) },
      message: { turn: 'u8' },
      init: (lp) => void (lp.id === 0 && lp.send(1, 2 ** 20)),
      forward(lp, m) {
        lp.state.times.push(lp.now);
        // Half a step of now, which rounds to no step at all; then one step.
        const step = 2 ** -32;
        if (m.turn < 50) lp.send(1 - lp.id, m.turn % 2 === 0 ? step / 2 : step).turn = m.turn + 1;
      },
    });
    const settings: Settings = { end: 2 ** 21 };
    const want = (await run(model, { ...settings, synch: 'sequential' })).run;
    expect(want.netEvents).toBe(51);
    for (const pes of [1, 2]) {
      const got = lockstep(model, { ...settings, synch: 'optimistic', pes }).run;
      expect([got.stateDigest, got.eventDigest]).toEqual([want.stateDigest, want.eventDigest]);
    }
  });
});

describe('init', () => {
  it.each(SYNCHRONISERS)(
    'may not suspend its LP: there is nothing to wait for: %s',
    async (synch) => {
      const model = small({
        state: {},
        message: {},
        init(lp) {
          lp.send(lp.id, 1);
          lp.suspend('from the start');
        },
        forward() {},
      });
      expect(await failureOf(run(model, { synch, lookahead: 1 }))).toContain(
        'suspended itself: from the start',
      );
    },
  );

  it.each(SYNCHRONISERS)('that throws ends the run: %s', async (synch) => {
    const model = small({
      lps: 3,
      state: {},
      message: {},
      init(lp) {
        if (lp.id === 1) throw new Error('not today');
      },
      forward() {},
    });
    expect(await failureOf(run(model, { synch, lookahead: 1 }))).toMatch(
      /LP 1 .*init.*: not today/,
    );
  });

  it.each(SYNCHRONISERS)('may leave nothing to do: %s', async (synch) => {
    const model = small({ lps: 3, state: { x: 'u8' }, message: {}, init() {}, forward() {} });
    const { run: result } = await run(model, { synch, lookahead: 1 });
    expect([result.finished, result.netEvents, result.gvt]).toEqual([true, 0, 10]);
  });

  it('may use random numbers and normal pairs, whose second value is kept', async () => {
    const model = small({
      lps: 4,
      state: { sum: 'f64' },
      message: {},
      init(lp) {
        lp.state.sum = lp.normal01();
        lp.send((lp.id + 1) % 4, 1);
      },
      forward(lp) {
        lp.state.sum += lp.normal01();
        lp.send((lp.id + 1) % 4, lp.exponential(0.5));
      },
    });
    const want = (await run(model, { synch: 'sequential' })).run;
    const got = lockstep(model, { synch: 'optimistic', pes: 2 }, [{ pe: 1, turns: 20 }]).run;
    expect(got.eventsRolledBack).toBeGreaterThan(0);
    expect([got.stateDigest, got.eventDigest]).toEqual([want.stateDigest, want.eventDigest]);
  });
});

describe('commit', () => {
  /** Two LPs that send to each other and tell of commits in arrays. */
  function telling(act: (lp: { readonly now: number; readonly state: { n: number } }) => void) {
    return defineModel({
      name: 'telling',
      end: 20,
      options: { lps: int(4, 'LPs') },
      lps: (o) => o.lps,
      state: { n: 'u32' },
      message: { from: 'u8' },
      init: (lp) => {
        lp.send(lp.id, 0.5).from = lp.id;
      },
      forward(lp) {
        lp.state.n++;
        lp.send(lp.integer(0, 3), lp.exponential(0.5)).from = lp.id;
      },
      commit: (lp) => act(lp as unknown as { now: number; state: { n: number } }),
    });
  }

  it.each(SYNCHRONISERS)('is called once per event, in order for each LP: %s', async (synch) => {
    const seen: [number, number][] = [];
    const model = telling((lp) => {
      seen.push([(lp as unknown as { id: number }).id, lp.now]);
    });
    const { run: result } = await run(model, {
      synch,
      lookahead: synch === 'conservative' ? 1e-9 : 0,
    });
    expect(seen.length).toBe(result.netEvents);
    for (let id = 0; id < 4; id++) {
      const times = seen.filter(([lp]) => lp === id).map(([, time]) => time);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(times.length).toBeGreaterThan(5);
    }
  });

  it.each(SYNCHRONISERS)('cannot change the state, which may be ahead of it: %s', async (synch) => {
    const model = telling((lp) => {
      lp.state.n = 7;
    });
    expect(await failureOf(run(model, { synch, lookahead: 1e-9 }))).toMatch(/read-only/);
  });

  it.each(SYNCHRONISERS)('that throws ends the run: %s', async (synch) => {
    const model = telling((lp) => {
      if (lp.now > 3) throw new Error('cannot note this');
    });
    expect(await failureOf(run(model, { synch, lookahead: 1e-9 }))).toMatch(
      /^LP \d \(telling\) at virtual time 3\..*: cannot note this/,
    );
  });

  it.each(SYNCHRONISERS)(
    'that throws is placed right among several LP types: %s',
    async (synch) => {
      const quiet: LpType<{ readonly n: 'u32' }, Record<never, never>, null> = {
        state: { n: 'u32' },
        init: (lp) => void lp.send(lp.id, 1 + lp.id / 10),
        forward(lp) {
          lp.state.n++;
          lp.send(lp.id, 1);
        },
      };
      const model = defineModel({
        name: 'several',
        end: 20,
        lps: () => 4,
        prepare: () => null,
        message: {},
        types: {
          quiet,
          loud: {
            ...quiet,
            commit(lp) {
              if (lp.now > 4) throw new Error('cannot note this');
            },
          } as typeof quiet,
        },
        typeOf: (lp) => (lp === 2 ? 'loud' : 'quiet'),
      });
      expect(await failureOf(run(model, { synch, lookahead: 0.5 }))).toMatch(
        /^LP 2 \(loud\) at virtual time 4\.2.*: cannot note this/,
      );
    },
  );
});
