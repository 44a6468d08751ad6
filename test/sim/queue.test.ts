/** The queue of pending events against a sorted list: the same order, whatever comes and goes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEventQueue } from '../../src/sim/queue.ts';
import { compareKeys, type Key, maker, randomFrom } from './support/events.ts';

interface Pending {
  readonly key: Key;
  readonly h: number;
}

/** A queue beside a sorted list; each step is done to both and must give the same. */
class Pair {
  readonly made;
  readonly queue;
  readonly list: Pending[] = [];
  last = 0;
  private turn = 0;

  constructor(capacity: number) {
    this.made = maker(capacity);
    this.queue = createEventQueue(this.made.pool, this.made.signatures, new Int32Array(64), 0);
  }

  push(key: Key): void {
    const h = this.made.make(key);
    let lo = 0;
    let hi = this.list.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (compareKeys((this.list[mid] as Pending).key, key) < 0) lo = mid + 1;
      else hi = mid;
    }
    this.list.splice(lo, 0, { key, h });
    this.queue.push(key.time, h);
  }

  pop(): void {
    const want = this.list.shift();
    // Half of them by their time, which first gives nothing where the bound excludes it.
    const time = want?.key.time ?? 0;
    const byTime = this.turn++ % 2 === 0;
    // One `expect` each would cost more than the queue.
    const early = byTime ? this.queue.take(time) : 0;
    if (early !== 0) this.complain(undefined, early);
    const got = byTime ? this.queue.take(Infinity) : this.queue.pop();
    if (got !== (want?.h ?? 0)) this.complain(want, got);
    if (want !== undefined) {
      this.last = want.key.time;
      this.made.free(got);
    }
  }

  peek(): void {
    const want = this.list[0];
    const got = this.queue.peek();
    if (got !== (want?.h ?? 0)) this.complain(want, got);
  }

  sweep(keep: (index: number) => boolean): void {
    const gone = new Set<number>();
    const kept = this.list.filter(({ h }, index) => {
      if (keep(index)) return true;
      gone.add(h);
      return false;
    });
    this.list.length = 0;
    this.list.push(...kept);
    const offered: number[] = [];
    this.queue.sweep((h) => {
      offered.push(h);
      if (!gone.has(h)) return true;
      this.made.free(h);
      return false;
    });
    expect(offered.length).toBe(kept.length + gone.size);
    expect(new Set(offered).size).toBe(offered.length);
  }

  drain(): void {
    while (this.list.length > 0) this.pop();
    this.pop();
    expect(this.made.pool.live).toBe(0);
  }

  private complain(want: Pending | undefined, got: number): never {
    const F = this.made.pool.F;
    throw new Error(
      `expected ${JSON.stringify(want?.key)} (record ${want?.h}), got record ${got} of time ${F[got]}`,
    );
  }
}

const key = (time: number, more: Partial<Key> = {}): Key => ({
  time,
  priority: 1,
  list: [0.5],
  source: 0,
  sendTime: 0,
  ...more,
});

/** Few values, so that ties are common in every part of a key. */
const anyTie = fc.constantFrom(0.1, 0.2, 0.3, 0.4, 0.5);
const anyTime = fc.oneof(
  fc.constantFrom(0, 1, 1, 2, 3, 3, 3, 10, 1e-300, 1e300, 1e308),
  fc.integer({ min: 0, max: 20 }),
  fc.double({ min: 0, max: 100, noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: 0, max: 1e308, noNaN: true }),
);
const anyKey: fc.Arbitrary<Key> = fc.record({
  time: anyTime,
  priority: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.constantFrom(0, 0.5, 2)),
  list: fc.oneof(
    { weight: 3, arbitrary: fc.tuple(anyTie) },
    fc.array(anyTie, { minLength: 1, maxLength: 4 }),
  ),
  source: fc.nat(3),
  sendTime: fc.constantFrom(0, 1, 2),
});

type Step = { readonly push: Key } | { readonly keep: number } | 'pop' | 'peek';
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ push: anyKey }) },
  { weight: 4, arbitrary: fc.constant('pop' as const) },
  { weight: 2, arbitrary: fc.constant('peek' as const) },
  { weight: 1, arbitrary: fc.record({ keep: fc.integer({ min: 1, max: 4 }) }) },
);

/** No two pending events may have the same whole key: their order is then nobody's to say. */
const identity = (k: Key) => JSON.stringify([k.time, k.priority, k.list, k.source, k.sendTime]);

describe('the event queue', () => {
  it('is a sorted list, step by step', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 250 }), (steps) => {
        const pair = new Pair(300);
        for (const step of steps) {
          if (step === 'pop') pair.pop();
          else if (step === 'peek') pair.peek();
          else if ('keep' in step) pair.sweep((k) => k % step.keep === 0);
          else if (!pair.list.some((p) => identity(p.key) === identity(step.push))) {
            pair.push(step.push);
          }
        }
        pair.drain();
      }),
      { numRuns: 300 },
    );
  });

  /** Times of events, given the time popped last and a uniform number. */
  const SHAPES: Readonly<Record<string, (last: number, u: number, v: number) => number>> = {
    'exponential steps': (last, u) => last - Math.log(1 - u),
    'one time': () => 7,
    'a grid': (last, u) => Math.floor(last) + Math.floor(u * 4),
    'steps of very different sizes': (last, u, v) => last + 10 ** (u * 300 - 150) * v,
    'two clusters': (last, u, v) => last + (u < 0.5 ? v * 1e-9 : 1000 + v),
    'tiny times': (last, u) => last + u * 1e-308,
    'the smallest times there are': (last, u) => last + Math.floor(u * 10) * 5e-324,
    'neighbouring doubles far out': (last, u) => Math.max(last, 2 ** 52) + Math.floor(u * 8),
    'huge times': (last, u) => Math.min(1.7e308, last + u * 1e306),
    'all over the past': (last, u) => last * 0.9 + u * 10,
    'mostly now': (last, u, v) => (u < 0.9 ? last : last + v),
    'one far outlier in many': (last, u, v) => (u < 0.01 ? 1e18 : last + v),
    falling: (_last, u, v) => 1e6 * (1 - v) + u,
  };

  it.each(Object.keys(SHAPES))('keeps thousands in order: %s', (name) => {
    const shape = SHAPES[name] as (last: number, u: number, v: number) => number;
    const cases = fc.record({
      seed: fc.integer(),
      fill: fc.integer({ min: 0, max: 5000 }),
      turns: fc.integer({ min: 0, max: 6000 }),
      pushes: fc.double({ min: 0.2, max: 0.7, noNaN: true }),
      unusual: fc.constantFrom(0, 0, 0.2),
    });
    fc.assert(
      fc.property(cases, ({ seed, fill, turns, pushes, unusual }) => {
        const random = randomFrom(seed);
        const pair = new Pair(12_000);
        let count = 0;
        const push = () => {
          const list = [random()];
          // Rounded tie-breakers are often equal; source and send time then decide.
          if (random() < 0.3) list[0] = Math.round((list[0] as number) * 4) / 4;
          while (random() < unusual) list.push(random());
          pair.push({
            time: shape(pair.last, random(), random()),
            priority: random() < unusual ? Math.round(random() * 4) / 2 : 1,
            list,
            source: Math.floor(random() * 5),
            sendTime: count++,
          });
        };
        for (let k = 0; k < fill; k++) push();
        for (let k = 0; k < turns; k++) {
          const u = random();
          if (u < pushes) push();
          else if (u > 0.9997) pair.sweep(() => random() < 0.5);
          else if (u > 0.95) pair.peek();
          else pair.pop();
        }
        pair.drain();
      }),
      { numRuns: 6 },
    );
  });

  it('holds still: one out, one in, many times round', () => {
    for (const n of [1, 2, 3, 8, 15, 16, 17, 40, 1000]) {
      const pair = new Pair(n + 1);
      const random = randomFrom(n);
      for (let k = 0; k < n; k++) pair.push(key(random(), { list: [random()] }));
      for (let k = 0; k < 3000; k++) {
        pair.pop();
        pair.push(key(pair.last - Math.log(1 - random()), { list: [random()], sendTime: k }));
      }
      pair.drain();
    }
  });

  it('takes back what was just popped, as a rollback does', () => {
    const pair = new Pair(2000);
    const random = randomFrom(5);
    const popped: Key[] = [];
    for (let k = 0; k < 1000; k++) pair.push(key(random() * 100, { list: [random()] }));
    for (let k = 0; k < 3000; k++) {
      const first = pair.list[0];
      if (first !== undefined && random() < 0.7) {
        popped.push(first.key);
        pair.pop();
      } else {
        for (let n = Math.floor(random() * 20); n > 0 && popped.length > 0; n--) {
          pair.push(popped.pop() as Key);
        }
      }
    }
    pair.drain();
  });

  it('is empty until something comes, and empty again after', () => {
    const pair = new Pair(10);
    for (let k = 0; k < 3; k++) {
      expect(pair.queue.peek()).toBe(0);
      expect(pair.queue.pop()).toBe(0);
      pair.sweep(() => false);
      pair.push(key(k));
      pair.peek();
      pair.sweep(() => false);
      pair.push(key(k));
      pair.drain();
    }
  });

  it('fills its whole pool', () => {
    for (const time of [(k: number) => k % 7, (k: number) => k * k, (k: number) => -k + 5000]) {
      const pair = new Pair(5000);
      const all = pair.made.pool.capacity;
      for (let k = 0; k < Math.min(all, 5000); k++) pair.push(key(time(k), { list: [k] }));
      pair.drain();
    }
  });
});
