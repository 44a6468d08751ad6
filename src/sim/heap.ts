/**
 * A small heap of events in exact order, four children per node: for events that arrive in front of the buckets.
 * Closures over constants, as in `queue.ts`.
 */

import { reservedDoubles, reservedInts } from './reserved.ts';
import type { Signatures } from './signature.ts';

/** Root at 3: the children of i are 4i-8 … 4i-5, a group aligned to four. */
export const ROOT = 3;
/** Words of a heap's state: one past the last used slot; slots below CLEARED hold a key or Infinity. */
export const END = 0;
const CLEARED = 1;

interface Heap {
  /** `state[END] === ROOT` where it is empty. */
  readonly state: Int32Array;
  readonly keys: Float64Array;
  /** `handles[ROOT]` is the first event. */
  readonly handles: Int32Array;
  push(t: number, h: number): void;
  /** Takes the first; there must be one. */
  pop(): number;
  clear(): void;
}

/** A heap with room for `capacity` events. Memory that is never touched costs nothing. */
export function createHeap(capacity: number, sig: Signatures): Heap {
  const state = new Int32Array(32);
  const keys = reservedDoubles(capacity + 32);
  const handles = reservedInts(capacity + 32);
  state[END] = ROOT;
  state[CLEARED] = ROOT;

  function push(t: number, h: number): void {
    let i = state[END];
    if (i + 4 >= state[CLEARED]) clearMore();
    state[END] = i + 1;
    while (i > ROOT) {
      const parent = (i + 8) >> 2;
      const key = keys[parent];
      if (key < t) break;
      const ph = handles[parent];
      if (key === t && !sig.tieBefore(h, ph)) break;
      keys[i] = key;
      handles[i] = ph;
      i = parent;
    }
    keys[i] = t;
    handles[i] = h;
  }

  function pop(): number {
    const h = handles[ROOT];
    const last = state[END] - 1;
    state[END] = last;
    const t = keys[last];
    keys[last] = Infinity;
    if (last > ROOT) siftDown(t, handles[last]);
    return h;
  }

  function siftDown(t: number, h: number): void {
    const end = state[END];
    let i = ROOT;
    for (;;) {
      let child = (i << 2) - 8;
      if (child >= end) break;
      let best = child;
      let key = keys[child];
      // Unused slots hold Infinity, so the group of four needs no bounds tests.
      for (let n = 0; n < 3; n++) {
        child++;
        const k = keys[child];
        if (k < key || (k === key && child < end && sig.tieBefore(handles[child], handles[best]))) {
          key = k;
          best = child;
        }
      }
      if (key > t || (key === t && sig.tieBefore(h, handles[best]))) break;
      keys[i] = key;
      handles[i] = handles[best];
      i = best;
    }
    keys[i] = t;
    handles[i] = h;
  }

  function clearMore(): void {
    const to = Math.min(keys.length, state[CLEARED] + 1024);
    keys.fill(Infinity, state[CLEARED], to);
    state[CLEARED] = to;
  }

  function clear(): void {
    keys.fill(Infinity, ROOT, state[END]);
    state[END] = ROOT;
  }

  return { state, keys, handles, push, pop, clear };
}
