/** How turns are chosen to be timed, and what a timed one stands for. */
import { describe, expect, it } from 'vitest';
import { ActivityClock, Draw, TIMED_EVERY } from '../../src/sim/clock.ts';
import { A } from '../../src/sim/counters.ts';

describe('a draw', () => {
  it('times one of each 64 turns, any of them as often as another', () => {
    const draw = new Draw(TIMED_EVERY, 7);
    const hits = new Array<number>(TIMED_EVERY).fill(0);
    for (let block = 0; block < 6400; block++) {
      const timed = hits.flatMap((_, k) => (draw.next() ? [k] : []));
      expect(timed).toHaveLength(1);
      hits[timed[0]]++;
    }
    // 100 each, give or take five standard deviations: a GVT every 16 turns is neither always hit nor never.
    for (const count of hits) expect(Math.abs(count - 100)).toBeLessThan(50);
  });
});

describe('the clock of a PE', () => {
  const spin = (ms: number) => {
    for (const end = performance.now() + ms; performance.now() < end; );
  };
  const timed = () => {
    const seconds = new Float64Array(Object.keys(A).length);
    return { clock: new ActivityClock(true, seconds), seconds };
  };

  it('counts a turn of one event, which is timed alone', () => {
    const { clock, seconds } = timed();
    clock.turn();
    clock.sampleEvent(
      () => 1,
      () => {},
      () => spin(5),
    );
    clock.endBatch(clock.begin(), 0, 1);
    clock.share();
    expect(seconds[A.eventProcess] + seconds[A.priorityQueue]).toBeGreaterThan(0.0045);
  });

  it('counts the event that is timed alone as one of its batch', () => {
    const { clock, seconds } = timed();
    clock.turn();
    clock.sampleEvent(
      () => 1,
      () => {},
      () => spin(2),
    );
    const started = clock.begin();
    spin(6);
    clock.endBatch(started, 3, 1);
    clock.share();
    // Three events took 6 ms: four take 8.
    expect(seconds[A.eventProcess] + seconds[A.priorityQueue]).toBeGreaterThan(0.0075);
  });

  it('takes rollbacks out of what they happen in: reading, a batch, a GVT', () => {
    const { clock, seconds } = timed();
    const gvt = clock.begin();
    clock.enter('gvt');
    const undone = clock.beginSampled('rollback');
    spin(6);
    clock.endSampled('rollback', undone);
    clock.enter('batch');
    spin(2);
    clock.endGvt(gvt);
    expect(seconds[A.rollback]).toBeGreaterThan(0.0055);
    // Not the 8 ms of both. A machine that stops us in between makes it longer, not the test fail.
    expect(seconds[A.gvt] + seconds[A.rollback]).toBeLessThan((performance.now() - gvt) / 1000);
  });
});
