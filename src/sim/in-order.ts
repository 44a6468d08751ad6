/** Handling events in order, each committed at once: sequential runs, and conservative ones window by window. */

import type { ActivityClock } from './clock.ts';
import { C } from './counters.ts';
import type { Engine } from './engine.ts';
import * as final from './finals.ts';
import * as tallies from './instrument/tally.ts';
import * as layout from './layout.ts';
import { type AnyMessage, type ContextParts, LpContext } from './lp.ts';
import { ModelError } from './model.ts';
import { expectNoPromise } from './model-check.ts';
import type { Pe } from './pe.ts';
import * as placements from './placement.ts';
import * as clcg4 from './rng/clcg4.ts';
import type { TimerEvents } from './timer-events.ts';
import {
  compareGvts,
  GVT_TIES,
  type Gvt,
  type Receiver,
  startOfTime,
  type Transport,
} from './transport/transport.ts';

const {
  BITS,
  CANCELLED,
  DEST,
  EXTRA,
  PATH,
  PENDING,
  RECV,
  REMOTE,
  SEND,
  SOURCE,
  STATE,
  STATE_MASK,
  TIE,
} = layout;
const { LBTS } = final;
const { T_PROCESSED, T_RECEIVES } = tallies;
const { nextAhead } = clcg4;
const { indexOfLp, peOfLp } = placements;

/** Event memory is used up, and the run cannot continue with its bound. */
export class OutOfEventMemoryError extends ModelError {
  override readonly name = 'OutOfEventMemoryError';
}

/** `lp.send`: a closure over constants, because V8 inlines it into the loop on a single PE only. */
function sender(lp: InOrderLp, pe: Pe): InOrderLp['send'] {
  const { pool, queue, counts, placement, number, ties, leastOffset: least, config } = pe;
  const { F, I } = pool;
  const { lps, end, lookahead } = lp;
  const conservative = config.synch === 'conservative';
  const first = placement.firsts?.[number] ?? 0;
  // None where this PE's LPs are not numbered one after the other.
  const locals = placement.firsts === null ? 0 : placement.counts[number];
  const PAST_END = C.eventsPastEnd;

  /** Reads the time from the record: a time passed on would be allocated for each event, routed or not. */
  function route(h: number, dest: number): void {
    const to = peOfLp(placement, dest);
    const i = h << 1;
    I[i + DEST] = indexOfLp(placement, dest, to);
    if (to === number) {
      I[i + STATE] = PENDING;
      queue.push(F[h + RECV], h);
    } else {
      I[i + STATE] = REMOTE;
      pe.stage(h, to, 0);
    }
  }

  function outOfMemory(now: number): never {
    throw new OutOfEventMemoryError(
      `out of event memory at virtual time ${now}: ${pool.live} pending events fill --max-memory; raise it`,
    );
  }

  return function send(dest: number, delay: number, priority = 1): AnyMessage {
    if (typeof delay !== 'number' || !(delay >= 0) || dest >>> 0 !== dest || dest >= lps)
      lp.refuse(dest, delay);
    if (conservative) {
      const toAnother = dest !== lp.id;
      if (delay < lookahead && toAnother) lp.refuse(dest, delay);
      if (delay < least[0]) least[0] = delay;
      if (toAnother && delay < least[1]) least[1] = delay;
    }
    const now = F[lp.h];
    const t = now + delay;
    const tie = ties.take(lp.index, lp.base);
    if (!(t < end)) {
      counts[PAST_END]++;
      return lp.messageOf(pool.emptySink());
    }
    const h = pool.alloc();
    if (h === 0) outOfMemory(now);
    const i = h << 1;
    F[h + RECV] = t;
    F[h + SEND] = now;
    F[h + TIE] = tie;
    I[i + SOURCE] = lp.id;
    I[i + BITS] = 0;
    I[i + PATH] = lp.path;
    I[i + EXTRA] = 0;
    if (t === now || priority !== 1) lp.inherit(h, t === now, priority);
    const index = dest - first;
    if (index >>> 0 < locals) {
      I[i + DEST] = index;
      I[i + STATE] = PENDING;
      queue.push(t, h);
    } else route(h, dest);
    return lp.messageOf(h);
  };
}

export class InOrderLp extends LpContext {
  declare protected readonly host: Pe;
  private readonly conservative: boolean;

  constructor(...args: ContextParts<Pe>) {
    super(...args);
    this.conservative = this.host.config.synch === 'conservative';
    this.send = sender(this, this.host);
  }

  send: (dest: number, delay: number, priority?: number) => AnyMessage;

  /** Draws are not counted, because none is ever undone. */
  override uniform(): number {
    return nextAhead(this.S, this.base);
  }

  output(text: string): void {
    if (typeof text !== 'string') this.refuseText(text);
    this.host.outputs.push(this.host.outputLine(this.h, this.id, text));
  }

  suspend(reason: string): void {
    throw new ModelError(`suspended itself: ${reason}`);
  }

  requestHook(): void {
    this.host.hookAsked = true;
  }

  stop(delay = this.host.stopLookahead): void {
    this.host.stopAt(this.stopTime(delay, this.conservative));
    // A window ends before that; a single PE continues as long as its queue has events.
    if (!this.conservative) this.host.closeQueue();
  }

  setSpare(value: number): void {
    this.host.setSpare(this.index, value);
  }
}

/** A conservative PE received an event after it had handled a later one. */
export class LateEventError extends ModelError {
  override readonly name = 'LateEventError';
}

/** What the loop needs from an optimistic PE, where only events before the LBTS are final and some have been cancelled. */
interface InOrderOptimism {
  /** `Finals.times`. */
  readonly times: Float64Array;
  /** [0]: receive time of the event handled last; NaN before the first. */
  readonly last: Float64Array;
  /** Carries out what the handler of event `h` asked for, by the flags in its state. */
  commitFlags(state: number, h: number): void;
}

interface InOrderLoop {
  /** Handles up to `max` events with receive times below `bound`; returns how many. */
  run(max: number, bound: number): number;
  /** Handles one and times it; returns how many (0 or 1). */
  sample(bound: number, clock: ActivityClock): number;
  /** [0]: receive time of the event handled last; NaN before the first. */
  readonly last: Float64Array;
  /** On one PE of several, the event that `run` or `sample` handled last, which is kept until the next is; 0 for none. */
  kept(): number;
  /** Frees it. */
  forget(): void;
}

/**
 * The loop of one PE. A closure made once, over constants only: V8 compiles the addresses of all memory
 * into it, which halves the time per event.
 * @param deliver called where a handler has sent to other PEs; null on one PE
 * @param optimism null where no event is ever undone
 */
export function inOrderLoop(
  pe: Pe,
  deliver: (() => void) | null,
  optimism: InOrderOptimism | null,
): InOrderLoop {
  const { queue, pool, only, counts, tally, handlerTimes, timers } = pe;
  const { F, I } = pool;
  const paths = pe.paths;
  const tracer = pe.instrument?.commits ?? (optimism && pe.instrument?.tracer) ?? null;
  const begin = tracer?.begin ?? null;
  const DONE = C.eventsProcessed;
  const COMMITTED = C.committed;
  const TIES = C.eventTies;
  const REMOTE_EVENTS = C.remoteEvents;
  // A double in a typed array: as a variable of the closure it would be allocated anew at each change.
  const last = optimism?.last ?? new Float64Array(16).fill(Number.NaN);
  const times = optimism?.times ?? new Float64Array(16).fill(Infinity);

  // With one LP type its context is a constant of this closure too.
  const contextOf =
    only === null ? (index: number): LpContext => pe.contextOf(index) : (): LpContext => only;

  const handle = (index: number, h: number): void => {
    const i = h << 1;
    if (timers !== null) {
      if (timers.isCancelled(h, index)) {
        timers.drop();
        counts[DONE]--;
        counts[COMMITTED]--;
        return;
      }
      timers.fire(h, index, null);
    }
    const t = F[h];
    if (t === last[0]) counts[TIES]++;
    last[0] = t;
    const lp = contextOf(index);
    if (only === null) pe.current = lp;
    lp.enter(index, h);
    if (optimism !== null) I[i + BITS] = 0;
    const path = Math.max(paths[index], I[i + PATH]) + 1;
    paths[index] = path;
    lp.path = path;
    const handlers = lp.handlers;
    if (begin !== null) begin();
    const returned: unknown = handlers.forward(lp, lp.received);
    if (returned !== undefined) expectNoPromise(returned);
    if (deliver !== null && pe.nStaged > 0) deliver();
    pe.committed(h, lp.id);
    if (tracer !== null) tracer.record(h, index);
    if (handlers.commit !== undefined) {
      const reader = lp.reader.enter(index, h);
      const none: unknown = handlers.commit(reader, reader.message);
      if (none !== undefined) expectNoPromise(none);
    }
    const state = I[i + STATE];
    if (optimism !== null) {
      if (state > STATE_MASK) optimism.commitFlags(state, h);
      if (tally !== null) tally.add(index, T_PROCESSED);
      return;
    }
    if (state >= REMOTE) counts[REMOTE_EVENTS]++;
    if (tally !== null) tally.handled(index, F[h], state >= REMOTE);
  };

  // Arriving events must not come before the last event: on one conservative PE of several it is kept until the next has been taken.
  const kept = new Int32Array(32);
  const forget = (): void => {
    if (kept[0] !== 0) pe.freeEvent(kept[0]);
    kept[0] = 0;
  };
  const keeps = deliver !== null && optimism === null;

  /** Takes the first event before `bound` that may be handled in order; 0 for none. */
  const next = (bound: number): number => {
    if (optimism === null) return queue.take(bound);
    for (;;) {
      // What a handler sends or asks for may lower the LBTS.
      const h = queue.take(Math.min(bound, times[LBTS]));
      if (h === 0 || (I[(h << 1) + STATE] & STATE_MASK) !== CANCELLED) return h;
      pe.freeEvent(h);
    }
  };

  const sample = (bound: number, clock: ActivityClock): number => {
    const take = () => next(bound);
    const sampled = clock.sampleEvent(
      take,
      (h) => queue.push(F[h], h),
      (h) => {
        forget();
        const index = I[(h << 1) + DEST];
        handlerTimes.begin(index);
        handle(index, h);
        kept[0] = h;
        if (!keeps) forget();
      },
    );
    if (!sampled) return 0;
    handlerTimes.end(clock.handledMs);
    counts[DONE]++;
    counts[COMMITTED]++;
    return 1;
  };

  /** Frees cancelled events early. O(pending). */
  const dropCancelled = (): void => {
    const isCancelled = (timers as TimerEvents).forGood([]);
    queue.sweep((h) => {
      if (!isCancelled(h)) return true;
      pe.freeEvent(h);
      return false;
    });
  };

  const run = (max: number, bound: number): number => {
    if (timers?.isCrowded()) dropCancelled();
    let n = 0;
    let before = kept[0];
    for (; n < max; n++) {
      const h = next(bound);
      if (h === 0) break;
      if (before !== 0) pe.freeEvent(before);
      handle(I[(h << 1) + DEST], h);
      before = h;
    }
    kept[0] = before;
    if (!keeps) forget();
    counts[DONE] += n;
    counts[COMMITTED] += n;
    return n;
  };

  return { run, sample, last, kept: () => kept[0], forget };
}

/** Whether event `h` comes after the GVT's event, as far as a GVT's tie-breakers can tell. */
export function comesAfter(pe: Pe, h: number, gvt: Gvt): boolean {
  const t = pe.pool.F[h];
  return t > gvt.time || (t === gvt.time && compareGvts(pe.keyOf(h, KEY), gvt) > 0);
}

const KEY = startOfTime();

/**
 * Conservative handling on one PE of several: what has arrived is in the future of everything handled. This
 * follows from how far the scheduler lets it go (`Gvt.underWay`), and is checked nevertheless: a run that
 * violates it ends with an error.
 */
export class InOrderEngine implements Engine, Receiver {
  readonly finals = null;
  starved = false;
  private readonly pe: Pe;
  private readonly loop: InOrderLoop;

  constructor(pe: Pe, transport: Transport) {
    this.pe = pe;
    const deliver = () => pe.deliver(transport);
    this.deliver = deliver;
    this.loop = inOrderLoop(pe, transport.pes === 1 ? null : deliver, null);
  }

  readonly deliver: () => void;

  run(max: number, bound: number): number {
    return this.loop.run(max, bound);
  }

  sample(bound: number, clock: ActivityClock): number {
    return this.loop.sample(bound, clock);
  }

  first(): number {
    return this.pe.queue.peek();
  }

  runAtGvt(max: number, gvt: Gvt): number {
    let n = 0;
    while (n < max) {
      const h = this.first();
      if (h === 0 || comesAfter(this.pe, h, gvt)) break;
      n += this.loop.run(1, Infinity);
    }
    return n;
  }

  least(): number {
    const h = this.pe.queue.peek();
    return h === 0 ? Infinity : this.pe.pool.F[h];
  }

  readonly arriving = (): number => this.pe.pool.allocArrived();

  readonly arrived = (h: number): void => {
    const { pool, queue, counts } = this.pe;
    if (pool.F[h] <= this.loop.last[0]) this.expectAfterLast(h);
    pool.I[(h << 1) + STATE] = PENDING | REMOTE;
    queue.push(pool.F[h], h);
    counts[C.remoteReceives]++;
    if (this.pe.tally !== null) this.pe.tally.add(pool.I[(h << 1) + DEST], T_RECEIVES);
  };

  /** @throws LateEventError if event `h`, which arrives, does not come after all handled events */
  private expectAfterLast(h: number): void {
    const { pe } = this;
    const last = this.loop.kept();
    if (!pe.signatures.before(h, last)) return;
    const describe = (event: number) => {
      const { F, I } = pe.pool;
      const i = event << 1;
      return `the event from LP ${I[i + SOURCE]} to LP ${pe.ids[I[i + DEST]]} at virtual time ${F[event]}`;
    };
    const { lookahead } = pe.config;
    const time = pe.pool.F[last];
    // A GVT distinguishes events of one time only by the tie-breakers that it carries.
    const why =
      time + lookahead === time
        ? `--lookahead=${lookahead} does not move virtual time here, and chains of more than ${GVT_TIES} events without an offset are not told apart; raise it, or take --synch=3`
        : "this is a mistake of the simulator's; --synch=3 gets by without this order";
    throw new LateEventError(
      `${describe(h)} reached PE ${pe.number} after ${describe(last)} had been handled there, so the run would be wrong: ${why}`,
    );
  }

  cancelled(): void {
    throw new Error('a conservative PE cannot undo events');
  }

  fossilCollect(gvt: Gvt): void {
    if (gvt.time >= Math.min(this.pe.config.end, this.pe.stopTime)) this.loop.forget();
    this.pe.counts[C.fossilCollects]++;
    this.pe.pool.settle();
  }

  rollBackFrom(): number {
    return 0;
  }

  span(): number {
    return 0;
  }

  sweepCancelled(): void {}

  stopTime(): number {
    return Math.min(this.pe.stopTime, this.pe.config.end);
  }
}
