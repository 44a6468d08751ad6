/**
 * The object that handlers get: one per LP type and PE, moved from LP to LP (a flyweight).
 *
 * An LP's memory is one block of doubles, so that handling an event touches few cache lines:
 *
 *     +0 … +3  model stream, one step ahead of its draws     +4  events sent     +5 …  state struct
 */

import { layoutOf, type StructLayout, type StructOf } from '../model/struct.ts';
import {
  type Flyweight,
  type Memory,
  plain,
  shown,
  structClass,
  type WriteLog,
} from '../model/struct-class.ts';
import type { RunConfig } from './config.ts';
import type { EventPool } from './event.ts';
import { NAMES } from './handler-names.ts';
import { justAfter } from './just-after.ts';
import * as layout from './layout.ts';
import * as math from './math/index.ts';
import { type EventInfo, type Lp, type LpType, type LpView, ModelError } from './model.ts';
import type { Placement } from './placement.ts';
import * as clcg4 from './rng/clcg4.ts';
import * as dist from './rng/distributions.ts';
import { seal, sealNames } from './sealed.ts';
import { type Sending, sendingRing } from './sending.ts';
import type { Signatures } from './signature.ts';
import type { TieBreakers } from './ties.ts';
import { engineTimer, type Timer } from './timer.ts';
import type { TimerEvents } from './timer-events.ts';

export { LP_STATE } from './layout.ts';

const { ALIGN, BITS, EXTRA, LP_STATE, PAYLOAD, SEND, SOURCE } = layout;
const { cos: ownCos, exp: ownExp, log: ownLog, pow: ownPow, sin: ownSin } = math;
const { nextAhead } = clcg4;

type AnyFields = Readonly<Record<string, never>>;
export type AnyLp = Lp<AnyFields, AnyFields, unknown>;
export type AnyLpType = LpType<AnyFields, AnyFields, unknown>;
export type AnyMessage = StructOf<AnyFields>;
type Message = AnyMessage & Flyweight;

/** The parts of a PE that LPs use. */
export interface LpHost {
  readonly number: number;
  readonly config: RunConfig;
  readonly placement: Placement;
  readonly params: unknown;
  readonly messageLayout: StructLayout;
  readonly pool: EventPool;
  readonly poolMemory: Memory;
  readonly ties: TieBreakers;
  readonly signatures: Signatures;
  readonly memory: Memory;
  readonly blockSize: number;
  readonly ids: Int32Array;
  readonly kps: Int32Array;
  readonly spares: Float64Array | null;
  readonly timers: TimerEvents | null;
  /** Least delay of a stop, because it reaches all LPs. */
  readonly stopLookahead: number;
}

/** The current event, read from its record. */
class CurrentEvent implements EventInfo {
  private readonly pool: EventPool;
  private readonly pe: LpHost;
  h = 0;
  constructor(pe: LpHost) {
    this.pe = pe;
    this.pool = pe.pool;
  }
  get source(): number {
    return this.pool.I[(this.h << 1) + SOURCE];
  }
  get sendTime(): number {
    return this.pool.F[this.h + SEND];
  }
  get priority(): number {
    return this.pe.signatures.priority(this.h);
  }
  get bits(): number {
    return this.pool.I[(this.h << 1) + BITS];
  }
  set bits(value: number) {
    this.pool.I[(this.h << 1) + BITS] = value;
  }
}

sealNames(CurrentEvent.prototype, 'lp.event', NAMES.event);

/** The parts of a context, on each kind of PE. */
export type ContextParts<Host extends LpHost> = [
  host: Host,
  type: string,
  handlers: AnyLpType,
  log: WriteLog | null,
];

export abstract class LpContext implements AnyLp, dist.NormalSource {
  readonly type: string;
  /** Replaced in a run that is traced. */
  handlers: AnyLpType;
  readonly params: unknown;
  readonly lps: number;
  readonly end: number;
  readonly warmup: number;
  readonly lookahead: number;
  readonly pe: number;
  readonly event: CurrentEvent;
  readonly state: AnyMessage & Flyweight;
  readonly stateLayout: StructLayout;
  readonly received: Message;
  /** The message that is being sent; at 0 once it may no longer be filled. */
  private sent: Sending;
  /** The same LP for handlers that only read it. */
  readonly reader: LpReader;
  protected readonly host: LpHost;
  protected readonly F: Float64Array;
  protected readonly I: Int32Array;
  /** LP memory. */
  protected readonly S: Float64Array;
  protected readonly ties: TieBreakers;
  private readonly ids: Int32Array;
  private readonly blockSize: number;
  private _id = 0;
  /** Index on this PE, start of the LP's block, handle of the current event. */
  index = 0;
  base = 0;
  h = 0;
  /** Draws made by the current call, from the model's stream and for tie-breakers. */
  draws = 0;
  coreDraws = 0;
  /** Causal path length up to and including the current event. */
  path = 0;

  constructor(...[host, type, handlers, log]: ContextParts<LpHost>) {
    this.host = host;
    this.type = type;
    this.handlers = handlers;
    this.params = host.params;
    this.lps = host.placement.lps;
    this.end = host.config.end;
    this.warmup = host.config.warmup;
    this.lookahead = host.config.lookahead;
    this.pe = host.number;
    this.F = host.pool.F;
    this.I = host.pool.I;
    this.S = host.memory.f64;
    this.ties = host.ties;
    this.ids = host.ids;
    this.blockSize = host.blockSize;
    this.event = new CurrentEvent(host);
    this.stateLayout = layoutOf(type, handlers.state);
    const logged = log !== null && handlers.reverse === undefined;
    const State = structClass<AnyFields>(this.stateLayout, logged ? 'logged' : 'plain');
    this.state = new State(host.memory, log);
    this.state.$host = this;
    const access = handlers.reverse === undefined ? 'readonly' : 'plain';
    const Received = structClass<AnyFields>(host.messageLayout, access, PAYLOAD * 8);
    this.received = new Received(host.poolMemory, null);
    this.sent = sendingRing(host.messageLayout, host.poolMemory);
    this.reader = new LpReader(host, type, handlers);
  }

  /** The context is complete: handlers may not add properties. */
  seal(): void {
    for (const made of [this, this.event, this.reader, this.reader.event]) seal(made);
  }

  abstract send(dest: number, delay: number, priority?: number): AnyMessage;
  arm(timer: Timer, delay: number, priority?: number): AnyMessage {
    const one = engineTimer('arm', timer, this);
    const message = this.send(this.id, delay, priority);
    const { timers } = this.host;
    if (one.pending) timers?.add();
    timers?.mark((message as Message).$b, one.place, one.begin(this.now + delay));
    return message;
  }

  cancel(timer: Timer): void {
    const one = engineTimer('cancel', timer, this);
    if (!one.pending) return;
    one.end();
    this.host.timers?.add();
  }

  abstract output(text: string): void;
  abstract suspend(reason: string): void;
  abstract requestHook(): void;
  abstract stop(delay?: number): void;
  abstract setSpare(value: number): void;

  /** The message of event `h`, which has just been created, and of the sink; the one before is closed. */
  messageOf(h: number): AnyMessage {
    this.sent.$b = 0;
    this.sent = this.sent.$next;
    this.sent.$b = h;
    return this.sent;
  }

  get id(): number {
    return this._id;
  }

  get now(): number {
    return this.F[this.h];
  }

  get kp(): number {
    return this.host.kps[this.index];
  }

  /**
   * When the run ends if it is stopped after `delay`.
   * @param early whether other PEs may be ahead by as much as the lookahead
   */
  protected stopTime(delay: number, early: boolean): number {
    if (typeof delay !== 'number' || !(delay >= 0))
      throw new ModelError(`stop(${shown(delay)}): the delay must be a number from 0 on`);
    if (early && delay < this.host.stopLookahead) {
      throw new ModelError(
        `stop(${delay}) reaches all LPs, and is less than ${this.host.stopLookahead > this.lookahead ? 'the lookahead of a type' : '--lookahead'}=${this.host.stopLookahead}; lengthen it, or lower --lookahead (0 promises nothing)`,
      );
    }
    return Math.max(this.now + delay, justAfter(this.now));
  }

  /** Moves to LP `index` of this PE and event `h`. */
  enter(index: number, h: number): void {
    const base = index * this.blockSize + ALIGN;
    this.index = index;
    this.base = base;
    this.h = h;
    this.event.h = h;
    this._id = this.ids[index];
    this.state.$b = base + LP_STATE;
    this.received.$b = h;
    this.sent.$b = 0;
    this.draws = 0;
    this.coreDraws = 0;
  }

  uniform(): number {
    this.draws++;
    return nextAhead(this.S, this.base);
  }

  integer(lo: number, hi: number): number {
    // As `dist.integer`, written out: models draw one per event, and the call would not be inlined.
    const span = hi + 1 - lo;
    if (!(span >= 1 && span <= 2 ** 53 && Math.floor(lo) === lo && Math.floor(hi) === hi)) {
      return dist.integer(this, lo, hi);
    }
    return lo + Math.min(Math.floor(this.uniform() * span), span - 1);
  }

  exponential(mean: number): number {
    if (!(mean >= 0)) dist.refuseMean(mean);
    return -mean * ownLog(this.uniform());
  }

  ulong(lo: bigint, hi: bigint): bigint {
    return dist.ulong(this, lo, hi);
  }

  binomial(n: number, p: number): number {
    return dist.binomial(this, n, p);
  }

  geometric(p: number): number {
    return dist.geometric(this, p);
  }

  poisson(mean: number): number {
    return dist.poisson(this, mean);
  }

  gamma(shape: number, scale: number): number {
    return dist.gamma(this, shape, scale);
  }

  pareto(scale: number, shape: number): number {
    return dist.pareto(this, scale, shape);
  }

  weibull(mean: number, shape: number): number {
    return dist.weibull(this, mean, shape);
  }

  normal01(): number {
    return dist.normal01(this);
  }

  normalSd(mean: number, sd: number): number {
    return dist.normalSd(this, mean, sd);
  }

  lognormal(mean: number, sd: number): number {
    return dist.lognormal(this, mean, sd);
  }

  /** Second value of a Box-Muller pair, stored with the LP; NaN when there is none. */
  spare(): number {
    return this.host.spares === null ? Number.NaN : this.host.spares[this.index];
  }

  log(x: number): number {
    return ownLog(x);
  }

  exp(x: number): number {
    return ownExp(x);
  }

  pow(x: number, y: number): number {
    return ownPow(x, y);
  }

  sin(x: number): number {
    return ownSin(x);
  }

  cos(x: number): number {
    return ownCos(x);
  }

  sqrt(x: number): number {
    return Math.sqrt(x);
  }

  /** @throws ModelError that says what is wrong with these arguments of `send`. */
  refuse(dest: number, delay: number): never {
    const to = `send(${shown(dest)}, ${shown(delay)})`;
    if (typeof delay !== 'number' || Number.isNaN(delay))
      throw new ModelError(`${to}: the delay is not a number`);
    if (!Number.isInteger(dest) || dest < 0 || dest >= this.lps) {
      throw new ModelError(`${to}: no such LP; ids are 0…${this.lps - 1}`);
    }
    if (delay < 0)
      throw new ModelError(`${to}: a negative delay would send an event into the past`);
    throw new ModelError(
      `${to}: lookahead violation: the delay is less than --lookahead=${this.lookahead}; lower it (0 promises nothing)`,
    );
  }

  /** @throws ModelError for an event that is earlier than the LPs of its destination's type allow */
  refuseSooner(dest: number, delay: number, type: string, least: number): never {
    const own =
      least > this.lookahead ? `the lookahead of '${type}', ${least}` : `--lookahead=${least}`;
    throw new ModelError(
      `send(${shown(dest)}, ${shown(delay)}): lookahead violation: the delay is less than ${own}; lengthen it, or lower that`,
    );
  }

  /** @throws ModelError for an argument of `output` that is not a text */
  refuseText(given: unknown): never {
    throw new ModelError(`output(${String(given)}): a line is a text; use String(value)`);
  }

  /** The current event in words, for an error message. */
  describe(): string {
    const message = JSON.stringify(
      plain(this.host.messageLayout, this.received),
      (_k, v: unknown) => (typeof v === 'bigint' ? v.toString() : v),
    );
    return `LP ${this.id} (${this.type}) at virtual time ${this.now}, message ${message}`;
  }

  /** Signature extra of a new event with another priority than 1 or a zero offset. */
  inherit(h: number, zeroOffset: boolean, priority: number): void {
    if (typeof priority !== 'number' || Number.isNaN(priority)) {
      throw new ModelError(`send(): the priority ${shown(priority)} is not a number`);
    }
    this.host.signatures.inherit(h, this.h, zeroOffset && this.h !== 0, priority);
  }

  protected clearExtra(h: number): void {
    this.I[(h << 1) + EXTRA] = 0;
  }
}

/** The view that `commit`, `final` and hooks get: an LP that can be read but not written. */
export class LpReader implements LpView<AnyFields, unknown> {
  readonly type: string;
  readonly params: unknown;
  readonly lps: number;
  readonly end: number;
  readonly warmup: number;
  readonly lookahead: number;
  readonly pe: number;
  readonly event: CurrentEvent;
  readonly state: AnyMessage & Flyweight;
  readonly message: Message;
  private readonly host: LpHost;
  private index = 0;

  constructor(host: LpHost, type: string, handlers: AnyLpType) {
    this.host = host;
    this.type = type;
    this.params = host.params;
    this.lps = host.placement.lps;
    this.end = host.config.end;
    this.warmup = host.config.warmup;
    this.lookahead = host.config.lookahead;
    this.pe = host.number;
    this.event = new CurrentEvent(host);
    const why = 'commit(), final(), hooks and instruments only read';
    const State = structClass<AnyFields>(layoutOf(type, handlers.state), 'readonly', 0, why);
    this.state = new State(host.memory, null);
    this.state.$host = this;
    const Received = structClass<AnyFields>(host.messageLayout, 'readonly', PAYLOAD * 8, why);
    this.message = new Received(host.poolMemory, null);
  }

  get id(): number {
    return this.host.ids[this.index];
  }

  get kp(): number {
    return this.host.kps[this.index];
  }

  get now(): number {
    return this.host.pool.F[this.event.h];
  }

  /** Moves to LP `index` of this PE and event `h`. */
  enter(index: number, h: number): this {
    this.index = index;
    this.event.h = h;
    this.state.$b = index * this.host.blockSize + ALIGN + LP_STATE;
    this.message.$b = h;
    return this;
  }
}

sealNames(LpContext.prototype, 'lp', NAMES.lp);
sealNames(LpReader.prototype, 'lp', NAMES.view, NAMES.acts);

/** Doubles of an LP's block for a state of `bytes`. At least 8: a cache line, and blocks start on one. */
export function blockSizeFor(bytes: number): number {
  return Math.max(8, LP_STATE + Math.ceil(bytes / 8));
}

export type { Memory };
