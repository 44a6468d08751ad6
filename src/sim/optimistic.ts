/**
 * Time Warp on one PE: handle events ahead of GVT, roll a KP back when one arrives in its past, commit what
 * GVT has passed (D. Jefferson, "Virtual Time", 1985; rollback by KP as ROSS).
 *
 * Stragglers show when they are taken from the queue: its first event may precede what its KP has handled,
 * whether it came from another PE or from another KP of this one. Cancelled events stay in the queue and
 * are freed when they surface.
 */

import { engineMarks, MARK_ROLLBACK } from '../model/engine-marks.ts';
import { Channels } from './channels.ts';
import type { ActivityClock } from './clock.ts';
import { committer } from './commit.ts';
import { C } from './counters.ts';
import type { Engine } from './engine.ts';
import { Finals } from './finals.ts';
import { HeldOutputs } from './held-outputs.ts';
import { HeldStops } from './held-stops.ts';
import { comesAfter } from './in-order.ts';
import { RollbackWatch } from './instrument/rollback-watch.ts';
import type { Kp, KpEntries } from './kp.ts';
import * as kpLayout from './kp-layout.ts';
import * as layout from './layout.ts';
import type { LpContext } from './lp.ts';
import type { KpMemory } from './optimistic-contexts.ts';
import type { OptimisticLp } from './optimistic-lp.ts';
import type { Pe } from './pe.ts';
import { SpeculationError, speculation } from './speculation.ts';
import { Suspensions } from './suspensions.ts';
import { unDraw } from './ties.ts';
import type { TimeWarp } from './time-warp.ts';
import { type Gvt, type Receiver, startOfTime, type Transport } from './transport/transport.ts';

const {
  ASKS_HOOK,
  ASKS_STOP,
  CANCELLED,
  CHANNEL,
  DEST,
  HAS_OUTPUT,
  ORIGIN_SHIFT,
  PENDING,
  PROCESSED,
  REMOTE,
  STATE,
  STATE_MASK,
} = layout;
const {
  BROKEN,
  CURRENT,
  DROPPED,
  E_CORE_DRAWS,
  E_DRAWS,
  E_FLAGS,
  E_HANDLE,
  E_OUT,
  E_OUTS,
  E_PATH,
  E_UNDO,
  OUT_PAST_END,
} = kpLayout;

export class Optimism implements Engine, Receiver, TimeWarp {
  readonly pe: Pe;
  readonly kps: readonly Kp[];
  readonly entries: KpEntries;
  private readonly transport: Transport;
  private readonly clock: ActivityClock;
  /** Receive time of each KP's newest handled event; -Infinity where there is none. */
  readonly kpTimes: Float64Array;
  private readonly kpOf: Int32Array;
  private readonly cancelStack: number[] = [];
  private readonly watch: RollbackWatch | null;
  /** Marks of regions, for observers outside the simulator. */
  private readonly marks = engineMarks();
  readonly channels: Channels;
  private readonly heldOutputs = new HeldOutputs();
  private readonly heldStops = new HeldStops();
  readonly suspended: Suspensions;
  readonly finals: Finals;
  private readonly upTo = startOfTime();
  /** Out of event memory since the last GVT. */
  starved = false;
  current: OptimisticLp;

  constructor(pe: Pe, kept: KpMemory, transport: Transport, clock: ActivityClock) {
    this.pe = pe;
    this.kps = kept.kps;
    this.entries = kept.entries;
    const { kps } = kept;
    this.transport = transport;
    this.clock = clock;
    this.kpTimes = new Float64Array(kps.length).fill(-Infinity);
    this.kpOf = pe.kps;
    this.channels = new Channels(transport.pes);
    this.suspended = new Suspensions(pe.pool);
    this.finals = new Finals(pe.lookahead);
    this.watch = RollbackWatch.of(pe);
    for (const lp of pe.contexts) (lp as OptimisticLp).engine = this;
    this.current = pe.contexts[0] as OptimisticLp;
    const { handle, run, sample } = speculation(this);
    this.handle = handle;
    this.run = run;
    this.sample = sample;
    const { fossilCollect, commitKp } = committer(this);
    this.fossilCollect = fossilCollect;
    this.commitKp = commitKp;
  }

  // --- forward -------------------------------------------------------------------------------------

  /**
   * Handles up to `max` events with receive times below `bound`; returns how many.
   * @throws the error of a handler, if it cannot be held until the event commits
   */
  readonly run: (max: number, bound: number) => number;
  /** Handles event `h`, which has been taken from the queue. */
  readonly handle: (h: number) => void;
  /** Handles one event and times it; returns how many (0 or 1). */
  readonly sample: (bound: number, clock: ActivityClock) => number;

  runAtGvt(max: number, gvt: Gvt): number {
    let n = 0;
    while (n < max && !this.starved) {
      const h = this.first();
      if (h === 0 || comesAfter(this.pe, h, gvt)) break;
      this.pe.queue.pop();
      this.handle(h);
      n++;
    }
    return n;
  }

  /** The first pending event that is not cancelled, still in the queue; 0 for none. */
  first(): number {
    const { queue, pool } = this.pe;
    for (;;) {
      const h = queue.peek();
      if (h === 0 || (pool.I[(h << 1) + STATE] & STATE_MASK) !== CANCELLED) return h;
      queue.pop();
      this.pe.freeEvent(h);
    }
  }

  /** Least time of any pending event; Infinity for none. */
  least(): number {
    const h = this.first();
    return h === 0 ? Infinity : this.pe.pool.F[h];
  }

  /** An exception may be caused by wrong speculation: it is held until the event commits. Returns entry flags. */
  hold(lp: OptimisticLp, error: unknown): number {
    this.suspended.add(lp.index, lp.h, '', error);
    return lp.handlers.reverse === undefined ? 0 : BROKEN;
  }

  abort(lp: OptimisticLp, kp: Kp): void {
    lp.aborted = false;
    this.starved = true;
    this.pe.counts[C.eventsAborted]++;
    const started = this.clock.begin();
    this.watch?.abort(kp.number, lp.h);
    this.undoNewest(kp, true);
    this.watch?.end();
    this.clock.end('eventAbort', started);
    this.settle();
  }

  readonly deliver = (): void => {
    const { pe, finals } = this;
    for (let k = 0; k < pe.nStaged; k += 3) finals.sent(pe.pool.F[pe.staged[k]]);
    pe.deliver(this.transport);
  };

  // --- rollback ------------------------------------------------------------------------------------

  straggler(kp: Kp, h: number): void {
    const started = this.clock.beginSampled('rollback');
    this.marks?.enter(MARK_ROLLBACK);
    this.pe.counts[C.primaryRollbacks]++;
    const sig = this.pe.signatures;
    this.watch?.straggler(kp.number, h, this.kpTimes[kp.number]);
    while (kp.length > 0 && sig.before(h, kp.newestEvent())) this.undoNewest(kp, true);
    this.watch?.end();
    this.marks?.exit(MARK_ROLLBACK);
    this.clock.endSampled('rollback', started);
    this.settle();
  }

  /** Undoes the newest event of `kp`; puts it back into the queue, or frees it. */
  private undoNewest(kp: Kp, requeue: boolean): void {
    const pe = this.pe;
    const { F, I } = pe.pool;
    const { E } = this.entries;
    const e = kp.newest();
    const h = E[e + E_HANDLE];
    const flags = E[e + E_FLAGS];
    const i = h << 1;
    const index = I[i + DEST];
    const lp = pe.contextOf(index) as OptimisticLp;
    if ((flags & BROKEN) !== 0) {
      throw new SpeculationError(lp, h, index, this.suspended.errorOf(index));
    }
    lp.enter(index, h);
    if (flags === 0) {
      if (lp.handlers.reverse !== undefined) lp.reverse();
      for (let n = E[e + E_UNDO]; n > 0; n--) kp.restore(pe.memory.i32, pe.spareWords);
      unDraw(pe.memory.f64, lp.base, E[e + E_DRAWS]);
      pe.ties.takeBack(index, lp.base, E[e + E_CORE_DRAWS]);
      const outs = E[e + E_OUTS];
      for (let n = 1; n < outs; n++) this.cancelOut(kp.popOut(), F[h], index);
      if (outs > 0) this.cancelOut(E[e + E_OUT], F[h], index);
    }
    pe.paths[index] = E[e + E_PATH];
    if (this.suspended.any) this.suspended.rolledBack(index, h);
    if ((I[i + STATE] & HAS_OUTPUT) !== 0) this.heldOutputs.take(h);
    if ((I[i + STATE] & ASKS_STOP) !== 0) this.heldStops.take(h);
    this.entries.dropNewest(kp.at);
    this.kpTimes[kp.number] = kp.length === 0 ? -Infinity : F[kp.newestEvent()];
    if (flags !== DROPPED) {
      pe.counts[C.eventsRolledBack]++;
      this.watch?.undid(index);
      pe.trace?.undone(h, index);
    }
    if (requeue) {
      I[i + STATE] = (I[i + STATE] & ~(STATE_MASK | HAS_OUTPUT | ASKS_HOOK | ASKS_STOP)) | PENDING;
      pe.queue.push(F[h], h);
    } else pe.freeEvent(h);
  }

  /** Undoes an output of an event of LP `index` at `time`. */
  private cancelOut(code: number, time: number, index: number): void {
    if (code === OUT_PAST_END) {
      this.pe.counts[C.eventsPastEnd]--;
    } else if (code < 0) {
      const n = -2 - code;
      const pes = this.transport.pes;
      const to = n % pes;
      const channel = (n - to) / pes;
      this.transport.cancel(to, channel, time, this.watch?.rollback ?? 0);
      this.finals.sent(time);
      this.pe.counts[C.remoteSends]++;
      this.watch?.tookBack(index);
      this.channels.give(to, channel);
    } else this.cancelLocal(code, this.pe.number, this.watch?.rollback ?? 0);
  }

  /** Cancels event `h` of this PE. @param pe, rollback the rollback that cancels it */
  private cancelLocal(h: number, pe: number, rollback: number): void {
    const I = this.pe.pool.I;
    const i = (h << 1) + STATE;
    if ((I[i] & STATE_MASK) === PENDING) I[i] = (I[i] & ~STATE_MASK) | CANCELLED;
    else {
      this.cancelStack.push(h);
      this.watch?.push(pe, rollback);
    }
  }

  /** Cancels the handled events on the stack, each with all that its KP handled after it. */
  private settle(): void {
    const stack = this.cancelStack;
    if (stack.length === 0) return;
    const started = this.clock.beginSampled('cancelQueue');
    this.marks?.enter(MARK_ROLLBACK);
    const I = this.pe.pool.I;
    while (stack.length > 0) {
      const h = stack.pop() as number;
      const i = h << 1;
      this.watch?.pop();
      if ((I[i + STATE] & STATE_MASK) === PROCESSED) {
        const kp = this.kps[this.kpOf[I[i + DEST]]];
        this.pe.counts[C.secondaryRollbacks]++;
        this.watch?.cancellation(kp.number, h, this.kpTimes[kp.number]);
        while (kp.newestEvent() !== h) this.undoNewest(kp, true);
        this.undoNewest(kp, false);
        this.watch?.end();
      } else I[i + STATE] = (I[i + STATE] & ~STATE_MASK) | CANCELLED;
    }
    this.marks?.exit(MARK_ROLLBACK);
    this.clock.endSampled('cancelQueue', started);
  }

  /** Rolls back every event handled at or after `time`, and after the last final one; returns how many. */
  rollBackFrom(time: number): number {
    this.upTo.time = this.finals.settled;
    this.fossilCollect(this.upTo);
    let n = 0;
    for (const kp of this.kps) {
      if (kp.length === 0 || this.kpTimes[kp.number] < time) continue;
      this.watch?.cancelback(kp.number, kp.newestEvent());
      while (kp.length > 0 && this.kpTimes[kp.number] >= time) {
        this.undoNewest(kp, true);
        n++;
      }
      this.watch?.end();
    }
    this.settle();
    return n;
  }

  /**
   * Frees cancelled events that have not surfaced yet. O(pending).
   * @param ofTimers whether those of timers, too, which otherwise are dropped in their turn
   */
  sweepCancelled(ofTimers = true): void {
    const { pool, queue, timers } = this.pe;
    const forGood = ofTimers ? timers?.forGood(this.kps) : undefined;
    queue.sweep((h) => {
      const isCancelled = (pool.I[(h << 1) + STATE] & STATE_MASK) === CANCELLED;
      if (!isCancelled && !forGood?.(h)) return true;
      this.pe.freeEvent(h);
      return false;
    });
  }

  /** Virtual time from `gvt` to the furthest event handled. */
  span(gvt: number): number {
    let furthest = gvt;
    for (const time of this.kpTimes) if (time > furthest) furthest = time;
    return furthest - gvt;
  }

  // --- messages ------------------------------------------------------------------------------------

  readonly arriving = (): number => this.pe.pool.allocArrived();

  readonly arrived = (h: number, from: number, channel: number): void => {
    const { pool, queue } = this.pe;
    const i = h << 1;
    pool.I[i + STATE] = PENDING | REMOTE | (from << ORIGIN_SHIFT);
    pool.I[i + CHANNEL] = channel;
    this.channels.arrived(from, channel, h);
    this.finals.expectAfter(pool.F[h]);
    queue.push(pool.F[h], h);
    this.pe.counts[C.remoteReceives]++;
    this.watch?.received(h);
  };

  cancelled(from: number, channel: number, rollback: number): void {
    const { pe } = this;
    pe.counts[C.remoteReceives]++;
    const started = this.clock.beginSampled('avl');
    const h = this.channels.forget(from, channel);
    this.clock.endSampled('avl', started);
    this.finals.expectAfter(pe.pool.F[h]);
    this.watch?.received(h);
    this.cancelLocal(h, from, rollback);
    this.settle();
  }

  // --- commit --------------------------------------------------------------------------------------

  /**
   * Commits every event before `gvt`, KP by KP, each in order.
   * @throws the error of a handler in an event that now commits, or the reason for which an LP suspended itself in it
   */
  readonly fossilCollect: (gvt: Gvt) => void;
  readonly commitKp: (k: number) => void;

  /** @throws the error or the suspension of the first held event before `gvt`, whichever KP it belongs to. */
  stopAtFirst(gvt: Gvt): void {
    const { pe } = this;
    const first = this.suspended.first(
      (h) => pe.precedes(h, gvt),
      (x, y) => pe.signatures.before(x, y),
    );
    if (first !== 0) this.stopIfHeld(first);
  }

  /** Carries out the requests in an event's flags when it commits. */
  commitFlags(state: number, h: number): void {
    if ((state & REMOTE) !== 0) {
      this.pe.counts[C.remoteEvents]++;
      this.watch?.committedRemote(h);
    }
    if ((state & ASKS_HOOK) !== 0) this.pe.hookAsked = true;
    if ((state & ASKS_STOP) !== 0) this.pe.stopAt(this.heldStops.take(h));
    if ((state & HAS_OUTPUT) !== 0) this.pe.outputs.push(...this.heldOutputs.take(h));
  }

  /** The event sent to another PE as output `code` will not be undone any more. */
  settled(code: number): void {
    const { pes } = this.transport;
    const to = (-2 - code) % pes;
    this.channels.give(to, (-2 - code - to) / pes);
  }

  // --- requests of handlers -----------------------------------------------------------------------

  holdOutput(h: number, lp: number, text: string): void {
    this.heldOutputs.add(h, this.pe.outputLine(h, lp, text));
  }

  holdStop(h: number, time: number): void {
    this.heldStops.add(h, time);
    this.finals.lower(time);
  }

  /** When the run stops, as far as is known here: by an event that is committed, or one that may be undone. */
  stopTime(): number {
    return this.heldStops.least(this.pe.stopTime, this.pe.config.end);
  }

  suspend(index: number, h: number, reason: string): void {
    // A final event is never undone.
    this.suspended.add(index, this.entries.K[CURRENT] === 0 ? 0 : h, reason, undefined);
  }

  /** The context of event `h`'s LP, moved to it. */
  lpOf(h: number): LpContext {
    const index = this.pe.pool.I[(h << 1) + DEST];
    const lp = this.pe.contextOf(index);
    lp.enter(index, h);
    return lp;
  }

  /** @throws the error of event `h`, which was just handled, or the reason for its suspension. */
  stopIfHeld(h: number): void {
    if (!this.suspended.any || !this.suspended.awaits(h)) return;
    this.current = this.lpOf(h) as OptimisticLp;
    this.suspended.fail(h);
  }

  /** Events handled and not committed. */
  uncommitted(): number {
    return this.kps.reduce((n, kp) => n + kp.length, 0);
  }

  /** The context of the event being handled, for error messages. */
  where(): LpContext {
    return this.current;
  }
}
