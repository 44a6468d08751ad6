/** Calls a model's GVT hook on one PE: at a virtual time, every n-th GVT, or when an LP asked for it. */

import type { Fields } from '../model/struct.ts';
import { type GvtHook, type GvtHookContext, type LpView, ModelError } from './model.ts';
import { expectNoPromise } from './model-check.ts';
import { withPlace } from './model-place.ts';
import { ahead, type Pe } from './pe.ts';
import { ASK_HOOK, ASK_SAMPLE } from './transport/transport.ts';

export class GvtHooks {
  private readonly pe: Pe;
  private readonly hook: GvtHook<unknown> | undefined;
  private count = 0;

  constructor(pe: Pe) {
    this.pe = pe;
    this.hook = pe.model.gvtHook;
  }

  /** No event at or past this time may be handled before the hook has run, the sample is taken, or the checkpoint is made. */
  get nextTime(): number {
    const { instrument, checkpoints, hookTime } = this.pe;
    if (instrument === null && checkpoints === null) return hookTime;
    const sample = Math.min(instrument?.nextVt ?? Infinity, instrument?.points?.next ?? Infinity);
    return Math.min(hookTime, sample, checkpoints?.next ?? Infinity);
  }

  /** A GVT has been agreed on and everything before it is committed. @param asked as `Transport.asked` */
  reached(gvt: number, asked: number): void {
    this.pe.instrument?.reached(gvt, (asked & ASK_SAMPLE) !== 0);
    if (this.hook === undefined) return;
    this.count++;
    const every = this.hook.every;
    const { end } = this.pe.config;
    const { pe } = this;
    while (pe.hookTime <= Math.min(gvt, end)) {
      const time = pe.hookTime;
      pe.hookTime = Infinity;
      this.call(time);
    }
    if ((asked & ASK_HOOK) !== 0 || (every !== undefined && this.count % every === 0))
      this.call(Math.min(gvt, end));
  }

  private call(gvt: number): void {
    const { pe } = this;
    const context: GvtHookContext<unknown> = {
      pe: pe.number,
      pes: pe.config.pes,
      gvt,
      params: pe.params,
      lps: () => views(pe, gvt),
      again: (time) => {
        if (time > gvt) pe.hookTime = Math.min(pe.hookTime, time);
      },
      output: (text) => pe.outputs.push(ahead(gvt, -1, text)),
    };
    try {
      expectNoPromise(this.hook?.run(context));
    } catch (error) {
      throw new ModelError(`gvtHook at virtual time ${gvt}: ${withPlace(error)}`, {
        cause: error,
      });
    }
  }
}

function* views(pe: Pe, time: number): Iterable<LpView<Fields, unknown>> {
  const F = pe.pool.F;
  const before = F[0];
  F[0] = time;
  try {
    for (let k = 0; k < pe.ids.length; k++) {
      yield pe.contextOf(k).reader.enter(k, 0);
    }
  } finally {
    F[0] = before;
  }
}
