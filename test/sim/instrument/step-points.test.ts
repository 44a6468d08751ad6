/** Points at which threads in step are sampled: the same on both, whichever is ahead, and numbered as if one had seen all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StepPoints } from '../../../src/sim/instrument/step-points.ts';
import { type Gvt, startOfTime } from '../../../src/sim/transport/transport.ts';

const END = 1000;
/** 100 events from one sample to the next, a lookahead of 0.1. */
const points = () => new StepPoints(100, 0.1, END);
const gvt = (said: Partial<Gvt>): Gvt => ({ ...startOfTime(), ...said });

describe('points of threads in step', () => {
  it('are as far apart as the PE with the most events wants', () => {
    const one = points();
    one.agreed(gvt({ time: 1, bound: 1.1, samples: 0.05 }));
    expect(one.planned).toBe(true);
    const seen: number[] = [];
    for (let k = 0; k < 3; k++) {
      seen.push(one.next);
      one.taken(one.next);
    }
    // Twenty steps: the products of which steps are the bounds.
    expect(seen).toEqual([20 * 0.1, 40 * 0.1, 60 * 0.1]);
  });

  it('are parts of a lookahead that has many events', () => {
    const one = points();
    one.agreed(gvt({ time: 1, bound: 1.1, samples: 7 }));
    expect(one.next).toBe(89 * 0.0125);
  });

  it('are none where a PE is not in step, does not know how many events it has, or nobody has any', () => {
    for (const samples of [Infinity, 0]) {
      const one = points();
      one.agreed(gvt({ time: 1, bound: 1.1, samples }));
      expect([one.planned, one.next]).toEqual([false, Infinity]);
    }
    const [mine, one] = [startOfTime(), points()];
    one.contribute(mine, 0, 1);
    expect([mine.samples, one.stays]).toEqual([Infinity, true]);
    one.contribute(mine, 25, 1.5);
    expect([mine.samples, mine.bound]).toEqual([0.25, 1.5]);
  });

  it('before which a PE has no events are left out, as are those at and past the end', () => {
    const one = points();
    one.agreed(gvt({ time: 1, bound: 1, samples: 1 }));
    one.taken(500.05);
    expect(one.next).toBe(5001 * 0.1);
    expect(one.nextGvts).toBe(1 + 5001 - 10);
    one.taken(Infinity);
    expect(one.next).toBe(Infinity);
    one.agreed(gvt({ time: Infinity, bound: 1, samples: 1 }));
    expect([one.next, one.planned]).toEqual([Infinity, true]);
  });

  it('up to the furthest bound are those of the agreement before, for the PE that has yet to reach them', () => {
    const [ahead, behind] = [points(), points()];
    for (const one of [ahead, behind]) one.agreed(gvt({ time: 0.5, bound: 0.9, samples: 1 }));
    for (let k = 0; k < 5; k++) ahead.taken(ahead.next);
    const next = gvt({ time: 1.05, bound: 1.45, samples: Infinity });
    for (const one of [ahead, behind]) one.agreed(next);
    expect([ahead.next, ahead.planned]).toEqual([Infinity, false]);
    expect(behind.planned).toBe(false);
    const left: [number, number][] = [];
    for (; behind.next < Infinity; behind.taken(behind.next))
      left.push([behind.next, behind.nextGvts]);
    expect(left).toEqual([10, 11, 12, 13, 14].map((k) => [k * 0.1, k - 8]));
    // Five points and the second GVT: the seventh.
    expect([ahead.gvts, behind.gvts, ahead.until]).toEqual([7, 7, 1.45]);
  });

  it('and their numbers are the same on two PEs, wherever each is when agreements change', () => {
    const round = fc.record({
      // Of each PE: how far it goes in fractions of what it may.
      go: fc.tuple(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
      ),
      samples: fc.constantFrom(0.04, 0.5, 1, 3, Infinity),
    });
    fc.assert(
      fc.property(fc.array(round, { minLength: 1, maxLength: 30 }), (rounds) => {
        const pes = [points(), points()];
        const seen: [number, number][][] = [[], []];
        const bounds = [0, 0];
        const goTo = (pe: number, bound: number) => {
          const one = pes[pe] as StepPoints;
          for (; one.next < bound; one.taken(one.next)) seen[pe]?.push([one.next, one.nextGvts]);
          bounds[pe] = Math.max(bounds[pe] ?? 0, bound);
        };
        const numbers: number[] = [];
        for (const { go, samples } of rounds) {
          const least = Math.min(...bounds);
          for (const pe of [0, 1]) goTo(pe, least + (go[pe] ?? 0));
          const agreed = gvt({ time: Math.min(...bounds), bound: Math.max(...bounds), samples });
          for (const one of pes) one.agreed(agreed);
          expect(pes[0]?.gvts).toBe(pes[1]?.gvts);
          numbers.push(pes[0]?.gvts as number);
        }
        const furthest = Math.max(...bounds) + 1;
        for (const pe of [0, 1]) goTo(pe, furthest);
        expect(seen[0]).toEqual(seen[1]);
        const all = [...numbers, ...(seen[0] ?? []).map(([, n]) => n)];
        expect(new Set(all).size).toBe(all.length);
        expect(all.toSorted((x, y) => x - y)).toEqual(all.map((_, k) => k + 1));
      }),
    );
  });
});
