/** What handlers get in optimistic runs: every effect is recorded with the event's KP, to be undone. */

import { C } from './counters.ts';
import { OutOfEventMemoryError } from './in-order.ts';
import { type Entries, type Kp, outOf } from './kp.ts';
import * as kpLayout from './kp-layout.ts';
import * as layout from './layout.ts';
import { type AnyMessage, LpContext } from './lp.ts';
import type { Optimism } from './optimistic.ts';
import * as placements from './placement.ts';

const {
  ASKS_HOOK,
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

export class OptimisticLp extends LpContext {
  /** Whether writes to the state are logged, with the KP in `state.$log`. */
  readonly logged: boolean;
  /** The current event could not be finished: out of event memory. */
  aborted = false;
  /** Set by the engine once it exists; contexts are made first. */
  engine: Optimism | null = null;
  private readonly first: number;
  private readonly locals: number;
  private readonly linear: boolean;
  private readonly pes: number;
  private readonly kps: readonly Kp[];
  /** Entries of all KPs, and state of each. */
  private readonly E: Int32Array;
  private readonly K: Int32Array;

  constructor(
    kps: readonly Kp[],
    entries: Entries,
    ...args: ConstructorParameters<typeof LpContext>
  ) {
    super(...args);
    this.logged = this.handlers.reverse === undefined;
    this.kps = kps;
    this.E = entries.E;
    this.K = entries.K;
    const { placement, number } = this.host;
    this.linear = placement.firsts !== null;
    this.first = placement.firsts?.[number] ?? 0;
    this.locals = placement.counts[number];
    this.pes = placement.pes;
  }

  send(dest: number, delay: number, priority = 1): AnyMessage {
    if (!(delay >= 0) || (dest | 0) !== dest || dest < 0 || dest >= this.lps)
      this.refuse(dest, delay);
    const F = this.F;
    const now = F[this.h];
    const t = now + delay;
    const tie = this.ties.take(this.index, this.base);
    this.coreDraws++;
    if (!(t < this.end)) {
      this.host.counts[C.eventsPastEnd]++;
      this.remember(OUT_PAST_END);
      this.sent.$b = this.host.pool.emptySink();
      return this.sent;
    }
    const h = this.host.pool.alloc();
    if (h === 0) {
      if (this.h === 0) {
        throw new OutOfEventMemoryError(
          `out of event memory at virtual time 0: the events of init fill --max-memory=${this.host.config.maxMemory}; raise it`,
        );
      }
      this.aborted = true;
      this.sent.$b = this.host.pool.emptySink();
      return this.sent;
    }
    const I = this.I;
    const i = h << 1;
    F[h + RECV] = t;
    F[h + SEND] = now;
    F[h + TIE] = tie;
    I[i + SOURCE] = this.id;
    I[i + BITS] = 0;
    I[i + PATH] = this.path;
    I[i + EXTRA] = 0;
    if (t === now || priority !== 1) this.inherit(h, t === now, priority);
    this.sent.$b = h;
    const index = dest - this.first;
    if (this.linear && index >= 0 && index < this.locals) {
      I[i + DEST] = index;
      I[i + STATE] = PENDING;
      this.remember(h);
      this.host.queue.push(t, h);
    } else this.route(h, dest, t);
    return this.sent;
  }

  /** Remembers an output of the current event. */
  private remember(code: number): void {
    const { E } = this;
    const at = this.K[CURRENT];
    const n = E[at + E_OUTS];
    E[at + E_OUTS] = n + 1;
    if (n === 0) E[at + E_OUT] = code;
    // What `init` sends is never taken back.
    else if (at !== 0) this.kps[this.host.kps[this.index]].pushOut(code);
  }

  private route(h: number, dest: number, t: number): void {
    const { placement, number, queue } = this.host;
    const pe = peOfLp(placement, dest);
    const i = h << 1;
    this.I[i + DEST] = indexOfLp(placement, dest, pe);
    if (pe === number) {
      this.I[i + STATE] = PENDING;
      this.remember(h);
      queue.push(t, h);
    } else {
      const channel = (this.engine as Optimism).channels.take(pe);
      this.I[i + STATE] = REMOTE;
      this.remember(outOf(channel, pe, this.pes));
      this.host.stage(h, pe, channel);
    }
  }

  output(text: string): void {
    if (this.h === 0) {
      this.host.outputs.push(this.host.outputLine(0, this.id, text));
      return;
    }
    this.I[(this.h << 1) + STATE] |= HAS_OUTPUT;
    (this.engine as Optimism).holdOutput(this.h, this.id, text);
  }

  suspend(reason: string): void {
    (this.engine as Optimism).suspend(this.index, this.h, reason);
  }

  requestHook(): void {
    if (this.h === 0) this.host.hookAsked = true;
    else this.I[(this.h << 1) + STATE] |= ASKS_HOOK;
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
