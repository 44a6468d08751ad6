/** The LP that handlers get in optimistic runs: every effect is recorded with the event's KP, so that it can be undone. */

import type { WriteLog } from '../model/cells.ts';
import type { Channels } from './channels.ts';
import { C } from './counters.ts';
import { OutOfEventMemoryError } from './in-order.ts';
import { type Kp, type KpEntries, outOf } from './kp.ts';
import * as kpLayout from './kp-layout.ts';
import * as layout from './layout.ts';
import { type AnyMessage, type ContextParts, LpContext } from './lp.ts';
import { ModelError } from './model-error.ts';
import type { Pe } from './pe.ts';
import * as placements from './placement.ts';

const {
  ASKS_HOOK,
  ASKS_STOP,
  BITS,
  DEST,
  EXTRA,
  HAS_OUTPUT,
  PATH,
  PENDING,
  RECV,
  REMOTE,
  SEND,
  SOURCE,
  STATE,
  TIE,
} = layout;
const { indexOfLp, peOfLp } = placements;
const { CURRENT, E_OUT, E_OUTS, OUT_PAST_END } = kpLayout;

const F64 = new Float64Array(1);
const I32 = new Int32Array(F64.buffer);

/**
 * `lp.send`: a closure over constants, as the loop that it is called from, because V8 does not inline it there where
 * there are several PEs.
 */
function sender(
  lp: OptimisticLp,
  pe: Pe,
  kps: readonly Kp[],
  entries: KpEntries,
): OptimisticLp['send'] {
  const { pool, queue, counts, placement, number, ties, kps: kpOf } = pe;
  const { F, I } = pool;
  const { E, K } = entries;
  const { lps, end, lookahead } = lp;
  const { pes } = placement;
  const first = placement.firsts?.[number] ?? 0;
  // None where this PE's LPs are not numbered one after the other.
  const locals = placement.firsts === null ? 0 : placement.counts[number];
  const PAST_END = C.eventsPastEnd;

  /** Remembers an output of the current event. */
  function remember(code: number): void {
    const at = K[CURRENT];
    // Sends of `init`, and of a final event, are never undone.
    if (at === 0) return;
    const n = E[at + E_OUTS];
    E[at + E_OUTS] = n + 1;
    if (n === 0) E[at + E_OUT] = code;
    else kps[kpOf[lp.index]].pushOut(code);
  }

  /** Reads the time from the record: a time passed on would be allocated for each event, routed or not. */
  function route(h: number, dest: number): void {
    const to = peOfLp(placement, dest);
    const i = h << 1;
    I[i + DEST] = indexOfLp(placement, dest, to);
    if (to === number) {
      I[i + STATE] = PENDING;
      remember(h);
      queue.push(F[h + RECV], h);
    } else {
      const { channels } = lp.engine as LpEngine;
      const channel = K[CURRENT] === 0 ? channels.ofFinal : channels.take(to);
      I[i + STATE] = REMOTE;
      remember(outOf(channel, to, pes));
      pe.stage(h, to, channel);
    }
  }

  /** A record although event memory is used up; 0 if event `parent` has to be undone instead, which a final event cannot be. */
  function recordPastBound(parent: number): number {
    if (parent === 0) {
      throw new OutOfEventMemoryError(
        `out of event memory at virtual time 0: the events of init fill --max-memory=${pe.config.maxMemory}; raise it`,
      );
    }
    if (K[CURRENT] === 0) return (lp.engine as LpEngine).arriving();
    lp.aborted = true;
    return 0;
  }

  return function send(dest: number, delay: number, priority = 1): AnyMessage {
    // Compared for every event, since V8 would deoptimise where the first short delay comes late.
    const toAnother = dest !== lp.id;
    if (
      typeof delay !== 'number' ||
      !(delay >= 0) ||
      dest >>> 0 !== dest ||
      dest >= lps ||
      (delay < lookahead && toAnother)
    )
      lp.refuse(dest, delay);
    const parent = lp.h;
    const now = F[parent];
    const t = now + delay;
    const tie = ties.take(lp.index, lp.base);
    lp.coreDraws++;
    if (!(t < end)) {
      counts[PAST_END]++;
      remember(OUT_PAST_END);
      return lp.nothing();
    }
    const h = pool.alloc() || recordPastBound(parent);
    if (h === 0) return lp.nothing();
    const i = h << 1;
    F[h + RECV] = t;
    F[h + SEND] = now;
    F[h + TIE] = tie;
    I[i + SOURCE] = lp.id;
    I[i + BITS] = 0;
    I[i + PATH] = lp.path;
    I[i + EXTRA] = 0;
    if (t === now || priority !== 1) lp.inherit(h, t === now, priority);
    const index = dest - first;
    if (index >>> 0 < locals) {
      I[i + DEST] = index;
      I[i + STATE] = PENDING;
      remember(h);
      queue.push(t, h);
    } else route(h, dest);
    return lp.messageOf(h);
  };
}

/** Requests of LPs that concern the engine. */
interface LpEngine {
  readonly channels: Channels;
  /** A free event record, past any memory bound. */
  arriving(): number;
  /** Keeps a line that event `h` of LP `id` printed until the event commits. */
  holdOutput(h: number, id: number, text: string): void;
  suspend(index: number, h: number, reason: string): void;
  /** Event `h`, if it commits, stops the run at `time`. */
  holdStop(h: number, time: number): void;
}

/** State that the engine undoes itself, and that `reverse` must not change. */
const REVERSING: WriteLog = {
  save() {
    throw new ModelError('reverse() writes a statistic or timer, which the engine undoes itself');
  },
};

export class OptimisticLp extends LpContext {
  declare protected readonly host: Pe;
  /** Whether any writes to the state are logged, with the KP in `state.$log`; in types with `reverse` these are the writes to statistics. */
  readonly logged: boolean;
  /** The current event could not be finished: out of event memory. */
  aborted = false;
  /** Set by the engine once it exists; contexts are made first. */
  engine: LpEngine | null = null;
  private readonly kps: readonly Kp[];
  /** State of each KP. */
  private readonly K: Int32Array;

  constructor(kps: readonly Kp[], entries: KpEntries, ...args: ContextParts<Pe>) {
    super(...args);
    const own = this.stateLayout.fields.some(
      ({ field }) => typeof field === 'object' && field.kind === 'cells',
    );
    this.logged = own || this.handlers.reverse === undefined;
    this.kps = kps;
    this.K = entries.K;
    this.send = sender(this, this.host, kps, entries);
  }

  /** The message of an event that is not created. */
  nothing(): AnyMessage {
    return this.messageOf(this.host.pool.emptySink());
  }

  send: (dest: number, delay: number, priority?: number) => AnyMessage;

  /** Undoes by hand what the current event did to state and message. */
  reverse(): void {
    if (this.logged) this.state.$log = REVERSING;
    this.handlers.reverse?.(this, this.received);
  }

  output(text: string): void {
    if (typeof text !== 'string') this.refuseText(text);
    if (this.h === 0) {
      this.host.outputs.push(this.host.outputLine(0, this.id, text));
      return;
    }
    this.I[(this.h << 1) + STATE] |= HAS_OUTPUT;
    (this.engine as LpEngine).holdOutput(this.h, this.id, text);
  }

  suspend(reason: string): void {
    (this.engine as LpEngine).suspend(this.index, this.h, reason);
  }

  requestHook(): void {
    if (this.h === 0) this.host.hookAsked = true;
    else this.I[(this.h << 1) + STATE] |= ASKS_HOOK;
  }

  stop(delay = this.host.stopLookahead): void {
    const time = this.stopTime(delay, this.host.config.pes > 1);
    if (this.h === 0) this.host.stopAt(time);
    else {
      this.I[(this.h << 1) + STATE] |= ASKS_STOP;
      (this.engine as LpEngine).holdStop(this.h, time);
    }
  }

  setSpare(value: number): void {
    const host = this.host;
    const old = this.spare();
    if (host.spares === null) host.setSpare(this.index, value);
    F64[0] = old;
    if (this.K[CURRENT] !== 0)
      this.kps[this.host.kps[this.index]].saveWords(~this.index, I32[0], I32[1]);
    host.setSpare(this.index, value);
  }
}
