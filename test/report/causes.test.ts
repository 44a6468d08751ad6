/** Why one run took longer than another: sums that add up, the lane that is to blame, and when it began. */
import { describe, expect, it } from 'vitest';
import { type Explanation, explain } from '../../src/report/compare/causes/explain.ts';
import { GrowingCourse, type TimePart, type Times } from '../../src/report/compare/causes/lanes.ts';

const PARTS: readonly TimePart[] = [
  { key: 'work', label: 'event handlers', isWait: false },
  { key: 'undo', label: 'rolling back', isWait: false },
  { key: 'rest', label: 'waiting and not timed', isWait: true },
];

/** Seconds that a PE works and undoes in each of `steps` equal steps of virtual time; all wait for the slowest. */
function run(
  steps: number,
  spend: (pe: number, step: number) => readonly [number, number],
  pes = 4,
): Times {
  const lanes = Array.from({ length: pes }, (_, pe) => ({
    pe,
    growing: new GrowingCourse(),
    sums: [0, 0, 0],
  }));
  let time = 0;
  for (let step = 0; step < steps; step++) {
    const each = lanes.map(({ pe }) => spend(pe, step));
    const length = Math.max(...each.map(([work, undo]) => work + undo));
    time += length;
    for (const { pe, growing, sums } of lanes) {
      const [work, undo] = each[pe];
      for (const [k, one] of [work, undo, length - work - undo].entries()) sums[k] += one;
      growing.add(time, step + 1, sums);
    }
  }
  return {
    ...{ kind: 'PE', progress: 'virtual time', parts: PARTS, wall: time },
    lanes: lanes.map(({ pe, growing, sums }) => ({
      name: `PE ${pe}`,
      seconds: time,
      course: growing.end(time, steps, sums),
    })),
  };
}

function explained(a: readonly Times[], b: readonly Times[]): Explanation {
  const found = explain(a, b);
  if (found === null) throw new Error('nothing was explained');
  const sum = found.causes.reduce((all, one) => all + one.difference, 0);
  // Whatever is told, it adds up to the difference of the times.
  expect(sum).toBeCloseTo(found.b - found.a, 9);
  expect(found.difference).toBeCloseTo(found.b - found.a, 12);
  return found;
}

const even = run(1000, () => [0.01, 0]);

describe('why a run took longer', () => {
  it('names the PE that was late, not those that waited for it, and when it began', () => {
    // From step 210 on, PE 3 works 1.3 s more than before: 790 steps.
    const late = run(1000, (pe, step) => [pe === 3 && step >= 210 ? 0.01 + 1.3 / 790 : 0.01, 0]);
    const found = explained([even], [late]);
    expect(found).toMatchObject({ lane: 'PE 3', bound: null });
    expect(found.causes[0]).toMatchObject({
      what: 'event handlers',
      difference: expect.closeTo(1.3, 9),
    });
    expect(found.causes[0].from).toBeCloseTo(2.1, 1);
    expect(found.sentence).toBe(
      'B is 1.3 s slower than A (11.3 s instead of 10 s): 1.3 s of it in event handlers of PE 3, from 2.1 s on.',
    );
    // The others waited as long.
    expect(found.lanes[0].lane).toBe('PE 3');
    expect(found.lanes[1].parts[2]).toBeCloseTo(1.3, 9);
    // The other way round PE 3 is to blame as well.
    const faster = explained([late], [even]);
    expect(faster).toMatchObject({ lane: 'PE 3' });
    expect(faster.sentence).toContain('B is 1.3 s faster than A');
  });

  it('of what all PEs do longer tells the mean, causes first, what became less last', () => {
    const undoing = run(1000, (_, step) => [0.009, step < 500 ? 0 : 0.006]);
    const { causes, lane, sentence } = explained([even], [undoing]);
    expect(lane).toBeNull();
    expect(causes.map(({ what }) => what)).toEqual(['rolling back', 'event handlers']);
    expect(causes.map(({ difference }) => difference)).toEqual([
      expect.closeTo(3, 9),
      expect.closeTo(-1, 9),
    ]);
    expect(causes[0].from).toBeCloseTo(4.5, 1);
    expect(sentence).toBe(
      'B is 2 s slower than A (12 s instead of 10 s): 3 s more in rolling back, from 4.5 s on; 1 s less in event handlers (the mean of all PEs).',
    );
    // Also where the run was longer than its samples, which is told last.
    const longer = (times: Times): Times => ({ ...times, wall: times.wall + 0.1 });
    expect(explained([even], [longer(undoing)]).sentence).toContain('; 1 s less in event handlers');
    expect(explained([longer(undoing)], [even]).sentence).toMatch(
      /: 3 s less in rolling back.*; 1 s more in event handlers/,
    );
  });

  it('says that a difference has been there from the start, and names a wait of one PE', () => {
    const slower = run(500, () => [0.03, 0]);
    expect(explained([run(500, () => [0.02, 0])], [slower]).sentence).toContain(
      'event handlers, from the start',
    );
    // A wait that only one has: the others work meanwhile, each on something else.
    const waits = run(1000, (pe, step) => {
      if (step < 500 || pe === 0) return [0.01, 0];
      return pe === 1 ? [0.012, 0] : pe === 2 ? [0.011, 0.001] : [0.0105, 0.0015];
    });
    expect(explained([even], [waits]).lane).toBe('PE 0');
  });

  it('of other numbers of PEs compares a mean one', () => {
    const two = run(1000, () => [0.02, 0], 2);
    const { lane, causes, lanes } = explained([even], [two]);
    expect([lane, lanes]).toEqual([null, []]);
    expect(causes[0].difference).toBeCloseTo(10, 9);
  });

  it('of repeated runs explains those with the median time, and says what chance explains', () => {
    const took = (seconds: number) => run(100, () => [seconds / 100, 0]);
    const noisy = explained([10, 12, 11].map(took), [11.2, 13, 9.5].map(took));
    expect([noisy.a, noisy.b]).toEqual([expect.closeTo(11, 9), expect.closeTo(11.2, 9)]);
    expect(noisy.bound).toBeGreaterThan(0.2);
    expect(noisy.sentence).toContain('Repeated runs differ as much by chance');
    expect(
      explained([10, 10.1, 10.05].map(took), [20, 20.1, 20.2].map(took)).sentence,
    ).not.toContain('chance');
    expect(explained([took(10)], [took(10.01)]).sentence).toBe(
      'B and A took equally long: 10 s instead of 10 s.',
    );
  });

  it('keeps few moments of a course, however long', () => {
    const growing = new GrowingCourse();
    for (let k = 1; k <= 100_000; k++) growing.add(k, k, [k]);
    const { times, spent } = growing.end(100_000, 100_000, [100_000]);
    expect(times.length).toBeLessThanOrEqual(401);
    expect(times.length).toBeGreaterThan(150);
    expect(spent[0]).toEqual(times);
  });
});
