/** How turns are chosen to be timed, and what a timed one stands for. */
import '../support/small-machine.ts';
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
    clock.endBatch(clock.begin(), 0);
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
    clock.endBatch(started, 3);
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
    expect(seconds[A.gvt] + seconds[A.rollback]).toBeLessThan((clock.now() - gvt) / 1000);
  });

  /** A PE whose time is made up: µs of what a turn consists of, and how often its thread loses the CPU for 10 ms. */
  const PREEMPTED = 10;
  const madeUp = (seed: number, { turns, preempted }: { turns: number; preempted: number }) => {
    let at = 0;
    const seconds = new Float64Array(Object.keys(A).length);
    const clock = new ActivityClock(true, seconds, () => at);
    const pass = (us: number) => {
      at += us / 1000;
    };
    let state = seed;
    const random = () => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return state / 2 ** 32;
    };
    // The same number of them on each PE, at moments drawn at random: by turn, µs of its work after which it comes.
    const work = 2 + 16 * 1.4 + 1;
    const lost = new Map(
      Array.from({ length: preempted }, () => [Math.floor(random() * turns), random() * work]),
    );
    let left = Number.NaN;
    const works = (us: number) => {
      if (left < us) pass(1000 * PREEMPTED);
      left -= us;
      if (left < 0) left = Number.NaN;
      pass(us);
    };
    const one = () => {
      clock.sampleEvent(
        () => {
          pass(0.2);
          return 1;
        },
        () => pass(0.2),
        () => pass(1),
      );
    };
    clock.resume();
    for (let turn = 0; turn < turns; turn++) {
      const isTimed = clock.turn();
      left = lost.get(turn) ?? Number.NaN;
      const read = isTimed ? clock.begin() : 0;
      works(2);
      if (isTimed) {
        clock.lap('read', read);
        one();
      }
      const started = isTimed ? clock.begin() : 0;
      const others = isTimed ? 15 : 16;
      works(1.4 * others);
      if (isTimed) clock.endBatch(started, others);
      const flush = isTimed ? clock.begin() : 0;
      works(1);
      if (isTimed) clock.lap('other', flush);
      clock.busy();
      if (turn % 16 !== 15) continue;
      const gvt = clock.beginApart();
      pass(3);
      clock.endGvt(gvt);
      // Waits for the others: as long as it worked.
      for (let k = 0; k < 8; k++) {
        clock.turn();
        pass(1);
        clock.rest();
        pass(50);
        clock.rested();
      }
    }
    clock.pause();
    clock.share();
    return { seconds, wall: at / 1000, lost: (lost.size * PREEMPTED) / 1000 };
  };

  it('gives PEs of equal work equal times, whichever of their turns were interrupted while they were timed', () => {
    const turns = 40_000;
    const pes = [1, 2, 3, 4, 5, 6].map((seed) => madeUp(seed, { turns, preempted: 60 }));
    const work = turns * (2 + 16 * 1.4 + 1) * 1e-6;
    for (const { seconds, wall, lost } of pes) {
      // 1 turn in 64 was timed, 60 were interrupted for 10 ms: where one of those counts 64 times, it is 0.64 s too much.
      const share = (part: number) => ((turns * part * 1e-6) / work) * (work + lost);
      const handled = seconds[A.eventProcess] + seconds[A.priorityQueue];
      expect(Math.abs(handled / share(16 * 1.4) - 1)).toBeLessThan(0.06);
      expect(Math.abs(seconds[A.networkRead] / share(2) - 1)).toBeLessThan(0.5);
      expect(Math.abs(seconds[A.networkOther] / share(1) - 1)).toBeLessThan(0.5);
      expect(seconds[A.gvt]).toBeCloseTo((turns / 16) * 3e-6, 6);
      const all = handled + seconds[A.networkRead] + seconds[A.networkOther] + seconds[A.gvt];
      expect(all).toBeLessThan(wall);
    }
  });
});
