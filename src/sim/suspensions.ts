/**
 * LPs that wait until one of their events is rolled back, because they suspended themselves (`lp.suspend`) or because the
 * handler threw, which wrong speculation may cause. If the event commits after all, the error is real.
 */
import { DEST, type EventPool } from './event.ts';
import { ModelError } from './model.ts';

interface Suspension {
  readonly h: number;
  readonly reason: string;
  readonly error: unknown;
}

export class Suspensions {
  /** Whether any LP waits; kept separately so that the usual case costs one load. */
  any = false;
  private readonly byLp = new Map<number, Suspension>();
  private readonly pool: EventPool;

  constructor(pool: EventPool) {
    this.pool = pool;
  }

  /** The LP at `index` waits for event `h`; the first reason counts. `error` is the handler's error. */
  add(index: number, h: number, reason: string, error: unknown): void {
    if (h === 0) throw new ModelError(`suspended itself: ${reason}`);
    if (this.byLp.has(index)) return;
    this.byLp.set(index, { h, reason, error });
    this.any = true;
  }

  has(index: number): boolean {
    return this.byLp.has(index);
  }

  /** The error of the event for which the LP at `index` waits. */
  errorOf(index: number): unknown {
    return this.byLp.get(index)?.error;
  }

  /** Event `h` of the LP at `index` has been rolled back. */
  rolledBack(index: number, h: number): void {
    if (this.byLp.get(index)?.h !== h) return;
    this.byLp.delete(index);
    this.any = this.byLp.size > 0;
  }

  /** The first event waited for that `commits`, in the order of `before`; 0 for none. */
  first(commits: (h: number) => boolean, before: (a: number, b: number) => boolean): number {
    let first = 0;
    for (const { h } of this.byLp.values()) {
      if (commits(h) && (first === 0 || before(h, first))) first = h;
    }
    return first;
  }

  /** Whether an LP waits for event `h`. */
  awaits(h: number): boolean {
    return this.byLp.get(this.pool.I[(h << 1) + DEST])?.h === h;
  }

  /** @throws the error of event `h`, for which an LP waits, or the reason for which it suspended itself. */
  fail(h: number): never {
    const held = this.byLp.get(this.pool.I[(h << 1) + DEST]);
    if (held?.error !== undefined) throw held.error;
    throw new ModelError(`suspended itself: ${held?.reason}`);
  }
}
