/** How PEs exchange events and agree on GVT. Each way has a file; engines know only this interface. */

/** Requests for the next GVT: to call the model's GVT hook; to take samples. */
export const ASK_HOOK = 1;
export const ASK_SAMPLE = 2;
/** To end: GVT has reached the time at which the model stops the run. */
export const ASK_STOP = 4;

/** Tie-breakers that a GVT carries: zero-offset chains longer than this are committed a little later. */
export const GVT_TIES = 8;

/**
 * A GVT: the least pending event's receive time and, to tell events of one time apart, its
 * priority and the first of its tie-breakers (-Infinity if there are fewer). What precedes it in that
 * order can no longer be rolled back.
 */
export interface Gvt {
  time: number;
  priority: number;
  readonly ties: Float64Array;
  /**
   * The least receive time of messages that had been posted when this was agreed on and may not have been there for their
   * receiver to drain; Infinity if there are none. A conservative PE may handle events before min(time + lookahead,
   * underWay), since whatever it receives later was sent
   *
   *     by an event at or after `time`    to time + lookahead, or later
   *     by one before                     to underWay, or later
   *
   * A message counts for `time` like an event that nobody has handled. The lookahead is still to be added for the events that
   * this event will send, but not for itself.
   */
  underWay: number;
  /** Whether any PE that contributed was bound by what it has promised others (`Transport.lbts`). */
  promised: boolean;
  /** The most sampling points that a PE wants in a lookahead; Infinity if any wants none (`StepPoints`). */
  samples: number;
  /** The furthest time up to which a PE may have handled events. */
  bound: number;
}

/** A GVT before all events. */
export function startOfTime(): Gvt {
  return {
    time: 0,
    priority: -Infinity,
    ties: new Float64Array(GVT_TIES).fill(-Infinity),
    underWay: Infinity,
    promised: false,
    samples: Infinity,
    bound: 0,
  };
}

/** A GVT after all events. */
export function endOfTime(): Gvt {
  return {
    time: Infinity,
    priority: Infinity,
    ties: new Float64Array(GVT_TIES).fill(Infinity),
    underWay: Infinity,
    promised: false,
    samples: Infinity,
    bound: 0,
  };
}

/** Order of keys: time, priority, tie-breakers. */
export function compareGvts(a: Gvt, b: Gvt): number {
  if (a.time !== b.time) return a.time < b.time ? -1 : 1;
  if (a.priority !== b.priority) return a.priority < b.priority ? -1 : 1;
  for (let k = 0; k < GVT_TIES; k++) {
    if (a.ties[k] !== b.ties[k]) return a.ties[k] < b.ties[k] ? -1 : 1;
  }
  return 0;
}

export function copyGvt(from: Gvt, to: Gvt): void {
  to.time = from.time;
  to.priority = from.priority;
  to.ties.set(from.ties);
  to.underWay = from.underWay;
  to.promised = from.promised;
  to.samples = from.samples;
  to.bound = from.bound;
}

/** Receives what arrives. */
export interface Receiver {
  /**
   * A free event record for an arriving event, even beyond the memory bound; its words are then overwritten.
   */
  arriving(): number;
  /** The record `h`, filled: an event from PE `from`, known there and here as `channel`. */
  arrived(h: number, from: number, channel: number): void;
  /** The event that PE `from` sent as `channel` is cancelled: rollback number `rollback` there has undone it (0 if unknown). */
  cancelled(from: number, channel: number, rollback: number): void;
}

export interface Transport {
  readonly pe: number;
  readonly pes: number;
  /** Sends a copy of record `h` to `pe`. The record stays the caller's. Never blocks. */
  post(pe: number, h: number, channel: number): void;
  /**
   * Cancels the event sent to `pe` as `channel`; arrives after it. `time` is a lower bound of what
   * this may roll back there, `rollback` the number of the rollback that caused it (0 if unknown).
   */
  cancel(pe: number, channel: number, time: number, rollback: number): void;
  /**
   * Makes everything posted visible to its receivers, as far as there is room.
   * @param soon whether receivers may see it, and the promise (`tell`) that follows, a little later: PEs in step hardly need GVTs, which have to know of all that is posted
   */
  flush(soon?: boolean): void;
  /** Whether so many messages are on their way that no event may be handled before the next GVT. */
  full(): boolean;
  /** Number of slots so far that had to wait here for room at their receiver. */
  readonly heldBack: number;
  /**
   * Delivers what has arrived; returns the number of messages. The first call after `takeGvt` delivers at least all messages that
   * the GVT's `underWay` does not cover.
   */
  drain(receiver: Receiver): number;
  /** Starts a GVT computation; false if one is under way, or the result of the last one has yet to be taken (`takeGvt`). */
  requestGvt(): boolean;
  /** Whether a GVT computation waits for this PE's contribution. Called once a turn, right after `flush`. */
  gvtWaits(): boolean;
  /**
   * Contributes to the GVT computation under way. Since `gvtWaits` returned true, all arrived messages must have been drained and all
   * posted ones flushed, as far as there is room.
   * @param least the first event pending on this PE, or the time at which it stops the run; without messages under way, which
   *   the transport knows. Its `underWay` bounds all messages under way, too: Infinity, or the time at which it stops the run
   */
  contribute(least: Gvt): void;
  /** Writes the GVT into `out`, once after each computation; false if there is no new one. */
  takeGvt(out: Gvt): boolean;
  /** Asks all PEs to do something at the next GVT: `ASK_HOOK`, `ASK_SAMPLE`, `ASK_STOP`. */
  ask(what: number): void;
  /** What was asked for at the GVT just taken: the sum of the above, the same on all PEs. */
  asked(): number;
  /** Tells all PEs that memory is short: 0 is not at all, higher is shorter. */
  setPressure(level: number): void;
  pressure(): number;
  /** Publishes how far this PE is, for progress lines. */
  report(gvt: number, committed: number, rolledBack: number): void;
  /** Whether the run is to stop before its end. */
  stopped(): boolean;
  /**
   * Reports how far this PE is: the time of its first pending event. Only a hint, which may reach others late.
   * @param until a promise to others (`lbts`): nothing before this time is undone here unless something arrives;
   * -Infinity for no promise
   */
  tell(least: number, until: number): void;
  /** Whether PEs learn from `tell` how far others are. */
  readonly tells: boolean;
  /** Whether all other PEs have reported that their first pending event is at `time` or later; false if they tell nothing. */
  toldFrom(time: number): boolean;
  /**
   * A lower bound on the time stamps (LBTS) of all that arrives after the next `drain`, which delivers at least the messages that this
   * does not cover; -Infinity if only GVTs tell. It holds as long as this PE posts nothing: a message of receive time t
   * can bring an answer from t + lookahead on.
   * @param lookahead least offset of an event to another PE
   */
  lbts(lookahead: number): number;
  /** Withdraws what `tell` has promised. Others may rely on it until the next GVT to which nobody contributed under a promise. */
  withdraw(): void;
  /** Whether `tell` promises anything. */
  readonly promises: boolean;
  /** Waits a little, after `turns` turns without anything to do. */
  rest(turns: number): void;
  /** Whether a GVT takes as long as hundreds of events, because it goes over a network. */
  readonly slowGvt: boolean;
  /** All-reduce operations per GVT computation. */
  readonly reductionsPerGvt: number;
}
