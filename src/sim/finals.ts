/**
 * Which events of an optimistic PE are final as soon as they are handled: those before the LBTS, a lower bound on the time
 * stamps of all that may still arrive. They need no entry in their KP and wait for no GVT.
 */
import { justAfter } from './just-after.ts';

/** Doubles of `times`. */
export const LBTS = 0;
/** Time of the last event that was final when handled; -Infinity before the first. */
export const LAST_FINAL = 1;
/** The LBTS after the next `drain`, which may undo events and so send messages that others answer. */
const FORESEEN = 2;

export class Finals {
  /** At least 128 bytes: V8 keeps smaller arrays in its heap, where they move. */
  readonly times = new Float64Array(16).fill(-Infinity);
  /** Whether the PE is in step, or the only one: it then goes no further than its LBTS, as a rule, and handles its events in order. */
  inOrder = false;
  private readonly lookahead: number;

  constructor(lookahead: number) {
    this.lookahead = lookahead;
  }

  /** Nothing that arrives after the next `drain` is before `time`, unless this PE sends something in between. */
  foresee(time: number): void {
    this.times[FORESEEN] = time;
  }

  /** Everything that had arrived has been drained. */
  raise(): void {
    if (this.times[FORESEEN] > this.times[LBTS]) this.times[LBTS] = this.times[FORESEEN];
  }

  /** Nothing that may still arrive is before this time. */
  get lbts(): number {
    return this.times[LBTS];
  }

  /** No event at or after `time` is final yet. */
  lower(time: number): void {
    if (time < this.times[LBTS]) this.times[LBTS] = time;
    if (time < this.times[FORESEEN]) this.times[FORESEEN] = time;
  }

  /** A message of receive time `time` to another PE may bring an answer. */
  sent(time: number): void {
    this.lower(time + this.lookahead);
  }

  /** From now on events become final only when a GVT commits them. */
  drop(): void {
    this.lower(-Infinity);
  }

  /**
   * Checks a message that arrives with receive time `time`.
   * @throws Error if an event after it is already final: a bug of the simulator, because the run would be wrong
   */
  expectAfter(time: number): void {
    if (time >= this.times[LAST_FINAL]) return;
    throw new Error(
      `an event of virtual time ${time} arrived after one of ${this.times[LAST_FINAL]} was final: an error of the simulator, please report it; --synch=conservative avoids it`,
    );
  }

  /** All events before this time have been handled, and nothing can undo them. */
  get settled(): number {
    const last = this.times[LAST_FINAL];
    return last === -Infinity ? last : justAfter(last);
  }
}
