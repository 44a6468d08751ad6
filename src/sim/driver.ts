import type { LpContext } from './lp.ts';

/** Drives one PE in steps, so that its thread can do something else in between. */
export interface Driver {
  /** Continues for about `milliseconds`; false when the run has ended. */
  advance(milliseconds: number): boolean;
  readonly finished: boolean;
  readonly gvt: number;
  /** The context of the event being handled. */
  where(): LpContext;
}
