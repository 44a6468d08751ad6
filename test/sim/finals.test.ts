/** Events that are final as soon as they are handled: which, and what is known of messages under way. */
import '../support/small-machine.ts';
import { simulate } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { Finals, LAST_FINAL, LBTS } from '../../src/sim/finals.ts';
import { Unseen } from '../../src/sim/transport/unseen.ts';

describe('what another PE may not have taken into account', () => {
  it('is told by the place in the ring at which a batch ends', () => {
    const unseen = new Unseen();
    expect(unseen.least(0)).toBe(Infinity);
    unseen.post(7);
    unseen.post(5);
    expect([unseen.unpublished, unseen.least(0)]).toEqual([5, 5]);
    unseen.publish(2);
    unseen.post(6);
    unseen.publish(3);
    expect([unseen.unpublished, unseen.least(1)]).toEqual([Infinity, 5]);
    expect(unseen.least(2)).toBe(6);
    unseen.post(9);
    expect(unseen.least(3)).toBe(9);
  });

  it('is right where slots are counted beyond 2^31', () => {
    const unseen = new Unseen();
    const last = 2 ** 31 - 1;
    unseen.post(4);
    unseen.publish(last);
    unseen.post(8);
    unseen.publish((last + 1) | 0);
    expect([unseen.least(last - 1), unseen.least(last)]).toEqual([4, 8]);
    expect(unseen.least((last + 1) | 0)).toBe(Infinity);
  });

  it('is never later than it is, however many batches there are', () => {
    const unseen = new Unseen();
    for (let k = 1; k <= 200; k++) {
      unseen.post(k);
      unseen.publish(k);
    }
    // 63 batches, and all others as one.
    const leasts = [0, 62, 63, 150, 199].map((seen) => unseen.least(seen));
    expect(leasts).toEqual([1, 63, 64, 64, 64]);
    expect(unseen.least(200)).toBe(Infinity);
  });
});

describe('the bound of what is final', () => {
  it('rises by what others say, and falls by what is sent', () => {
    const finals = new Finals(0.5);
    expect(finals.times[LBTS]).toBe(-Infinity);
    finals.foresee(8);
    expect(finals.times[LBTS]).toBe(-Infinity);
    finals.raise();
    finals.foresee(6);
    finals.raise();
    expect(finals.times[LBTS]).toBe(8);
    finals.sent(9);
    expect(finals.times[LBTS]).toBe(8);
    finals.sent(7);
    expect(finals.times[LBTS]).toBe(7.5);
    finals.drop();
    expect(finals.times[LBTS]).toBe(-Infinity);
  });

  it('does not rise past what may answer a message that is sent while what arrives is drained', () => {
    const finals = new Finals(0.5);
    finals.foresee(8);
    finals.sent(4);
    finals.raise();
    expect(finals.times[LBTS]).toBe(4.5);
  });

  it('ends a run in which something comes too late, rather than to let it be wrong', () => {
    const finals = new Finals(0.5);
    finals.expectAfter(0);
    finals.times[LAST_FINAL] = 3;
    finals.expectAfter(3);
    expect(() => finals.expectAfter(2.5)).toThrow(
      'virtual time 2.5 arrived after one of 3 was final',
    );
    expect(finals.settled).toBeGreaterThan(3);
  });
});

it('one optimistic PE needs no more event memory than a sequential run', async () => {
  const settings = { end: 20, lookahead: 0.1, options: { 'total-lps': 64 } };
  const one = await simulate('phold', { ...settings, synch: 'sequential' });
  const two = await simulate('phold', { ...settings, synch: 'optimistic', pes: 1 });
  expect(two.stateDigest).toBe(one.stateDigest);
  expect(two.peakEvents).toBe(one.peakEvents);
});
