/**
 * The pending events of one PE, in exact order: a ladder of small buckets, sorted one at a time.
 *
 *     run + heap      buckets of the rung              far
 *     exact order     up to 16 each, unsorted          one list, unsorted
 *     |  zone < cur |  cur … nb-1                    |  beyond the rung        > time
 *
 * An event's zone is decided by the one expression `(t - t0) * inv`, which is monotone in t: whatever is
 * in run or heap is at or before whatever is in the buckets, which is before whatever is far. So taking
 * the first of run and heap is exact, ties included.
 *
 * When run and heap are empty the next bucket is sorted into the run; when the rung is used up, `far`
 * becomes a new rung. Buckets hold times and handles side by side, so that sorting touches no records,
 * and are sorted by counting: each event's rank is the number of events before it. That has no branch to
 * mispredict, which at this size is worth more than a better complexity: a heap costs twice the time.
 * Events that arrive in front of the buckets (stragglers, rolled-back events, short offsets) and those
 * that a bucket has no room for go through the heap: O(log n), never quadratic.
 */
import { type EventPool, EXTRA, NEXT, RECV, TIE } from './event.ts';
import type { Signatures } from './signature.ts';

/** Heap arity 4, root at 3: the children of i are 4i-8 … 4i-5, a group aligned to four. */
const ROOT = 3;
/** Events per bucket: room, and the number aimed at. */
const ROOM = 16;
const AIM = 5;
/** A bucket in doubles: [count, overflow list as two words] [16 times] [16 handles as words]. */
const TIMES = 1;
const HANDLES = TIMES + ROOM;
const BUCKET = HANDLES + ROOM / 2;
const MAX_BUCKETS = 1 << 23;

// Doubles that change often live in a typed array: a double field of an object is boxed.
const FAR_MIN = 0;
const FAR_MAX = 1;
const FAR_SUM = 2;
const T0 = 3;
const INV = 4;

export class EventQueue {
  /** Events held, cancelled ones included. */
  length = 0;
  private readonly F: Float64Array;
  private readonly I: Int32Array;
  private readonly sig: Signatures;
  private readonly D = new Float64Array([Infinity, -Infinity, 0, 0, 0]);
  // Arrays are sized once, for the pool's capacity, and never replaced: V8 then compiles their addresses
  // and lengths into the code. Memory that is never touched costs nothing.
  private readonly keys: Float64Array;
  private readonly handles: Int32Array;
  /** Heap slots below this hold a key or Infinity. */
  private cleared = ROOT;
  /** One past the last used heap slot. */
  private end = ROOT;
  /** Sorted events of the opened bucket: positions `at` to `runEnd`. */
  private readonly run = new Int32Array(ROOM);
  private readonly runTimes = new Float64Array(ROOM);
  private at = 0;
  private runEnd = 0;
  private readonly ties = new Float64Array(ROOM);
  private readonly bucketTimes: Float64Array;
  private readonly bucketWords: Int32Array;
  private readonly maxBuckets: number;
  private nb = 0;
  /** First bucket that has not been opened. */
  private cur = 0;
  private far = 0;
  private nFar = 0;

  constructor(pool: EventPool, signatures: Signatures) {
    this.F = pool.F;
    this.I = pool.I;
    this.sig = signatures;
    this.keys = new Float64Array(pool.capacity + 16);
    this.handles = new Int32Array(pool.capacity + 16);
    this.maxBuckets = Math.min(MAX_BUCKETS, bucketsFor(pool.capacity));
    this.bucketTimes = new Float64Array(this.maxBuckets * BUCKET);
    this.bucketWords = new Int32Array(this.bucketTimes.buffer);
  }

  /** Adds event `h`, whose receive time is `t` (finite). */
  push(t: number, h: number): void {
    const D = this.D;
    const zone = (t - D[T0]) * D[INV];
    this.length++;
    if (zone >= this.cur) {
      if (zone < this.nb) {
        this.bucketPush(zone | 0, t, h);
      } else {
        this.I[(h << 1) + NEXT] = this.far;
        this.far = h;
        this.nFar++;
        D[FAR_SUM] += t;
        if (t < D[FAR_MIN]) D[FAR_MIN] = t;
        if (t > D[FAR_MAX]) D[FAR_MAX] = t;
      }
    } else this.heapPush(t, h);
  }

  private bucketPush(k: number, t: number, h: number): void {
    const words = this.bucketWords;
    const b = k * BUCKET;
    const n = words[b << 1];
    if (n < ROOM) {
      words[b << 1] = n + 1;
      this.bucketTimes[b + TIMES + n] = t;
      words[((b + HANDLES) << 1) + n] = h;
    } else {
      this.I[(h << 1) + NEXT] = words[(b << 1) + 1];
      words[(b << 1) + 1] = h;
    }
  }

  /** The first event, still held; 0 when there is none. */
  peek(): number {
    if (this.end === ROOT) {
      if (this.at === this.runEnd && !this.refill()) return 0;
      if (this.end === ROOT) return this.run[this.at];
    }
    return this.at < this.runEnd && !this.heapFirst() ? this.run[this.at] : this.handles[ROOT];
  }

  /** Takes the first event; 0 when there is none. */
  pop(): number {
    if (this.end === ROOT) {
      if (this.at === this.runEnd && !this.refill()) return 0;
      if (this.end === ROOT) {
        this.length--;
        return this.run[this.at++];
      }
    }
    this.length--;
    if (this.at < this.runEnd && !this.heapFirst()) return this.run[this.at++];
    return this.heapPop();
  }

  /** Whether the heap's first event comes before the run's. Both exist. */
  private heapFirst(): boolean {
    const a = this.keys[ROOT];
    const b = this.runTimes[this.at];
    return a < b || (a === b && this.sig.tieBefore(this.handles[ROOT], this.run[this.at]));
  }

  /** Drops every event for which `keep` returns false. O(n). */
  sweep(keep: (h: number) => boolean): void {
    const all: number[] = [];
    const chain = (head: number) => {
      for (let h = head; h !== 0; h = this.I[(h << 1) + NEXT]) all.push(h);
    };
    for (let i = ROOT; i < this.end; i++) all.push(this.handles[i]);
    for (let i = this.at; i < this.runEnd; i++) all.push(this.run[i]);
    for (let k = this.cur; k < this.nb; k++) {
      const w = (k * BUCKET) << 1;
      for (let n = 0; n < this.bucketWords[w]; n++) all.push(this.bucketWords[w + 2 * HANDLES + n]);
      chain(this.bucketWords[w + 1]);
      this.bucketWords[w] = 0;
      this.bucketWords[w + 1] = 0;
    }
    chain(this.far);
    this.keys.fill(Infinity, ROOT, this.end);
    this.end = ROOT;
    this.at = 0;
    this.runEnd = 0;
    this.length = 0;
    this.clearFar();
    for (const h of all) if (keep(h)) this.push(this.F[h + RECV], h);
  }

  private clearFar(): void {
    this.far = 0;
    this.nFar = 0;
    this.D[FAR_MIN] = Infinity;
    this.D[FAR_MAX] = -Infinity;
    this.D[FAR_SUM] = 0;
  }

  /** Fills the empty run (or the heap) from the next bucket; false when nothing is pending. */
  private refill(): boolean {
    for (;;) {
      const words = this.bucketWords;
      const nb = this.nb;
      let k = this.cur;
      while (k < nb && words[(k * BUCKET) << 1] === 0) k++;
      if (k < nb) {
        this.cur = k + 1;
        this.open(k * BUCKET);
        return true;
      }
      this.cur = nb;
      if (this.nFar === 0) return false;
      this.newRung();
    }
  }

  private open(b: number): void {
    const words = this.bucketWords;
    const n = words[b << 1];
    const overflow = words[(b << 1) + 1];
    words[b << 1] = 0;
    if (overflow === 0) {
      this.sortRun(b, n);
      return;
    }
    words[(b << 1) + 1] = 0;
    for (let k = 0; k < n; k++) {
      this.heapPush(this.bucketTimes[b + TIMES + k], words[((b + HANDLES) << 1) + k]);
    }
    let h = overflow;
    while (h !== 0) {
      const next = this.I[(h << 1) + NEXT];
      this.heapPush(this.F[h + RECV], h);
      h = next;
    }
  }

  /** Sorts the `n` events of bucket `b` into the run. */
  private sortRun(b: number, n: number): void {
    const times = this.bucketTimes;
    const words = this.bucketWords;
    const run = this.run;
    const runTimes = this.runTimes;
    const t0 = b + TIMES;
    const h0 = (b + HANDLES) << 1;
    let sum = 0;
    for (let i = 0; i < n; i++) {
      const t = times[t0 + i];
      let rank = 0;
      for (let j = 0; j < n; j++) rank += Number(times[t0 + j] < t);
      sum += rank;
      run[rank] = words[h0 + i];
      runTimes[rank] = t;
    }
    this.at = 0;
    this.runEnd = n;
    // Equal times share a rank: the ranks then do not add up.
    if (2 * sum !== n * (n - 1)) this.sortTies(b, n);
  }

  private sortTies(b: number, n: number): void {
    const { ties, run, runTimes } = this;
    const times = this.bucketTimes;
    const words = this.bucketWords;
    const t0 = b + TIMES;
    const h0 = (b + HANDLES) << 1;
    let extra = 0;
    for (let i = 0; i < n; i++) {
      const h = words[h0 + i];
      ties[i] = this.F[h + TIE];
      extra |= this.I[(h << 1) + EXTRA];
    }
    let sum = 0;
    for (let i = 0; i < n; i++) {
      const t = times[t0 + i];
      const u = ties[i];
      let rank = 0;
      for (let j = 0; j < n; j++) {
        const s = times[t0 + j];
        rank += Number(s < t) + (Number(s === t) & Number(ties[j] < u));
      }
      sum += rank;
      run[rank] = words[h0 + i];
      runTimes[rank] = t;
    }
    if (extra === 0 && 2 * sum === n * (n - 1)) return;
    for (let i = 0; i < n; i++) {
      const h = words[h0 + i];
      const t = times[t0 + i];
      let k = i;
      while (
        k > 0 &&
        (t < runTimes[k - 1] || (t === runTimes[k - 1] && this.sig.tieBefore(h, run[k - 1])))
      ) {
        run[k] = run[k - 1];
        runTimes[k] = runTimes[k - 1];
        k--;
      }
      run[k] = h;
      runTimes[k] = t;
    }
  }

  /** Spreads `far` over a new rung that starts at its first event and covers about three times its mean distance. */
  private newRung(): void {
    const D = this.D;
    const F = this.F;
    const I = this.I;
    const n = this.nFar;
    const first = D[FAR_MIN];
    const last = D[FAR_MAX];
    const least = Math.abs(last) * 1e-14 + 1e-300;
    let width = (last - first) * 1.001 + least;
    let nb = 1;
    if (n > ROOM) {
      const mean = D[FAR_SUM] / n - first;
      width = Math.max((mean / n) * AIM, least);
      nb = Math.min(this.maxBuckets, bucketsFor(n));
    }
    const inv = 1 / width;
    let h = this.far;
    this.clearFar();
    D[T0] = first;
    D[INV] = inv;
    this.nb = nb;
    this.cur = 0;
    while (h !== 0) {
      const i = (h << 1) + NEXT;
      const next = I[i];
      const t = F[h + RECV];
      const zone = (t - first) * inv;
      if (zone < nb) this.bucketPush(zone | 0, t, h);
      else {
        I[i] = this.far;
        this.far = h;
        this.nFar++;
        D[FAR_SUM] += t;
        if (t < D[FAR_MIN]) D[FAR_MIN] = t;
        if (t > D[FAR_MAX]) D[FAR_MAX] = t;
      }
      h = next;
    }
  }

  private heapPush(t: number, h: number): void {
    let i = this.end;
    if (i + 4 >= this.cleared) this.clearMore();
    this.end = i + 1;
    const keys = this.keys;
    const handles = this.handles;
    while (i > ROOT) {
      const parent = (i + 8) >> 2;
      const key = keys[parent];
      if (key < t) break;
      const ph = handles[parent];
      if (key === t && !this.sig.tieBefore(h, ph)) break;
      keys[i] = key;
      handles[i] = ph;
      i = parent;
    }
    keys[i] = t;
    handles[i] = h;
  }

  private heapPop(): number {
    const h = this.handles[ROOT];
    const last = this.end - 1;
    this.end = last;
    const t = this.keys[last];
    this.keys[last] = Infinity;
    if (last > ROOT) this.siftDown(t, this.handles[last]);
    return h;
  }

  private siftDown(t: number, h: number): void {
    const keys = this.keys;
    const handles = this.handles;
    const end = this.end;
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
        if (
          k < key ||
          (k === key && child < end && this.sig.tieBefore(handles[child], handles[best]))
        ) {
          key = k;
          best = child;
        }
      }
      if (key > t || (key === t && this.sig.tieBefore(h, handles[best]))) break;
      keys[i] = key;
      handles[i] = handles[best];
      i = best;
    }
    keys[i] = t;
    handles[i] = h;
  }

  private clearMore(): void {
    const to = Math.min(this.keys.length, this.cleared + 1024);
    this.keys.fill(Infinity, this.cleared, to);
    this.cleared = to;
  }
}

/** Buckets of a rung for `n` events: enough to cover three times their mean distance. */
function bucketsFor(n: number): number {
  return Math.ceil((3 * n) / AIM) + 8;
}
