/**
 * The pending events of one PE, in exact order: a ladder of buckets, sorted a few events at a time.
 *
 *     run + heap      window of buckets      lists               far
 *     exact order     about one event each   a window's each     arrays, unsorted
 *     |  zone < cur |  cur … high-1        |  high … zones-1   |  beyond the rung       > time
 *
 * An event's zone is computed by the one expression `(t - t0) * inv`, which is monotone in t: events
 * in run or heap are at or before those in buckets, which are before those in lists, which are before
 * those in `far`. So taking the first of run and heap is exact, ties included.
 *
 * When run and heap are empty, the next buckets are gathered into a run of 12 to 16 events, which are
 * sorted by integer keys in a network without branches, and by the whole signature if two keys are the same. When
 * the window is used up, the next list's events are spread over it. When the rung is used up, `far`
 * becomes a new rung, or at once a run if it has few events of one time. Events that arrive in front of
 * the buckets (stragglers, rolled-back events, short offsets) and those of an overfull bucket go through
 * the heap: O(log n), never quadratic.
 *
 * A cache miss costs as much as handling an event, unless it overlaps with others. So the records of a list's events
 * and the memory of their LPs are touched together, and a window is small enough for the cache to keep them. A
 * rung of few events is one window.
 */

import * as chunkLists from './chunk-lists.ts';
import type { EventPool } from './event.ts';
import * as heaps from './heap.ts';
import * as layout from './layout.ts';
import { reservedDoubles, reservedInts } from './reserved.ts';
import type { Signatures } from './signature.ts';
import * as network from './sort-network.ts';

const { DEST, EXTRA, NEXT, RECV, TIE } = layout;

const { END, ROOT } = heaps;

/** Room of the run, and the number of events at which collecting stops. */
const ROOM = network.SORTED;
const GATHER = 12;
/** Bits of a sorting key above those for its place: where an event is between the first and the last. */
const FINE = 2 ** 26;
/** Keys greater than those of all events. */
const LAST_KEYS = 0x7ffffe00;
/** Buckets of the window, which are all buckets of a rung that is no larger. A power of two. */
const BUCKETS = 16384;
/** Binary logarithm of a window's zones in a larger rung. */
const SHIFT = 9;
/** LPs with less memory than this stay in the cache without help. */
const TOUCH_BYTES = 1 << 17;

// Doubles of D.
const FAR_MIN = 0;
const FAR_MAX = 1;
const FAR_SUM = 2;
const T0 = 3;
const INV = 4;

// Integers of Q.
/** The run: positions AT to RUN_END. */
const AT = 0;
const RUN_END = 1;
/** The first zone that has not been collected, the end of the window, and the end of the rung. */
const CUR = 2;
const HIGH = 3;
const ZONES = 4;
/** Events in the window. */
const WITHIN = 5;
const N_FAR = 6;
/** Keeps V8 from removing the loads that touch memory. */
const TOUCHED = 7;

export interface EventQueue {
  /** Adds event `h`, whose receive time is `t` (finite). Rare paths read it from the record: passed on, it would be allocated at each push. */
  push(t: number, h: number): void;
  /** The first event, which stays in the queue; 0 if there is none. */
  peek(): number;
  /** Takes the first event; 0 if there is none. */
  pop(): number;
  /** Takes the first event if its time is before `bound`; 0 otherwise. */
  take(bound: number): number;
  /** Drops every event for which `keep` returns false. O(n). */
  sweep(keep: (h: number) => boolean): void;
  /** As if it had never had an event. It must be empty. */
  restart(): void;
  /** The memory that may become large: lists, accessed in random order, and `far`. */
  readonly memory: readonly ArrayBufferLike[];
}

/**
 * A queue over the events of `pool`. Everything it works on is a constant of one closure, sized once for the
 * pool's capacity: V8 compiles addresses and lengths into the code, whereas a class's fields would be loaded
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
  const heap = heaps.createHeap(pool.capacity, sig);
  const { state: H, keys, handles, push: heapPush, pop: heapPop } = heap;
  const run = new Int32Array(2 * ROOM);
  const gathered = new Int32Array(2 * ROOM);
  const sorting = new Int32Array(2 * ROOM);
  const sort = network.sorter(sorting, gathered, run);
  const buckets = new Int32Array(BUCKETS);
  const mostLists = (zonesFor(pool.capacity) >> SHIFT) + 1;
  const lists = chunkLists.createChunkLists(mostLists, pool.capacity);
  const { append, take: takeList, out: opened } = lists;
  const farTimes = reservedDoubles(pool.capacity + 16);
  const farHandles = reservedInts(pool.capacity + 32);
  const touch = lpMemory.byteLength >= TOUCH_BYTES;
  clearFar();

  /** Adds event `h`, whose receive time is `t` (finite). */
  function push(t: number, h: number): void {
    const zone = (t - D[T0]) * D[INV];
    if (zone >= Q[CUR]) {
      if (zone < Q[HIGH]) {
        const k = zone & (BUCKETS - 1);
        I[(h << 1) + NEXT] = buckets[k];
        buckets[k] = h;
        Q[WITHIN]++;
      } else if (zone < Q[ZONES]) append(zone >> SHIFT, h);
      else farPush(F[h + RECV], h);
    } else heapPush(F[h + RECV], h);
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

  /** The first event, which stays in the queue; 0 if there is none. */
  function peek(): number {
    if (H[END] === ROOT && Q[AT] < Q[RUN_END]) return run[Q[AT]];
    return peekSlow() | 0;
  }

  function peekSlow(): number {
    if (H[END] === ROOT && Q[AT] === Q[RUN_END] && !refill()) return 0;
    // Both are read whether they are there or not: V8 would deoptimise where the heap has its first event late.
    const first = handles[ROOT];
    const key = keys[ROOT];
    const next = run[Q[AT]];
    const t = F[next + RECV];
    const before = key < t;
    const same = key === t;
    if (Q[AT] === Q[RUN_END]) return first;
    if (H[END] === ROOT) return next;
    return before || (same && sig.tieBefore(first, next)) ? first : next;
  }

  /** Takes the first event; 0 if there is none. */
  function pop(): number {
    if (H[END] === ROOT && Q[AT] < Q[RUN_END]) return run[Q[AT]++];
    return takeSlow(Infinity) | 0;
  }

  /** Takes `h`, which `peekSlow` has found. */
  function remove(h: number): number {
    if (Q[AT] === Q[RUN_END] || run[Q[AT]] !== h) return heapPop();
    Q[AT]++;
    return h;
  }

  /** Takes the first event if its time is before `bound`; 0 otherwise. */
  function take(bound: number): number {
    const at = Q[AT];
    if (H[END] === ROOT && at < Q[RUN_END]) {
      const h = run[at];
      if (!(F[h + RECV] < bound)) return 0;
      Q[AT] = at + 1;
      return h;
    }
    return takeSlow(bound) | 0;
  }

  function takeSlow(bound: number): number {
    const h = peekSlow();
    return h !== 0 && F[h + RECV] < bound ? remove(h) : 0;
  }

  /** Drops every event for which `keep` returns false. O(n). */
  function sweep(keep: (h: number) => boolean): void {
    const all: number[] = [];
    for (let i = ROOT; i < H[END]; i++) all.push(handles[i]);
    for (let i = Q[AT]; i < Q[RUN_END]; i++) all.push(run[i]);
    for (let k = 0, left = Q[WITHIN]; left > 0; k++) {
      for (let h = buckets[k]; h !== 0; h = I[(h << 1) + NEXT], left--) all.push(h);
      buckets[k] = 0;
    }
    for (let zone = Q[HIGH]; zone < Q[ZONES]; zone += 1 << SHIFT) {
      const n = takeList(zone >> SHIFT);
      for (let i = 0; i < n; i++) all.push(opened[i]);
    }
    for (let n = 0; n < Q[N_FAR]; n++) all.push(farHandles[n]);
    heap.clear();
    Q[AT] = 0;
    Q[RUN_END] = 0;
    Q[WITHIN] = 0;
    clearFar();
    for (const h of all) if (keep(h)) push(F[h + RECV], h);
  }

  function clearFar(): void {
    Q[N_FAR] = 0;
    D[FAR_MIN] = Infinity;
    D[FAR_MAX] = -Infinity;
    D[FAR_SUM] = 0;
  }

  /** Fills the empty run, or the heap, from the next buckets; false if nothing is pending. */
  function refill(): boolean {
    for (;;) {
      const from = Q[CUR];
      const n = gather();
      if (n > 0) sortRun(n, from);
      if (n !== 0) return true;
      if (openWindow()) continue;
      const far = Q[N_FAR];
      if (far === 0) return false;
      if (far <= ROOM && D[FAR_MIN] === D[FAR_MAX]) {
        runFrom(far);
        return true;
      }
      newRung();
    }
  }

  /** Makes a run of the `n` far events, which are few and of one time: a rung with one bucket, already opened. */
  function runFrom(n: number): void {
    const t = D[FAR_MIN];
    for (let i = 0; i < n; i++) gathered[i] = farHandles[i];
    D[T0] = t;
    D[INV] = 1 / leastWidth(t);
    Q[CUR] = 1;
    Q[HIGH] = 1;
    Q[ZONES] = 1;
    clearFar();
    touchLps(n);
    tieKeys(n);
    begin(n);
  }

  /** Spreads the next list that has events over the window; false if there is none. */
  function openWindow(): boolean {
    let high = Q[HIGH];
    let n = 0;
    while (n === 0) {
      if (high >= Q[ZONES]) return false;
      n = takeList(high >> SHIFT);
      Q[CUR] = high;
      high += 1 << SHIFT;
      Q[HIGH] = high;
    }
    touchAll(n);
    const t0 = D[T0];
    const inv = D[INV];
    for (let i = 0; i < n; i++) {
      const h = opened[i];
      const k = ((F[h + RECV] - t0) * inv) & (BUCKETS - 1);
      I[(h << 1) + NEXT] = buckets[k];
      buckets[k] = h;
    }
    Q[WITHIN] = n;
    return true;
  }

  /** Touches the records of the `n` opened events, then their LPs. The loops are short, so that more misses overlap. */
  function touchAll(n: number): void {
    let x = 0;
    for (let i = 0; i < n; i++) x ^= I[(opened[i] << 1) + DEST];
    for (let i = 0; i < n; i++) x ^= lpMemory[Math.imul(I[(opened[i] << 1) + DEST], lpStride)];
    Q[TOUCHED] = x;
  }

  /** Takes whole buckets until there are enough events: returns their number, or -1 for an overfull bucket, now in the heap. */
  function gather(): number {
    const within = Q[WITHIN];
    const high = Q[HIGH];
    let k = within === 0 ? high : Q[CUR];
    let n = 0;
    while (k < high && n < GATHER) {
      const b = k & (BUCKETS - 1);
      // Event 0 has no successor, so an empty bucket, which is as likely as a full one, needs no branch.
      const head = buckets[b];
      // Compared for every bucket: V8 would deoptimise if this first ran for an overfull one.
      const some = n > 0;
      let m = (n + Number(head !== 0)) | 0;
      gathered[n] = head;
      let h = I[(head << 1) + NEXT];
      while (h !== 0 && m < ROOM) {
        gathered[m++] = h;
        h = I[(h << 1) + NEXT];
      }
      if (h !== 0) {
        if (some) break;
        Q[WITHIN] = within - pour(head);
        buckets[b] = 0;
        Q[CUR] = k + 1;
        return -1;
      }
      buckets[b] = 0;
      n = m;
      k++;
    }
    Q[WITHIN] = within - n;
    Q[CUR] = k;
    return n;
  }

  function pour(head: number): number {
    let n = 0;
    let h = head;
    while (h !== 0) {
      const next = I[(h << 1) + NEXT];
      heapPush(F[h + RECV], h);
      h = next;
      n++;
    }
    return n;
  }

  /** Sorts the `n` collected events, from bucket `from` on, into the run. */
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
    // One event needs no other key. Compared for every run, as above.
    const several = n > 1;
    if (same === n && several) tieKeys(n);
    begin(n);
  }

  function touchLps(n: number): void {
    if (!touch) return;
    let x = 0;
    for (let i = 0; i < n; i++) x ^= lpMemory[I[(gathered[i] << 1) + DEST] * lpStride];
    Q[TOUCHED] = x;
  }

  /** Begins a run of the `n` collected events, whose sorting keys are computed. */
  function begin(n: number): void {
    for (let i = n; i < ROOM; i++) sorting[i] = LAST_KEYS + (i << 4);
    Q[AT] = 0;
    Q[RUN_END] = n;
    if (sort() < 0) sortFully(n);
  }

  /** Sorting keys of events of one time: their tie-breakers, if they have no priorities. */
  function tieKeys(n: number): void {
    let extra = 0;
    for (let i = 0; i < n; i++) {
      const h = gathered[i];
      const held = F[h + TIE];
      const u = held < 0 ? sig.tie(h) : held;
      sorting[i] = ((u * FINE) << 4) | i;
      // A draw is between 0 and 1: outside of that, a key would overflow.
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
   * Spreads `far` over a new rung that starts at its first event, one event per zone by the mean distance
   * from there.
   */
  function newRung(): void {
    const n = Q[N_FAR];
    const first = D[FAR_MIN];
    const mean = D[FAR_SUM] / n - first;
    D[T0] = first;
    D[INV] = 1 / Math.max(mean / n, leastWidth(D[FAR_MAX]));
    clearFar();
    const zones = zonesFor(n);
    Q[CUR] = 0;
    Q[ZONES] = zones;
    Q[HIGH] = zones <= BUCKETS ? zones : 0;
    for (let k = 0; k < n; k++) push(farTimes[k], farHandles[k]);
  }

  function restart(): void {
    Q.fill(0);
    D[T0] = D[INV] = 0;
  }

  return {
    push,
    peek,
    pop,
    take,
    sweep,
    restart,
    memory: [lists.memory, farTimes.buffer, farHandles.buffer],
  };
}

/** Least width of a bucket at time `t`: more than the rounding error of times there. */
function leastWidth(t: number): number {
  return Math.abs(t) * 1e-14 + 1e-300;
}

/**
 * Number of zones of a rung for `n` events, with one event per zone at its beginning: eight times their mean distance if that is one
 * window, so that few events are in `far`; four times it, in whole windows, where more lists would crowd the cache.
 */
function zonesFor(n: number): number {
  const zones = 8 * n + 16;
  return zones <= BUCKETS ? zones : (((4 * n) >> SHIFT) + 1) << SHIFT;
}
