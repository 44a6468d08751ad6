/** The hot half of Time Warp: handling events ahead of GVT. Closures over constants only, as in `in-order.ts`. */
import { C } from './counters.ts';
import { BITS, CANCELLED, DEST, PATH, PROCESSED, STATE, STATE_MASK } from './event.ts';
import { T_PROCESSED } from './instrument/tally.ts';
import { E_CORE_DRAWS, E_DRAWS, E_FLAGS, E_HANDLE, E_OUTS, E_PATH, E_UNDO, SKIPPED } from './kp.ts';
import type { LpContext } from './lp.ts';
import { ModelError } from './model.ts';
import type { Optimism } from './optimistic.ts';
import type { OptimisticLp } from './optimistic-lp.ts';

// Integers of `marks`.
const BEFORE = 0;
const OUTS = 1;
const UNDO = 2;
const DONE_IN_RUN = 3;
const IN_HANDLER = 4;

/** A handler threw in speculation, and its LP type's own `reverse` cannot undo half an event. */
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

export interface Speculation {
  readonly handle: (h: number) => void;
  readonly run: (max: number, bound: number) => number;
}

export function speculation(engine: Optimism): Speculation {
  const { pe, kps, kpTimes, suspended } = engine;
  const { pool, queue, signatures, counts, paths, tally } = pe;
  const tracer = pe.instrument?.tracer ?? null;
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
  /** Marks of the event being handled. */
  const marks = new Int32Array(32);

  function begin(h: number): OptimisticLp {
    const i = h << 1;
    const index = I[i + DEST];
    const k = kpOf[index];
    const kp = kps[k];
    const t = F[h];
    const newest = kpTimes[k];
    if (
      t <= newest &&
      (t < newest || signatures.tieBefore(h, kp.entries[kp.newest() + E_HANDLE]))
    ) {
      engine.straggler(kp, h);
    }
    if (t === last[0]) counts[TIES]++;
    last[0] = t;
    const lp = contextOf(index);
    engine.current = lp;
    lp.enter(index, h);
    lp.kpOfEvent = kp;
    lp.state.$log = kp;
    I[i + BITS] = 0;
    const before = paths[index];
    const path = Math.max(before, I[i + PATH]) + 1;
    paths[index] = path;
    lp.path = path;
    marks[BEFORE] = before;
    marks[OUTS] = kp.outTail;
    marks[UNDO] = kp.undoTail;
    return lp;
  }

  function end(lp: OptimisticLp, flags: number): void {
    const kp = lp.kpOfEvent;
    const h = lp.h;
    const e = kp.append();
    const entries = kp.entries;
    entries[e + E_HANDLE] = h;
    entries[e + E_DRAWS] = lp.draws;
    entries[e + E_CORE_DRAWS] = lp.coreDraws;
    entries[e + E_OUTS] = (kp.outTail - marks[OUTS]) | 0;
    entries[e + E_UNDO] = (kp.undoTail - marks[UNDO]) | 0;
    entries[e + E_PATH] = marks[BEFORE];
    entries[e + E_FLAGS] = flags;
    const i = h << 1;
    I[i + STATE] = (I[i + STATE] & ~STATE_MASK) | PROCESSED;
    kpTimes[kp.number] = F[h];
    counts[DONE]++;
    if (tally !== null) tally.add(lp.index, T_PROCESSED);
    if (tracer !== null) tracer.record(h, lp.index);
    if (pe.nStaged > 0) engine.deliver();
    if (lp.aborted) engine.abort(lp, kp);
  }

  function forward(h: number): void {
    const lp = begin(h);
    if (suspended.any && suspended.has(lp.index)) {
      end(lp, SKIPPED);
      return;
    }
    lp.handlers.forward(lp, lp.received);
    end(lp, 0);
  }

  /** Handles events until `max` are done in all, `n` of them already. */
  function loop(max: number, bound: number): void {
    while (marks[DONE_IN_RUN] < max) {
      const h = queue.peek();
      if (h === 0) return;
      if ((I[(h << 1) + STATE] & STATE_MASK) === CANCELLED) {
        queue.pop();
        pe.freeEvent(h);
        continue;
      }
      if (!(F[h] < bound)) return;
      queue.pop();
      marks[DONE_IN_RUN]++;
      marks[IN_HANDLER] = 1;
      forward(h);
      marks[IN_HANDLER] = 0;
      if (engine.starved) return;
    }
  }

  /** What a handler threw may be the fruit of wrong speculation: held, until its event commits or is undone. */
  function caught(error: unknown): void {
    if (marks[IN_HANDLER] === 0 || error instanceof SpeculationError) throw error;
    marks[IN_HANDLER] = 0;
    const lp = engine.current;
    end(lp, engine.hold(lp, error));
  }

  function handle(h: number): void {
    marks[IN_HANDLER] = 1;
    try {
      forward(h);
    } catch (error) {
      caught(error);
    }
    marks[IN_HANDLER] = 0;
  }

  function run(max: number, bound: number): number {
    marks[DONE_IN_RUN] = 0;
    for (;;) {
      try {
        loop(max, bound);
        return marks[DONE_IN_RUN];
      } catch (error) {
        caught(error);
        if (engine.starved) return marks[DONE_IN_RUN];
      }
    }
  }

  return { handle, run };
}
