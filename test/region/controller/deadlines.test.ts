/** Moments of sampling: even ones, however late each sample is. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Deadlines } from '../../../src/region/controller/deadlines.ts';

describe('deadlines', () => {
  it('make the interval behind a late sample shorter', () => {
    const deadlines = new Deadlines(0.01);
    deadlines.start(100);
    expect(deadlines.wait(100)).toBe(10);
    deadlines.take(113);
    expect(deadlines.wait(113)).toBe(7);
    deadlines.take(120);
    expect(deadlines.wait(120)).toBe(10);
    expect(deadlines.punctuality).toMatchObject({ samples: 2, missed: 0, worstLate: 0.003 });
  });

  it('count moments that passed altogether', () => {
    const deadlines = new Deadlines(0.01);
    deadlines.start(0);
    deadlines.take(35);
    expect(deadlines.wait(35)).toBe(5);
    expect(deadlines.punctuality).toMatchObject({ samples: 1, missed: 2, worstLate: 0.025 });
  });

  it('take or count every moment', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 }), (delays) => {
        const deadlines = new Deadlines(0.01);
        deadlines.start(0);
        let now = 0;
        for (const delay of delays) {
          now += deadlines.wait(now) + delay / 10;
          deadlines.take(now);
        }
        const { samples, missed } = deadlines.punctuality;
        expect(samples).toBe(delays.length);
        // The next moment is number samples + missed + 1.
        expect(now + deadlines.wait(now)).toBeGreaterThanOrEqual(
          (samples + missed + 1) * 10 - 1e-6,
        );
        expect(now).toBeLessThan((samples + missed + 1) * 10 + 1e-6);
      }),
    );
  });
});
