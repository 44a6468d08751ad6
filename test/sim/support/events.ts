/** Events by hand, for tests of the queue and of event order: records, and what they should say. */
import {
  BITS,
  DEST,
  EventPool,
  EXTRA,
  LocalBudget,
  PATH,
  PENDING,
  RECV,
  SEND,
  SOURCE,
  STATE,
  TIE,
} from '../../../src/sim/event.ts';
import { Signatures } from '../../../src/sim/signature.ts';

/** What decides an event's place, in order of importance. */
export interface Key {
  readonly time: number;
  readonly priority: number;
  /** The tie-breakers of the zero-offset events that led here, then its own. */
  readonly list: readonly number[];
  readonly source: number;
  readonly sendTime: number;
}

/** The order of events, as documented: written for reading, not for speed. */
export function compareKeys(a: Key, b: Key): number {
  if (a.time !== b.time) return a.time - b.time;
  if (a.priority !== b.priority) return a.priority - b.priority;
  for (let k = 0; k < Math.min(a.list.length, b.list.length); k++) {
    const d = (a.list[k] as number) - (b.list[k] as number);
    if (d !== 0) return d;
  }
  if (a.list.length !== b.list.length) return a.list.length - b.list.length;
  if (a.source !== b.source) return a.source - b.source;
  return a.sendTime - b.sendTime;
}

export interface Made {
  readonly pool: EventPool;
  readonly signatures: Signatures;
  /** A record with this key; its priority and list are given to it by `adopt` where they are unusual. */
  make(key: Key): number;
  free(h: number): void;
}

export function maker(capacity: number): Made {
  // A pool is never smaller than this.
  const records = Math.max(capacity, 64);
  const pool = new EventPool(0, records, new LocalBudget(records));
  const signatures = new Signatures(pool, { of: (h) => pool.F[h + TIE] });
  return {
    pool,
    signatures,
    make(key) {
      const h = pool.alloc();
      if (h === 0) throw new Error('the test pool is full');
      const { F, I } = pool;
      const i = h << 1;
      F[h + RECV] = key.time;
      F[h + SEND] = key.sendTime;
      F[h + TIE] = key.list.at(-1) ?? 0;
      I[i + SOURCE] = key.source;
      I[i + DEST] = 0;
      I[i + STATE] = PENDING;
      I[i + BITS] = 0;
      I[i + PATH] = 0;
      I[i + EXTRA] = 0;
      if (key.priority !== 1 || key.list.length > 1) {
        const prefix = Float64Array.from(key.list.slice(0, -1));
        signatures.adopt(h, key.priority, prefix, 0, prefix.length);
      }
      return h;
    },
    free(h) {
      signatures.drop(h);
      pool.free(h);
    },
  };
}

/** A small random generator for bulk data whose seed fast-check chooses: mulberry32. */
export function randomFrom(seed: number): () => number {
  let a = seed | 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
