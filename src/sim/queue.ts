/**
 * The pending events of one PE, in exact order: a ladder of buckets, sorted a few events at a time.
 *
 *     run + heap      buckets of the rung                 far
 *     exact order     one list each, about one event      arrays, unsorted
 *     |  zone < cur |  cur … nb-1                       |  beyond the rung        > time
 *
 * An event's zone is decided by the one expression `(t - t0) * inv`, which is monotone in t: whatever is
 * in run or heap is at or before whatever is in the buckets, which is before whatever is far. So taking
 * the first of run and heap is exact, ties included.
 *
 * When run and heap are empty, the next buckets are gathered into a run of 12 to 16 events. Their
 * records, and their LPs' memory, are touched together, so that cache misses overlap instead of following
 * one another (a miss costs as much as handling an event); and they are sorted by integer keys in a network
 * without branches, and by the whole signature where two keys are the same. When the rung is used up, `far`
 * becomes a new one, or, where it is few events of one time, a run at once. Events that arrive in front of the buckets (stragglers, rolled-back events, short
 * offsets) and those of an overfull bucket go through the heap: O(log n), never quadratic.
 */

import type { EventPool } from './event.ts';
import * as layout from './layout.ts';
import type { Signatures } from './signature.ts';
import * as network from './sort-network.ts';

const { DEST, EXTRA, NEXT, RECV, TIE } = layout;

/** Heap arity 4, root at 3: the children of i are 4i-8 … 4i-5, a group aligned to four. */
const ROOT = 3;
/** Room of the run, and the number of events at which gathering stops. */
const ROOM = network.SORTED;
const GATHER = 12;
/** Bits of a sorting key beside those for its place: where an event is between the first and the last. */
const FINE = 2 ** 26;
/** Keys after those of all events. */
const LAST_KEYS = 0x7ffffe00;
const MAX_BUCKETS = 1 << 26;
/** LP memory smaller than this stays in the cache by itself. */
const TOUCH_BYTES = 1 << 17;

// Doubles of D.
const FAR_MIN = 0;
const FAR_MAX = 1;
const FAR_SUM = 2;
const T0 = 3;
const INV = 4;

// Integers of Q.
/** One past the last used heap slot; slots below CLEARED hold a key or Infinity. */
const END = 0;
const CLEARED = 1;
/** The run: positions AT to RUN_END. */
const AT = 2;
const RUN_END = 3;
/** Buckets of the rung, and the first that has not been opened. */
const NB = 4;
const CUR = 5;
const N_FAR = 6;
/** Keeps the touching loads alive. */
const TOUCHED = 7;

export interface EventQueue {
  /** Adds event `h`, whose receive time is `t` (finite). */
  push(t: number, h: number): void;
  /** The first event, still held; 0 when there is none. */
  peek(): number;
  /** Takes the first event; 0 when there is none. */
  pop(): number;
  /** Takes the first event if its time is before `bound`; 0 otherwise. */
  take(bound: number): number;
  /** Drops every event for which `keep` returns false. O(n). */
  sweep(keep: (h: number) => boolean): void;
  /** The memory that may become large: buckets, accessed at random, and what is far. */
  readonly memory: readonly ArrayBuffer[];
}

/**
 * A queue over the events of `pool`. Everything it works on is a constant of one closure, sized once for the
 * pool's capacity: V8 compiles addresses and lengths into the code, where a class's fields would be loaded
 * and checked at each access. Memory that is never touched costs nothing.
 * @param lpMemory words of the LPs' memory, `lpStride` words each, touched ahead of handling
 */
export function createEventQueue(
  pool: EventPool,
  sig: Signatures,
  lpMemory: Int32Array,
  lpStride: number,
): EventQueue {
  const { F, I } = pool;
  // At least 128 bytes each: V8 keeps smaller arrays in its heap, where they move.
  const D = new Float64Array(16);
  const Q = new Int32Array(32);
  const keys = new Float64Array(pool.capacity + 32);
  const handles = new Int32Array(pool.capacity + 32);
  const run = new Int32Array(2 * ROOM);
  const gathered = new Int32Array(2 * ROOM);
  const sorting = new Int32Array(2 * ROOM);
  const sort = network.sorter(sorting, gathered, run);
  const buckets = new Int32Array(Math.min(MAX_BUCKETS, bucketsFor(pool.capacity)));
  const farTimes = new Float64Array(pool.capacity + 16);
  const farHandles = new Int32Array(pool.capacity + 32);
  const touch = lpMemory.byteLength >= TOUCH_BYTES;
  Q[END] = ROOT;
  Q[CLEARED] = ROOT;
  clearFar();

  /** Adds event `h`, whose receive time is `t` (finite). */
  function push(t: number, h: number): void {
    const zone = (t - D[T0]) * D[INV];
    if (zone >= Q[CUR]) {
      if (zone < Q[NB]) {
        const k = zone | 0;
        I[(h << 1) + NEXT] = buckets[k];
        buckets[k] = h;
      } else farPush(t, h);
    } else heapPush(t, h);
  }

  function farPush(t: number, h: number): void {
    const n = Q[N_FAR];
    farTimes[n] = t;
    farHandles[n] = h;
    Q[N_FAR] = n + 1;
    D[FAR_SUM] += t;
    if (t < D[FAR_MIN]) D[FAR_MIN] = t;
    if (t > D[FAR_MAX]) D[FAR_MAX] = t;
  }

  /** The first event, still held; 0 when there is none. */
  function peek(): number {
    if (Q[END] === ROOT && Q[AT] < Q[RUN_END]) return run[Q[AT]];
    return peekSlow() | 0;
  }

  function peekSlow(): number {
    if (Q[END] === ROOT) {
      if (Q[AT] === Q[RUN_END] && !refill()) return 0;
      if (Q[END] === ROOT) return run[Q[AT]];
    }
    return Q[AT] < Q[RUN_END] && !heapFirst() ? run[Q[AT]] : handles[ROOT];
  }

  /** Takes the first event; 0 when there is none. */
  function pop(): number {
    if (Q[END] === ROOT && Q[AT] < Q[RUN_END]) return run[Q[AT]++];
    return popSlow() | 0;
  }

  function popSlow(): number {
    if (Q[END] === ROOT) {
      if (Q[AT] === Q[RUN_END] && !refill()) return 0;
      if (Q[END] === ROOT) return run[Q[AT]++];
    }
    if (Q[AT] < Q[RUN_END] && !heapFirst()) return run[Q[AT]++];
    return heapPop();
  }

  /** Takes the first event if its time is before `bound`; 0 otherwise. */
  function take(bound: number): number {
    const at = Q[AT];
    if (Q[END] === ROOT && at < Q[RUN_END]) {
      const h = run[at];
      if (!(F[h + RECV] < bound)) return 0;
      Q[AT] = at + 1;
      return h;
    }
    return takeSlow(bound) | 0;
  }

  function takeSlow(bound: number): number {
    const h = peekSlow();
    return h !== 0 && F[h + RECV] < bound ? popSlow() : 0;
  }

  /** Whether the heap's first event comes before the run's. Both exist. */
  function heapFirst(): boolean {
    const a = keys[ROOT];
    const b = F[run[Q[AT]] + RECV];
    return a < b || (a === b && sig.tieBefore(handles[ROOT], run[Q[AT]]));
  }

  /** Drops every event for which `keep` returns false. O(n). */
  function sweep(keep: (h: number) => boolean): void {
    const all: number[] = [];
    for (let i = ROOT; i < Q[END]; i++) all.push(handles[i]);
    for (let i = Q[AT]; i < Q[RUN_END]; i++) all.push(run[i]);
    for (let k = Q[CUR]; k < Q[NB]; k++) {
      for (let h = buckets[k]; h !== 0; h = I[(h << 1) + NEXT]) all.push(h);
      buckets[k] = 0;
    }
    for (let n = 0; n < Q[N_FAR]; n++) all.push(farHandles[n]);
    keys.fill(Infinity, ROOT, Q[END]);
    Q[END] = ROOT;
    Q[AT] = 0;
    Q[RUN_END] = 0;
    clearFar();
    for (const h of all) if (keep(h)) push(F[h + RECV], h);
  }

  function clearFar(): void {
    Q[N_FAR] = 0;
    D[FAR_MIN] = Infinity;
    D[FAR_MAX] = -Infinity;
    D[FAR_SUM] = 0;
  }

  /** Fills the empty run, or the heap, from the next buckets; false when nothing is pending. */
  function refill(): boolean {
    for (;;) {
      const from = Q[CUR];
      const n = gather();
      if (n > 0) sortRun(n, from);
      if (n !== 0) return true;
      const far = Q[N_FAR];
      if (far === 0) return false;
      if (far <= ROOM && D[FAR_MIN] === D[FAR_MAX]) {
        runFrom(far);
        return true;
      }
      newRung();
    }
  }

  /** Makes a run of the `n` far events, few and all at one time: a rung of one bucket, which is open already. */
  function runFrom(n: number): void {
    const t = D[FAR_MIN];
    for (let i = 0; i < n; i++) gathered[i] = farHandles[i];
    D[T0] = t;
    D[INV] = 1 / leastWidth(t);
    Q[NB] = 1;
    Q[CUR] = 1;
    clearFar();
    touchLps(n);
    tieKeys(n);
    begin(n);
  }

  /** Takes whole buckets until there are enough events: their number, or -1 for one overfull bucket, now in the heap. */
  function gather(): number {
    const nb = Q[NB];
    let k = Q[CUR];
    let n = 0;
    while (k < nb && n < GATHER) {
      // Event 0 has no successor. So an empty bucket, as likely as not, is no branch.
      const head = buckets[k];
      let m = (n + Number(head !== 0)) | 0;
      gathered[n] = head;
      let h = I[(head << 1) + NEXT];
      while (h !== 0 && m < ROOM) {
        gathered[m++] = h;
        h = I[(h << 1) + NEXT];
      }
      if (h !== 0) {
        if (n > 0) break;
        pour(head);
        buckets[k] = 0;
        Q[CUR] = k + 1;
        return -1;
      }
      buckets[k] = 0;
      n = m;
      k++;
    }
    Q[CUR] = k;
    return n;
  }

  function pour(head: number): void {
    let h = head;
    while (h !== 0) {
      const next = I[(h << 1) + NEXT];
      heapPush(F[h + RECV], h);
      h = next;
    }
  }

  /** Sorts the `n` gathered events, from bucket `from` on, into the run. */
  function sortRun(n: number, from: number): void {
    const t0 = D[T0];
    const inv = D[INV];
    const first = F[gathered[0] + RECV];
    const scale = FINE / (Q[CUR] - from);
    let same = 0;
    for (let i = 0; i < n; i++) {
      const t = F[gathered[i] + RECV];
      sorting[i] = ((((t - t0) * inv - from) * scale) << 4) | i;
      same = (same + Number(t === first)) | 0;
    }
    touchLps(n);
    if (same === n) tieKeys(n);
    begin(n);
  }

  function touchLps(n: number): void {
    if (!touch) return;
    let x = 0;
    for (let i = 0; i < n; i++) x ^= lpMemory[I[(gathered[i] << 1) + DEST] * lpStride];
    Q[TOUCHED] = x;
  }

  /** Begins a run of the `n` gathered events, whose sorting keys are there. */
  function begin(n: number): void {
    for (let i = n; i < ROOM; i++) sorting[i] = LAST_KEYS + (i << 4);
    Q[AT] = 0;
    Q[RUN_END] = n;
    if (sort() < 0) sortFully(n);
  }

  /** Sorting keys of events at one time: their tie-breakers, if they have nothing else. */
  function tieKeys(n: number): void {
    let extra = 0;
    for (let i = 0; i < n; i++) {
      const h = gathered[i];
      const u = F[h + TIE];
      sorting[i] = ((u * FINE) << 4) | i;
      // A draw is from 0 to 1: beyond, a key would overflow.
      extra |= I[(h << 1) + EXTRA] | Number(u > 1);
    }
    // Equal keys are sorted fully.
    if (extra !== 0) sorting.fill(0, 0, n);
  }

  /** Insertion by the whole signature: for equal times and tie-breakers, priorities and zero offsets. */
  function sortFully(n: number): void {
    for (let i = 0; i < n; i++) {
      const h = gathered[i];
      const t = F[h + RECV];
      let k = i;
      while (k > 0) {
        const before = run[k - 1];
        const u = F[before + RECV];
        if (t > u || (t === u && !sig.tieBefore(h, before))) break;
        run[k] = before;
        k--;
      }
      run[k] = h;
    }
  }

  /**
   * Spreads `far` over a new rung that starts at its first event, one event per bucket by the mean distance
   * from there, and covers two and a half times that distance.
   */
  function newRung(): void {
    const n = Q[N_FAR];
    const first = D[FAR_MIN];
    const mean = D[FAR_SUM] / n - first;
    const inv = 1 / Math.max(mean / n, leastWidth(D[FAR_MAX]));
    const nb = Math.min(buckets.length, bucketsFor(n));
    clearFar();
    D[T0] = first;
    D[INV] = inv;
    Q[NB] = nb;
    Q[CUR] = 0;
    for (let k = 0; k < n; k++) {
      const t = farTimes[k];
      const h = farHandles[k];
      const zone = (t - first) * inv;
      if (zone < nb) {
        const b = zone | 0;
        I[(h << 1) + NEXT] = buckets[b];
        buckets[b] = h;
      } else farPush(t, h);
    }
  }

  function heapPush(t: number, h: number): void {
    let i = Q[END];
    if (i + 4 >= Q[CLEARED]) clearMore();
    Q[END] = i + 1;
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

  function heapPop(): number {
    const h = handles[ROOT];
    const last = Q[END] - 1;
    Q[END] = last;
    const t = keys[last];
    keys[last] = Infinity;
    if (last > ROOT) siftDown(t, handles[last]);
    return h;
  }

  function siftDown(t: number, h: number): void {
    const end = Q[END];
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
    const to = Math.min(keys.length, Q[CLEARED] + 1024);
    keys.fill(Infinity, Q[CLEARED], to);
    Q[CLEARED] = to;
  }

  return {
    push,
    peek,
    pop,
    take,
    sweep,
    memory: [buckets.buffer, farTimes.buffer, farHandles.buffer],
  };
}

/** Least width of a bucket at time `t`: more than the rounding errors of times there. */
function leastWidth(t: number): number {
  return Math.abs(t) * 1e-14 + 1e-300;
}

/** Buckets of a rung for `n` events. */
function bucketsFor(n: number): number {
  return Math.ceil(2.5 * n) + 16;
}
