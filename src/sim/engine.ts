/** The interface of what handles the events of a PE. */
import type { ActivityClock } from './clock.ts';
import type { Finals } from './finals.ts';
import type { Gvt, Receiver } from './transport/transport.ts';

/** Handles events: in order, or optimistically. */
export interface Engine extends Receiver {
  /** Which events are final as soon as they are handled; null where all are. */
  readonly finals: Finals | null;
  /** Out of event memory since the last GVT: nothing is handled until the next one. */
  starved: boolean;
  run(max: number, bound: number): number;
  /** Handles one event and times it; returns how many (0 or 1). */
  sample(bound: number, clock: ActivityClock): number;
  /** The first pending event; 0 for none. */
  first(): number;
  /** Time of the first pending event; Infinity for none. */
  least(): number;
  /** Handles up to `max` of the events that do not come after the GVT's; returns how many. */
  runAtGvt(max: number, gvt: Gvt): number;
  fossilCollect(gvt: Gvt): void;
  /** Undoes all events handled at or after `time`; returns their number. */
  rollBackFrom(time: number): number;
  /** When the run stops, because of an event that is committed or one that may be undone; Infinity if it does not. */
  stopTime(): number;
  /** Virtual time from `gvt` to the furthest event handled. */
  span(gvt: number): number;
  /** Frees cancelled events that have not surfaced yet. */
  sweepCancelled(): void;
  /** Sends what handlers (or `init`) have staged for other PEs. */
  deliver(): void;
}
