/** The other hot half of Time Warp: committing what GVT has passed. Closures over constants only, as in `in-order.ts`. */

import { C } from './counters.ts';
import type { Kp } from './kp.ts';
import * as kpLayout from './kp-layout.ts';
import * as layout from './layout.ts';
import type { LpContext } from './lp.ts';
import { expectNoPromise } from './model-check.ts';
import type { OptimisticLp } from './optimistic-lp.ts';
import type { TimeWarp } from './time-warp.ts';
import type { Gvt } from './transport/transport.ts';

const { ASKS_HOOK, ASKS_STOP, DEST, HAS_OUTPUT, REMOTE, STATE } = layout;
const {
  DROPPED,
  E_FLAGS,
  E_HANDLE,
  E_OUT,
  E_OUTS,
  E_UNDO,
  KP_SHIFT,
  LENGTH,
  OLDEST,
  OUT_PAST_END,
} = kpLayout;

interface Committer {
  readonly fossilCollect: (gvt: Gvt) => void;
  readonly commitKp: (k: number) => void;
}

/** `fossilCollect` and `commitKp` of `engine`. */
export function committer(engine: TimeWarp): Committer {
  const { pe, kps, kpTimes, suspended, entries } = engine;
  const { E, K } = entries;
  const { pool, counts, ids, only } = pe;
  const { F, I } = pool;
  const tracer = pe.instrument?.commits ?? null;
  const COMMITTED = C.committed;
  const COLLECTS = C.fossilCollects;
  const FLAGS = REMOTE | HAS_OUTPUT | ASKS_HOOK | ASKS_STOP;
  const nkp = kps.length;
  const timed = pe.timers !== null;
  const contextOf =
    only === null ? (index: number): LpContext => pe.contextOf(index) : (): LpContext => only;

  function commit(k: number, at: number, h: number): void {
    const i = h << 1;
    const index = I[i + DEST];
    if (timed && (E[at + E_FLAGS] & DROPPED) !== 0) {
      entries.dropOldest((k + 1) << KP_SHIFT);
      counts[COMMITTED]--;
      pe.freeEvent(h);
      return;
    }
    const outs = E[at + E_OUTS];
    if (outs > 0) {
      const code = E[at + E_OUT];
      if (code < OUT_PAST_END) engine.settled(code);
      if (outs > 1) settle(kps[k], outs - 1);
    }
    const undo = E[at + E_UNDO];
    if (undo > 0) kps[k].undoHead = (kps[k].undoHead + undo) | 0;
    entries.dropOldest((k + 1) << KP_SHIFT);
    pe.committed(h, ids[index]);
    if (tracer !== null) tracer.record(h, index);
    const lp = contextOf(index);
    if (lp.handlers.commit !== undefined) announce(lp, index, h);
    const state = I[i + STATE];
    if ((state & FLAGS) !== 0) engine.commitFlags(state, h);
    pe.freeEvent(h);
  }

  /** Outputs beyond an event's first. */
  function settle(kp: Kp, count: number): void {
    for (let n = 0; n < count; n++) {
      const code = kp.shiftOut();
      if (code < OUT_PAST_END) engine.settled(code);
    }
  }

  function announce(lp: LpContext, index: number, h: number): void {
    lp.enter(index, h);
    engine.current = lp as OptimisticLp;
    const reader = lp.reader.enter(index, h);
    const none: unknown = lp.handlers.commit?.(reader, reader.message);
    if (none !== undefined) expectNoPromise(none);
  }

  function commitKp(k: number): void {
    const s = (k + 1) << KP_SHIFT;
    let n = 0;
    while (K[s + LENGTH] > 0) {
      const at = K[s + OLDEST];
      commit(k, at, E[at + E_HANDLE]);
      n++;
    }
    kpTimes[k] = -Infinity;
    counts[COMMITTED] += n;
  }

  function fossilCollect(gvt: Gvt): void {
    if (suspended.any) engine.stopAtFirst(gvt);
    const { time } = gvt;
    let n = 0;
    for (let k = 0; k < nkp; k++) {
      const s = (k + 1) << KP_SHIFT;
      while (K[s + LENGTH] > 0) {
        const at = K[s + OLDEST];
        const h = E[at + E_HANDLE];
        if (!(F[h] < time) && !pe.precedes(h, gvt)) break;
        commit(k, at, h);
        n++;
      }
      if (K[s + LENGTH] === 0) kpTimes[k] = -Infinity;
    }
    counts[COMMITTED] += n;
    counts[COLLECTS]++;
    if (timed && pe.timers?.isCrowded()) engine.sweepCancelled();
    pool.settle();
  }

  return { fossilCollect, commitKp };
}
