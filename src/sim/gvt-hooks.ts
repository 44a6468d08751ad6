/** Calls a model's GVT hook on one PE: at a virtual time, every n-th GVT, or when an LP asked for it. */

import type { Fields } from '../model/struct.ts';
import type { GvtHook, GvtHookContext, LpView } from './model.ts';
import { ahead, type Pe } from './pe.ts';

export class GvtHooks {
  /** No event at or past this time may be handled before the hook has run. */
  nextTime = Infinity;
  private readonly pe: Pe;
  private readonly hook: GvtHook<unknown> | undefined;
  private count = 0;

  constructor(pe: Pe) {
    this.pe = pe;
    this.hook = pe.model.gvtHook;
    if (this.hook?.at !== undefined) this.nextTime = this.hook.at;
  }

  /** A GVT has been agreed on and what it commits is committed. */
  reached(gvt: number, asked: boolean): void {
    if (this.hook === undefined) return;
    this.count++;
    const every = this.hook.every;
    const { end } = this.pe.config;
    while (this.nextTime <= Math.min(gvt, end)) {
      const time = this.nextTime;
      this.nextTime = Infinity;
      this.call(time);
    }
    if (asked || (every !== undefined && this.count % every === 0)) this.call(Math.min(gvt, end));
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
        if (time > gvt) this.nextTime = Math.min(this.nextTime, time);
      },
      output: (text) => pe.outputs.push(ahead(gvt, -1, text)),
    };
    this.hook?.run(context);
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
