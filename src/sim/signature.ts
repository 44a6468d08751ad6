/**
 * Event order: receive time, user priority (lower first), tie-breaker list. As ROSS 8.
 *
 * Every created event has one uniform of its sender's core stream: its tie-breaker. An event sent with
 * an offset has the list [own]; a zero-offset one has its parent's list followed by its own, so it comes
 * after its parent. Lists compare element by element, then shorter first. Nearly every event has
 * priority 1 and a list of one: that form needs nothing beyond its record. The others hold an `extra`:
 * a priority and the node of a tree in which a path from the root is the parent's list.
 *
 * A zero-offset event cannot be more urgent than its parent (it would come before its own cause), so its
 * priority is raised to its parent's.
 */

import type { EventPool } from './event.ts';
import * as layout from './layout.ts';
import type { TieSource } from './ties.ts';

const { EXTRA, RECV, SOURCE, TIE } = layout;

export const DEFAULT_PRIORITY = 1;

export class Signatures {
  private readonly pool: EventPool;
  private readonly ties: TieSource;
  // extras: slot 0 is "none"
  private _priority = new Float64Array(16);
  private prefix = new Int32Array(16);
  private extraFree: number[] = [];
  private extraTop = 1;
  // prefix tree nodes: slot 0 is "root"
  private value = new Float64Array(16);
  private up = new Int32Array(16);
  private depth = new Int32Array(16);
  private uses = new Int32Array(16);
  private nodeFree: number[] = [];
  private nodeTop = 1;
  private left = new Float64Array(16);
  private right = new Float64Array(16);

  constructor(pool: EventPool, ties: TieSource) {
    this.pool = pool;
    this.ties = ties;
  }

  /** Priority of event `h`. */
  priority(h: number): number {
    const x = this.pool.I[(h << 1) + EXTRA];
    return x === 0 ? DEFAULT_PRIORITY : this._priority[x];
  }

  /** The event's own tie-breaker. */
  tie(h: number): number {
    return this.ties.of(h);
  }

  /** The first elements of the event's list, as many as `out` takes; -Infinity after the last. */
  firstTies(h: number, out: Float64Array): void {
    const n = this.list(h, true);
    for (let k = 0; k < out.length; k++) out[k] = k < n ? this.left[k] : -Infinity;
  }

  /** Length of the list before the event's own tie-breaker. */
  prefixLength(h: number): number {
    const x = this.pool.I[(h << 1) + EXTRA];
    return x === 0 ? 0 : this.depth[this.prefix[x]];
  }

  /** Whether `a` comes strictly before `b`, given that their receive times are equal. */
  tieBefore(a: number, b: number): boolean {
    const { F, I } = this.pool;
    const ia = a << 1;
    const ib = b << 1;
    if ((I[ia + EXTRA] | I[ib + EXTRA]) === 0) {
      // The same event, sent twice and undone once: it needs no tie-breaker.
      if (F[a + TIE] === F[b + TIE] && I[ia + SOURCE] === I[ib + SOURCE])
        return F[a + 1] < F[b + 1];
      const ua = this.ties.of(a);
      const ub = this.ties.of(b);
      if (ua !== ub) return ua < ub;
    } else {
      const order = this.compareFull(a, b);
      if (order !== 0) return order < 0;
    }
    // Equal draws of two streams: rare (2^-31 per pair) but possible; any fixed order will do.
    if (I[ia + SOURCE] !== I[ib + SOURCE]) return I[ia + SOURCE] < I[ib + SOURCE];
    return F[a + 1] < F[b + 1];
  }

  /** Whether `a` comes strictly before `b`. */
  before(a: number, b: number): boolean {
    const F = this.pool.F;
    const ta = F[a + RECV];
    const tb = F[b + RECV];
    return ta < tb || (ta === tb && this.tieBefore(a, b));
  }

  private compareFull(a: number, b: number): number {
    const pa = this.priority(a);
    const pb = this.priority(b);
    if (pa !== pb) return pa - pb;
    const na = this.list(a, true);
    const nb = this.list(b, false);
    const n = Math.min(na, nb);
    for (let k = 0; k < n; k++) {
      const d = this.left[k] - this.right[k];
      if (d !== 0) return d;
    }
    return na - nb;
  }

  private list(h: number, left: boolean): number {
    const { I } = this.pool;
    const x = I[(h << 1) + EXTRA];
    let node = x === 0 ? 0 : this.prefix[x];
    const n = this.depth[node] + 1;
    if (this.left.length < n) {
      this.left = grownDoubles(this.left, n);
      this.right = grownDoubles(this.right, n);
    }
    const out = left ? this.left : this.right;
    out[n - 1] = this.tie(h);
    for (let k = n - 2; k >= 0; k--) {
      out[k] = this.value[node];
      node = this.up[node];
    }
    return n;
  }

  /**
   * Gives `child`, sent by `parent`, its priority and, at zero offset, its parent's list.
   * Called only if the priority is not 1 or the offset is zero.
   */
  inherit(child: number, parent: number, zeroOffset: boolean, priority: number): void {
    let node = 0;
    let urgency = priority;
    if (zeroOffset) {
      const { I } = this.pool;
      const x = I[(parent << 1) + EXTRA];
      node = this.node(this.tie(parent), x === 0 ? 0 : this.prefix[x]);
      urgency = Math.max(priority, this.priority(parent));
    }
    this.attach(child, urgency, node);
  }

  /** Gives `h` a list read from a message: `count` doubles from `values[at]`. */
  adopt(h: number, priority: number, values: Float64Array, at: number, count: number): void {
    let node = 0;
    for (let k = 0; k < count; k++) {
      const next = this.node(values[at + k], node);
      if (node !== 0) this.release(node);
      node = next;
    }
    this.attach(h, priority, node);
  }

  /** Writes the list before the event's own tie-breaker to `out[at…]`; returns its length. */
  write(h: number, out: Float64Array, at: number): number {
    const n = this.prefixLength(h);
    let node = n === 0 ? 0 : this.prefix[this.pool.I[(h << 1) + EXTRA]];
    for (let k = n - 1; k >= 0; k--) {
      out[at + k] = this.value[node];
      node = this.up[node];
    }
    return n;
  }

  /** Releases the extra of `h`; called before its record is freed, if it has one. */
  drop(h: number): void {
    const i = (h << 1) + EXTRA;
    const x = this.pool.I[i];
    if (x === 0) return;
    const node = this.prefix[x];
    if (node !== 0) this.release(node);
    this.extraFree.push(x);
    this.pool.I[i] = 0;
  }

  private attach(h: number, priority: number, node: number): void {
    const x = this.extraFree.pop() ?? this.extraTop++;
    if (x >= this._priority.length) {
      this._priority = grownDoubles(this._priority, x + 1);
      this.prefix = grownInts(this.prefix, x + 1);
    }
    this._priority[x] = priority;
    this.prefix[x] = node;
    this.pool.I[(h << 1) + EXTRA] = x;
  }

  /** A new node, used once (by the caller), that holds a use of `up`. */
  private node(value: number, up: number): number {
    const node = this.nodeFree.pop() ?? this.nodeTop++;
    if (node >= this.value.length) {
      this.value = grownDoubles(this.value, node + 1);
      this.up = grownInts(this.up, node + 1);
      this.depth = grownInts(this.depth, node + 1);
      this.uses = grownInts(this.uses, node + 1);
    }
    this.value[node] = value;
    this.up[node] = up;
    this.depth[node] = this.depth[up] + 1;
    this.uses[node] = 1;
    if (up !== 0) this.uses[up]++;
    return node;
  }

  private release(node: number): void {
    let at = node;
    while (at !== 0 && --this.uses[at] === 0) {
      this.nodeFree.push(at);
      at = this.up[at];
    }
  }
}

function grownDoubles(old: Float64Array<ArrayBuffer>, need: number): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(Math.max(need, old.length * 2));
  grown.set(old);
  return grown;
}

function grownInts(old: Int32Array<ArrayBuffer>, need: number): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(Math.max(need, old.length * 2));
  grown.set(old);
  return grown;
}
