/** The hot half of Time Warp: handling events ahead of GVT. Closures over constants only, as in `in-order.ts`. */

import { C } from './counters.ts';
import * as tallies from './instrument/tally.ts';
import * as kpLayout from './kp-layout.ts';
import * as layout from './layout.ts';
import type { LpContext } from './lp.ts';
import { ModelError } from './model.ts';
import { expectNoPromise } from './model-check.ts';
import type { OptimisticLp } from './optimistic-lp.ts';
import type { TimeWarp } from './time-warp.ts';

const { T_PROCESSED } = tallies;
const { BITS, CANCELLED, DEST, PATH, PROCESSED, STATE, STATE_MASK } = layout;
const { CURRENT, E_CORE_DRAWS, E_DRAWS, E_FLAGS, E_HANDLE, E_PATH, KP_SHIFT, NEWEST, SKIPPED } =
  kpLayout;

// Integers of `marks`.
const DONE_IN_RUN = 0;
const IN_HANDLER = 1;

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
}

export function speculation(engine: TimeWarp): Speculation {
  const { pe, kps, kpTimes, suspended, entries } = engine;
  const { E, K } = entries;
  const { pool, queue, signatures, counts, paths, tally } = pe;
  const tracer = pe.instrument?.tracer ?? null;
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
      if (t === last[0]) counts[TIES]++;
      last[0] = t;
      kpTimes[k] = t;
      const lp = contextOf(index);
      engine.current = lp;
      lp.enter(index, h);
      if (lp.logged) lp.state.$log = kps[k];
      I[i + BITS] = 0;
      const before = paths[index];
      const path = Math.max(before, I[i + PATH]) + 1;
      paths[index] = path;
      lp.path = path;
      const at = entries.append(s);
      E[at + E_HANDLE] = h;
      E[at + E_PATH] = before;
      if (suspended.any && suspended.has(index)) end(lp, h, SKIPPED);
      else {
        if (begin !== null) begin();
        marks[IN_HANDLER] = 1;
        const returned: unknown = lp.handlers.forward(lp, lp.received);
        if (returned !== undefined) expectNoPromise(returned);
        marks[IN_HANDLER] = 0;
        end(lp, h, 0);
      }
      if (engine.starved) return;
      h = 0;
    }
  }

  /** What a handler threw may be the fruit of wrong speculation: held, until its event commits or is undone. */
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
      counts[DONE] += marks[DONE_IN_RUN];
    }
  }

  function run(max: number, bound: number): number {
    marks[DONE_IN_RUN] = 0;
    try {
      for (;;) {
        try {
          loop(0, max, bound);
          break;
        } catch (error) {
          caught(error);
          if (engine.starved) break;
        }
      }
    } finally {
      counts[DONE] += marks[DONE_IN_RUN];
    }
    return marks[DONE_IN_RUN];
  }

  return { handle, run };
}
