/**
 * The hot half of Time Warp: handling events ahead of GVT. Closures over constants only, as in `in-order.ts`.
 *
 * An event before the LBTS, a lower bound on the time stamps of all that may still arrive, is handled in order: every
 * event before it has been handled, and none can arrive. It is final at once, without an entry in its KP. So the PE that
 * lags behind works in order, and only events handled ahead of the others cost more (J. Steinman, "Breathing Time
 * Warp", 1993, alternates so between phases of all PEs). Where a PE goes no further than its LBTS, the loop of conservative PEs
 * handles its events.
 */

import type { ActivityClock } from './clock.ts';
import { C } from './counters.ts';
import * as final from './finals.ts';
import { inOrderLoop } from './in-order.ts';
import * as tallies from './instrument/tally.ts';
import * as kpLayout from './kp-layout.ts';
import * as layout from './layout.ts';
import type { LpContext } from './lp.ts';
import { ModelError } from './model.ts';
import { expectNoPromise } from './model-check.ts';
import type { OptimisticLp } from './optimistic-lp.ts';
import type { TimeWarp } from './time-warp.ts';

const { LAST_FINAL, LBTS } = final;
const { T_PROCESSED } = tallies;
const {
  ASKS_HOOK,
  ASKS_STOP,
  BITS,
  CANCELLED,
  DEST,
  HAS_OUTPUT,
  PATH,
  PROCESSED,
  REMOTE,
  STATE,
  STATE_MASK,
} = layout;
const {
  CURRENT,
  DROPPED,
  E_CORE_DRAWS,
  E_DRAWS,
  E_FLAGS,
  E_HANDLE,
  E_PATH,
  KP_SHIFT,
  LENGTH,
  NEWEST,
  SKIPPED,
} = kpLayout;

// Integers of `marks`.
const DONE_IN_RUN = 0;
const IN_HANDLER = 1;
const FINAL = 2;
/** Whether events may have to be undone. */
const AHEAD = 3;

/** A handler threw during speculation, and the hand-written `reverse` of its LP type cannot undo half an event. */
export class SpeculationError extends ModelError {
  override readonly name = 'SpeculationError';
  constructor(lp: LpContext, h: number, index: number, cause: unknown) {
    lp.enter(index, h);
    const what = cause instanceof Error ? cause.message : String(cause);
    super(
      `${lp.describe()}: ${what} (thrown in an event that is now rolled back; reverse() cannot undo half of it: leave reverse() out, or use lp.suspend())`,
    );
  }
}

interface Speculation {
  readonly handle: (h: number) => void;
  readonly run: (max: number, bound: number) => number;
  /** Handles one event and times it; returns how many (0 or 1). */
  readonly sample: (bound: number, clock: ActivityClock) => number;
}

export function speculation(engine: TimeWarp): Speculation {
  const { pe, kps, kpTimes, suspended, entries } = engine;
  const { E, K } = entries;
  const { finals } = engine;
  const { times } = finals;
  const { pool, queue, signatures, counts, paths, tally, ids, timers, handlerTimes } = pe;
  const tracer = pe.instrument?.tracer ?? null;
  const commits = pe.instrument?.commits ?? null;
  const begin = tracer?.begin ?? null;
  const { F, I } = pool;
  const kpOf = pe.kps;
  const only = pe.only as OptimisticLp | null;
  const contextOf =
    only === null
      ? (index: number): OptimisticLp => pe.contextOf(index) as OptimisticLp
      : (): OptimisticLp => only;
  const DONE = C.eventsProcessed;
  const TIES = C.eventTies;
  const COMMITTED = C.committed;
  const FLAGS = REMOTE | HAS_OUTPUT | ASKS_HOOK | ASKS_STOP;
  // A double in a typed array: as a variable of the closure it would be allocated anew at each change.
  const last = new Float64Array(16).fill(Number.NaN);
  const marks = new Int32Array(32);

  function end(lp: OptimisticLp, h: number, flags: number): void {
    const at = K[CURRENT];
    K[CURRENT] = 0;
    E[at + E_DRAWS] = lp.draws;
    E[at + E_CORE_DRAWS] = lp.coreDraws;
    E[at + E_FLAGS] = flags;
    const i = (h << 1) + STATE;
    I[i] = (I[i] & ~STATE_MASK) | PROCESSED;
    marks[DONE_IN_RUN]++;
    if (tally !== null) tally.add(lp.index, T_PROCESSED);
    if (tracer !== null) tracer.record(h, lp.index);
    if (pe.nStaged > 0) engine.deliver();
    if (lp.aborted) engine.abort(lp, kps[kpOf[lp.index]]);
  }

  /** Commits an event that is final at once; one that has suspended its LP stays, for the next GVT to stop the run. */
  function commit(lp: OptimisticLp, h: number, index: number): void {
    marks[DONE_IN_RUN]++;
    if (tally !== null) tally.add(index, T_PROCESSED);
    if (tracer !== null) tracer.record(h, index);
    if (pe.nStaged > 0) engine.deliver();
    if (suspended.any) return;
    marks[FINAL]++;
    pe.committed(h, ids[index]);
    if (commits !== null) commits.record(h, index);
    if (lp.handlers.commit !== undefined) {
      const reader = lp.reader.enter(index, h);
      lp.handlers.commit(reader, reader.message);
    }
    const state = I[(h << 1) + STATE];
    if ((state & FLAGS) !== 0) engine.commitFlags(state, h);
    pe.freeEvent(h);
  }

  /** Event `h` of a timer has been cancelled: it counts as handled in its place, without any effect. */
  function drop(h: number, index: number, k: number, final: boolean): void {
    timers?.drop();
    marks[DONE_IN_RUN]++;
    counts[DONE]--;
    if (final) {
      pe.freeEvent(h);
      return;
    }
    kpTimes[k] = F[h];
    marks[AHEAD] = 1;
    const at = entries.append((k + 1) << KP_SHIFT);
    K[CURRENT] = 0;
    E[at + E_HANDLE] = h;
    E[at + E_PATH] = paths[index];
    E[at + E_DRAWS] = 0;
    E[at + E_CORE_DRAWS] = 0;
    E[at + E_FLAGS] = DROPPED;
    const i = (h << 1) + STATE;
    I[i] = (I[i] & ~STATE_MASK) | PROCESSED;
  }

  /** Counts what has been handled since `marks` was reset. */
  function count(): void {
    counts[DONE] += marks[DONE_IN_RUN];
    counts[COMMITTED] += marks[FINAL];
    marks[FINAL] = 0;
  }

  /**
   * Handles `event`, which has been taken from the queue, if it is not 0; then others until `max` are done in all.
   * One function, too long to be inlined into its callers: each of those would be compiled with all of it.
   */
  function loop(event: number, max: number, bound: number): void {
    let h = event;
    for (;;) {
      if (h === 0) {
        if (marks[DONE_IN_RUN] >= max) return;
        h = queue.take(bound);
        if (h === 0) return;
        if ((I[(h << 1) + STATE] & STATE_MASK) === CANCELLED) {
          pe.freeEvent(h);
          h = 0;
          continue;
        }
      }
      const i = h << 1;
      const index = I[i + DEST];
      const k = kpOf[index];
      const s = (k + 1) << KP_SHIFT;
      const t = F[h];
      const newest = kpTimes[k];
      if (t <= newest && (t < newest || signatures.tieBefore(h, E[K[s + NEWEST] + E_HANDLE]))) {
        engine.straggler(kps[k], h);
      }
      const final = t < times[LBTS] && !suspended.any;
      if (final) {
        times[LAST_FINAL] = t;
        // Earlier events of the LP are final too, and commit in order.
        if (K[s + LENGTH] > 0) engine.commitKp(k);
      }
      if (timers?.isCancelled(h, index) && !(suspended.any && suspended.has(index))) {
        drop(h, index, k, final);
        h = 0;
        continue;
      }
      if (t === last[0]) counts[TIES]++;
      last[0] = t;
      const lp = contextOf(index);
      engine.current = lp;
      lp.enter(index, h);
      if (lp.logged) lp.state.$log = final ? null : kps[k];
      I[i + BITS] = 0;
      const before = paths[index];
      const path = Math.max(before, I[i + PATH]) + 1;
      paths[index] = path;
      lp.path = path;
      if (!final) {
        marks[AHEAD] = 1;
        kpTimes[k] = t;
        const at = entries.append(s);
        E[at + E_HANDLE] = h;
        E[at + E_PATH] = before;
      }
      if (suspended.any && suspended.has(index)) end(lp, h, SKIPPED);
      else {
        if (timers !== null) timers.fire(h, index, final ? null : kps[k]);
        if (begin !== null) begin();
        marks[IN_HANDLER] = 1;
        const returned: unknown = lp.handlers.forward(lp, lp.received);
        if (returned !== undefined) expectNoPromise(returned);
        marks[IN_HANDLER] = 0;
        if (final) commit(lp, h, index);
        else end(lp, h, 0);
      }
      if (engine.starved) return;
      h = 0;
    }
  }

  /** An exception of a handler may be caused by wrong speculation: it is held until its event commits or is undone. */
  function caught(error: unknown): void {
    if (marks[IN_HANDLER] === 0 || error instanceof SpeculationError) throw error;
    marks[IN_HANDLER] = 0;
    const lp = engine.current;
    end(lp, lp.h, engine.hold(lp, error));
  }

  function handle(h: number): void {
    marks[DONE_IN_RUN] = 0;
    try {
      loop(h, 1, Number.NEGATIVE_INFINITY);
    } catch (error) {
      caught(error);
    } finally {
      count();
    }
  }

  const inOrder = inOrderLoop(pe, engine.deliver, {
    times,
    last,
    commitFlags: (state, h) => engine.commitFlags(state, h),
  });
  const logged = (pe.contexts as readonly OptimisticLp[]).filter((lp) => lp.logged);

  /** Whether all events before `bound` are final, and none that has been handled has to be undone. */
  function isInOrder(bound: number): boolean {
    if (!finals.inOrder || !(bound <= times[LBTS]) || suspended.any) return false;
    if (marks[AHEAD] !== 0) {
      if (kps.some((kp) => kp.length > 0)) return false;
      marks[AHEAD] = 0;
    }
    for (const lp of logged) lp.state.$log = null;
    return true;
  }

  function runInOrder(max: number, bound: number): number {
    try {
      return inOrder.run(max, bound);
    } finally {
      leaveOrder();
    }
  }

  function leaveOrder(): void {
    if (last[0] > times[LAST_FINAL]) times[LAST_FINAL] = last[0];
    if (only === null) engine.current = pe.current as OptimisticLp;
  }

  function run(max: number, bound: number): number {
    if (isInOrder(bound)) return runInOrder(max, bound);
    marks[DONE_IN_RUN] = 0;
    try {
      for (;;) {
        try {
          loop(0, max, bound);
          return marks[DONE_IN_RUN];
        } catch (error) {
          caught(error);
          if (engine.starved) return marks[DONE_IN_RUN];
        }
      }
    } finally {
      count();
    }
  }

  function sample(bound: number, clock: ActivityClock): number {
    if (isInOrder(bound)) {
      try {
        return inOrder.sample(bound, clock);
      } finally {
        leaveOrder();
      }
    }
    const take = () => {
      const h = engine.first();
      return h === 0 || !(F[h] < bound) ? 0 : queue.pop();
    };
    const handleTimed = (h: number) => {
      handlerTimes.begin(I[(h << 1) + DEST]);
      handle(h);
    };
    if (!clock.sampleEvent(take, (h) => queue.push(F[h], h), handleTimed)) return 0;
    handlerTimes.end(clock.handledMs);
    return 1;
  }

  return { handle, run, sample };
}
