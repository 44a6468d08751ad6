/** The engine of Time Warp as seen by its hot parts, which handle events and commit them. */
import type { Finals } from './finals.ts';
import type { Kp, KpEntries } from './kp.ts';
import type { OptimisticLp } from './optimistic-lp.ts';
import type { Pe } from './pe.ts';
import type { Suspensions } from './suspensions.ts';
import type { Gvt } from './transport/transport.ts';

export interface TimeWarp {
  readonly pe: Pe;
  readonly kps: readonly Kp[];
  readonly entries: KpEntries;
  /** Receive time of each KP's newest handled event; -Infinity where there is none. */
  readonly kpTimes: Float64Array;
  readonly suspended: Suspensions;
  readonly finals: Finals;
  /** The context that was entered last. */
  current: OptimisticLp;
  /** Event memory ran out since the last GVT. */
  readonly starved: boolean;
  /** The first pending event that is not cancelled, still in the queue; 0 for none. */
  first(): number;
  /** Event `h` comes in the past of `kp`. */
  straggler(kp: Kp, h: number): void;
  /** The event just handled could not be finished for want of memory. */
  abort(lp: OptimisticLp, kp: Kp): void;
  /** Keeps the error of a handler until its event commits. Returns entry flags. */
  hold(lp: OptimisticLp, error: unknown): number;
  deliver(): void;
  /** An output of a committed event will not be taken back any more. */
  settled(code: number): void;
  commitFlags(state: number, h: number): void;
  /** Commits all that KP `k` has handled. */
  commitKp(k: number): void;
  /** Frees cancelled events that have not surfaced yet. */
  sweepCancelled(): void;
  /** Throws where an event before `gvt` was suspended. */
  stopAtFirst(gvt: Gvt): void;
}
