/**
 * What a PE does when event memory runs out: it asks for GVT, then rolls back the events that it handled furthest
 * ahead (cancelback: D. Jefferson, "Virtual Time II", 1990) and stays closer to GVT, closer each time that
 * memory runs out again. At the closest level only the GVT's own event is handled: memory then holds
 * what a sequential run would hold at that time, so any more memory than that is enough.
 */

import { C } from './counters.ts';
import type { Engine } from './engine.ts';
import { OutOfEventMemoryError } from './in-order.ts';
import { justAfter } from './just-after.ts';
import type { Pe } from './pe.ts';
import {
  compareGvts,
  copyGvt,
  type Gvt,
  startOfTime,
  type Transport,
} from './transport/transport.ts';

/** Pressure at which only events of the GVT's time are handled; each level below halves the window. */
const CLOSEST = 12;
/** Pressure at which only the GVT's own event is handled, and nothing else stays handled. */
const ONE_BY_ONE = 13;
/** GVTs without lack of memory after which pressure eases by a level. */
const EASE = 16;
/** GVTs without progress at the closest level after which the run fails. */
const MOST_STUCK_GVTS = 200;

export class MemoryPressure {
  private readonly pe: Pe;
  private readonly transport: Transport;
  private readonly engine: Engine;
  private span = 0;
  private calm = 0;
  private stuck = 0;
  /** Milliseconds at the GVT since which memory has been short; null if it is not. */
  private since: number | null = null;
  private readonly last = startOfTime();

  constructor(pe: Pe, transport: Transport, engine: Engine) {
    this.pe = pe;
    this.transport = transport;
    this.engine = engine;
  }

  /** Called at each GVT: adds up how long memory is short, which the pool's `shortSeconds` tells. */
  time(short: boolean): void {
    if (!short && this.since === null) return;
    const now = performance.now();
    if (this.since !== null) this.pe.pool.shortSeconds += (now - this.since) / 1000;
    this.since = short ? now : null;
  }

  /** Whether only the GVT's own event may be handled. */
  oneByOne(): boolean {
    return this.transport.pressure() >= ONE_BY_ONE;
  }

  /** The bound of the next turns: `free` if memory is not short. */
  bound(gvt: number, free: number): number {
    const level = this.transport.pressure();
    return level === 0 ? free : Math.min(free, this.limit(gvt, level));
  }

  private limit(gvt: number, level: number): number {
    if (level >= ONE_BY_ONE) return gvt;
    const least = justAfter(gvt);
    return level >= CLOSEST ? least : Math.max(least, gvt + this.span / 2 ** level);
  }

  /**
   * Called after each GVT.
   * @throws OutOfEventMemoryError if even the events at GVT do not fit
   */
  reached(key: Gvt): void {
    const { engine, transport, pe } = this;
    const gvt = key.time;
    const level = transport.pressure();
    if (!engine.starved) {
      if (level > 0) this.ease(key, level);
      return;
    }
    this.calm = 0;
    if (key.promised) {
      // Other PEs may have relied on that what is handled here stays, until they hear of the shortage.
      if (level === 0) this.span = engine.span(gvt);
      transport.setPressure(Math.max(level, 1));
      return;
    }
    const { last } = this;
    const moved = compareGvts(key, last) !== 0;
    this.stuck = moved ? 0 : this.stuck + 1;
    copyGvt(key, last);
    if (level === 0 || this.span === 0) this.span = engine.span(gvt);
    const next = Math.min(ONE_BY_ONE, level + 1);
    transport.setPressure(next);
    this.rollBack(key, next);
    engine.starved = false;
    if (this.stuck > MOST_STUCK_GVTS) {
      throw new OutOfEventMemoryError(
        `out of event memory at GVT ${gvt}: ${pe.pool.live} events on PE ${pe.number} and none left to roll back; raise --max-memory=${pe.config.maxMemory}`,
      );
    }
  }

  private ease(key: Gvt, level: number): void {
    if (this.span === 0) this.span = this.engine.span(key.time);
    this.rollBack(key, level);
    if (this.pe.number === 0 && ++this.calm >= EASE) {
      this.calm = 0;
      this.transport.setPressure(level - 1);
    }
  }

  private rollBack(key: Gvt, level: number): void {
    const { pe, engine } = this;
    // If the GVT is that of a message in flight, it does not tell the order of events of its time: what the event before it
    // did has to stay until the next GVT commits it.
    const inFlight = level >= ONE_BY_ONE && key.priority === -Infinity;
    if (!inFlight && !key.promised) {
      pe.counts[C.cancelbacks] += engine.rollBackFrom(this.limit(key.time, level));
    }
    this.transport.flush();
    engine.sweepCancelled();
    pe.pool.settle(true);
  }
}
