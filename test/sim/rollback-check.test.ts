/** The synchronisers that prove a model's rollback: they pass what is right and name what is wrong. */
import '../support/small-machine.ts';
import { defineModel, type LpType, type Model, type Settings, simulate } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { lockstep } from './support/lockstep.ts';

const STATE = { count: 'u32', sum: 'f64', odd: 'bool' } as const;
const MESSAGE = { n: 'u32', before: 'f64' } as const;
type Type = LpType<typeof STATE, typeof MESSAGE, null>;

/** A model whose `reverse` is right, or that with a part of it replaced. */
function model(change: Partial<Type> = {}): Model {
  return defineModel({
    name: 'counting',
    end: 20,
    lps: () => 4,
    prepare: () => null,
    state: STATE,
    message: MESSAGE,
    init(lp) {
      lp.send(lp.id, 1).n = 3;
    },
    forward(lp, m) {
      const s = lp.state;
      m.before = s.sum;
      s.count++;
      s.sum = s.sum / 2 + lp.now;
      s.odd = !s.odd;
      lp.send(lp.integer(0, 3), lp.exponential(1)).n = m.n + 1;
    },
    reverse(lp, m) {
      const s = lp.state;
      s.count--;
      s.sum = m.before;
      s.odd = !s.odd;
      m.before = 0;
    },
    ...change,
  });
}

const run = (m: Model, settings: Settings) => simulate(m, { maxMemory: 2 ** 22, ...settings });
const failureOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'it did not fail',
    (error: unknown) => (error as Error).message,
  );
const PROOFS = ['rollback-check', 'optimistic-debug'] as const;

describe.each(PROOFS)('%s', (synch) => {
  it('passes a reverse that is right', async () => {
    const want = await run(model(), { synch: 'sequential' });
    const got = await run(model(), { synch });
    expect([got.stateDigest, got.eventDigest]).toEqual([want.stateDigest, want.eventDigest]);
    expect(got.netEvents).toBe(want.netEvents);
  });

  it('finds what a reverse forgets', async () => {
    const forgetful = model({
      reverse(lp, m) {
        lp.state.count--;
        lp.state.odd = !lp.state.odd;
        m.before = 0;
      },
    });
    expect(await failureOf(run(forgetful, { synch }))).toMatch(/restore/);
  });

  it('finds a message that is not restored', async () => {
    const forgetful = model({
      forward(lp, m) {
        m.n++;
        lp.state.count += m.n;
        lp.send(lp.id, lp.exponential(1)).n = m.n;
      },
      reverse(lp, m) {
        lp.state.count -= m.n;
      },
    });
    expect(await failureOf(run(forgetful, { synch }))).toMatch(/restore|again/);
  });

  it('finds what depends on more than state and message', async () => {
    let hidden = 0;
    const secretive = model({
      forward(lp) {
        hidden++;
        lp.state.count += hidden;
        lp.event.bits = hidden;
        lp.send(lp.id, 1);
      },
      reverse(lp) {
        lp.state.count -= lp.event.bits;
      },
    });
    if (synch === 'optimistic-debug') {
      expect(await failureOf(run(secretive, { synch }))).toMatch(/again gives another state/);
    }
  });

  it('says where a reverse throws', async () => {
    const throwing = model({
      reverse() {
        throw new Error('no way back');
      },
    });
    expect(await failureOf(run(throwing, { synch }))).toMatch(
      /^LP \d \(counting\) at virtual time [^\n]*no way back/,
    );
  });
});

describe('rollback-check', () => {
  it('finds what a reverse forgets once in a while', async () => {
    const forgetful = model({
      reverse(lp, m) {
        const s = lp.state;
        if (lp.event.source !== lp.id || s.count % 5 !== 0) s.sum = m.before;
        s.count--;
        s.odd = !s.odd;
        m.before = 0;
      },
    });
    expect(await failureOf(run(forgetful, { synch: 'rollback-check' }))).toMatch(/restore/);
  });

  it('names the field, the LP, the time and the message', async () => {
    const forgetful = model({
      reverse(lp, m) {
        lp.state.count--;
        lp.state.sum = m.before;
        m.before = 0;
      },
    });
    expect(await failureOf(run(forgetful, { synch: 'rollback-check' }))).toMatch(
      /^LP \d \(counting\) at virtual time 1, message {"n":3,"before":0}: reverse\(\) does not restore state\.odd/,
    );
  });
});

describe('an optimistic run', () => {
  it('says where a reverse throws', () => {
    const throwing = model({
      reverse() {
        throw new Error('no way back');
      },
    });
    const settings: Settings = { synch: 'optimistic', pes: 2, batch: 8, end: 100 };
    expect(() => lockstep(throwing, settings, [{ pe: 1, turns: 20 }])).toThrow('no way back');
  });
});
