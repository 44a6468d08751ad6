/** One processing element: its events, its LPs and their memory, its counters. Engines drive it. */

import { layoutOf, type StructLayout } from '../model/struct.ts';
import { type Memory, memoryOf } from '../model/struct-class.ts';
import { adviseLargePages } from '../os/memory.ts';
import type { RunConfig } from './config.ts';
import { ACTIVITIES, C, COUNTERS } from './counters.ts';
import { Digest } from './digest.ts';
import { type Budget, EventPool } from './event.ts';
import { HandlerTimes } from './handler-times.ts';
import type { PeRecorder } from './instrument/pe-recorder.ts';
import type { EventTally } from './instrument/tally.ts';
import * as tallies from './instrument/tally.ts';
import * as layout from './layout.ts';
import { type AnyLpType, blockSizeFor, type LpContext } from './lp.ts';
import type { Model } from './model.ts';
import { expectNoPromise } from './model-check.ts';
import { DeclarationError } from './model-error.ts';
import { indexOfLp, kpsOfPe, lpsOfPe, type Placement } from './placement.ts';
import { createEventQueue, type EventQueue } from './queue.ts';
import { hasTimers, payloadBytes } from './record-size.ts';
import type { ResultsCollector } from './results.ts';
import { next, previous, seedStreamsOf } from './rng/clcg4.ts';
import { DEFAULT_PRIORITY, Signatures } from './signature.ts';
import { gatherFrom, statisticsOf } from './statistic/gathered.ts';
import { TieBreakers } from './ties.ts';
import { TimerEvents } from './timer-events.ts';
import {
  compareGvts,
  copyGvt,
  endOfTime,
  type Gvt,
  startOfTime,
  type Transport,
} from './transport/transport.ts';
import { typeLookaheads } from './type-lookaheads.ts';

const { T_SENDS } = tallies;
const { ALIGN, EXTRA, LP_STATE, RECV, SOURCE, TIE } = layout;

/** From this number of LPs on, their memory is large enough that large pages repay loading the code that requests them. */
const MANY_LPS = 4096;

/** A line that a model printed, with the keys by which the lines of all PEs are ordered. */
export interface OutputLine {
  /** Virtual time of the event that printed it. */
  readonly time: number;
  /** Priority of that event: lower comes first. */
  readonly priority: number;
  /** The event's tie-breaker, a random number; `prefix` has those of its zero-offset ancestors. */
  readonly tie: number;
  /** Tie-breakers of the event's zero-offset ancestors. */
  readonly prefix: readonly number[];
  /** The LP; -1 for a GVT hook. */
  readonly lp: number;
  /** The line, without its end. */
  readonly text: string;
}

const NO_PREFIX: readonly number[] = [];
const END = endOfTime();

/** Order of events; lines of one event keep theirs in a stable sort. */
export function compareLines(a: OutputLine, b: OutputLine): number {
  if (a.time !== b.time) return a.time - b.time;
  if (a.priority !== b.priority) return a.priority < b.priority ? -1 : 1;
  const left = [...a.prefix, a.tie];
  const right = [...b.prefix, b.tie];
  const n = Math.min(left.length, right.length);
  for (let k = 0; k < n; k++) if (left[k] !== right[k]) return left[k] - right[k];
  return left.length - right.length;
}

/** A line that precedes the events of its time: printed by `init` or a hook. */
export function ahead(time: number, lp: number, text: string): OutputLine {
  return { time, priority: -Infinity, tie: 0, prefix: NO_PREFIX, lp, text };
}

/** Makes a PE's part of checkpoints. */
export interface CheckpointMaker {
  /** Time of the next one: no event at or past it may be handled before it. Infinity for none. */
  readonly next: number;
  /**
   * GVT is `gvt`, everything before it is committed, and every message sent before it has arrived.
   * @param asksHook whether a committed event has requested a hook that was not called yet
   * @returns whether a checkpoint was made
   */
  reached(gvt: number, asksHook: boolean): boolean;
  /** The same with a single PE, which handles nothing meanwhile: makes all checkpoints that are due. */
  reachedAlone(gvt: number): void;
}

/** Counts of a PE at one moment. */
export interface Counted {
  readonly counts: Float64Array;
  readonly words: Int32Array | null;
  readonly rollbacks: Int32Array | null;
}

type ContextFactory = (pe: Pe, name: string, type: AnyLpType) => LpContext;

export class Pe {
  readonly number: number;
  readonly model: Model;
  readonly config: RunConfig;
  readonly placement: Placement;
  readonly params: unknown;
  readonly messageLayout: StructLayout;
  readonly pool: EventPool;
  readonly poolMemory: Memory;
  readonly ties: TieBreakers;
  readonly signatures: Signatures;
  readonly queue: EventQueue;
  /** LP blocks; see `lp.ts`. */
  readonly memory: Memory;
  readonly blockSize: number;
  /** Null in a model without timers. */
  readonly timers: TimerEvents | null = null;
  /** Global id and KP of each LP of this PE. */
  readonly ids: Int32Array;
  readonly kps: Int32Array;
  /** Length of the longest causal chain of events that ends on each LP. */
  readonly paths: Int32Array;
  /** Context of each LP's type; with one type, `only`. */
  readonly contexts: readonly LpContext[];
  readonly only: LpContext | null;
  readonly typeIndex: Uint8Array | null;
  readonly eventDigest = new Digest();
  readonly counts = new Float64Array(COUNTERS.length);
  /** Seconds per activity (estimates where sampled). */
  readonly seconds = new Float64Array(ACTIVITIES.length);
  /** Second values of Box-Muller pairs, once any LP draws one. */
  spares: Float64Array<ArrayBuffer> | null = null;
  spareWords: Int32Array | null = null;
  /** The context that the engine entered last: errors are attributed to it. */
  current: LpContext;
  outputs: OutputLine[] = [];
  /** An LP's request for a GVT hook has been committed. */
  hookAsked = false;
  /** When a committed event stops the run; at the end of a stopped run, the stop of whichever PE had it. */
  stopTime = Infinity;
  /** Least offset of an event to an LP of this PE, in virtual time. */
  readonly lookahead: number;
  readonly stopLookahead: number;
  private closed = false;
  /** Events for other PEs sent by the handler that is running: three words each (handle, PE, channel). */
  staged = new Int32Array(96);
  nStaged = 0;
  /** When the model's hook is called next, in virtual time. */
  hookTime: number;
  /** When checkpoints are made; null for never. */
  checkpoints: CheckpointMaker | null = null;
  /** The recorder of this PE, if there is one; must be set before the engine is created. */
  instrument: PeRecorder | null = null;
  /** The trace of some LPs; null for none. */
  trace: { undone(h: number, index: number): void } | null = null;
  /** Counts per LP or KP, where KPs or LPs are sampled. */
  tally: EventTally | null = null;
  readonly handlerTimes: HandlerTimes;
  private readonly key = startOfTime();

  /** Least offset of any event sent, and of any to another LP, in virtual time; observed in conservative runs. 128 bytes, because V8 moves smaller arrays. */
  readonly leastOffset = new Float64Array(16).fill(Infinity);

  constructor(
    model: Model,
    config: RunConfig,
    placement: Placement,
    number: number,
    budget: Budget,
    capacity: number,
    contextFor: ContextFactory,
  ) {
    this.model = model;
    this.config = config;
    this.placement = placement;
    this.number = number;
    this.hookTime = model.gvtHook?.at ?? Infinity;
    const { pes, end, lookahead } = config;
    this.params = model.prepare(config.options, { pes, end, lookahead, lps: placement.lps });
    this.messageLayout = layoutOf('message', model.message);
    const share = Math.max(1, Math.floor(capacity / (64 * pes)));
    this.pool = new EventPool(payloadBytes(model), capacity, budget, Math.min(4096, share));
    this.poolMemory = memoryOf(this.pool.buffer);
    this.ids = lpsOfPe(placement, number);
    this.kps = kpsOfPe(model, this.ids, config.nkp);
    this.paths = new Int32Array(this.ids.length);
    const names = [...model.types.keys()];
    const sizes = names.map((name) => layoutOf(name, model.types.get(name)?.state ?? {}).size);
    this.blockSize = blockSizeFor(Math.max(...sizes));
    this.memory = memoryOf(new ArrayBuffer((this.ids.length * this.blockSize + ALIGN) * 8));
    if (hasTimers(model)) {
      const bytes = this.messageLayout.size;
      this.timers = new TimerEvents(this.pool, bytes, this.memory.i32, this.blockSize);
    }
    this.ties = new TieBreakers(this.pool, {
      number,
      placement,
      ids: this.ids,
      blocks: this.memory.f64,
      blockSize: this.blockSize,
      seeds: config.coreSeeds,
      handled: () => this.counts[C.eventsProcessed],
    });
    this.signatures = new Signatures(this.pool, this.ties);
    const lpWords = this.memory.i32.subarray(2 * ALIGN);
    this.queue = createEventQueue(this.pool, this.signatures, lpWords, this.blockSize * 2);
    if (this.ids.length >= MANY_LPS) {
      const lpMemory = this.memory.i32.buffer as ArrayBuffer;
      for (const buffer of [this.pool.buffer, lpMemory, ...this.queue.memory])
        adviseLargePages(buffer);
    }
    this.contexts = [...model.types].map(([name, type]) =>
      contextFor(this, name, type as AnyLpType),
    );
    const types = typeLookaheads(model, lookahead, placement.lps, (lp) => this.typeOf(lp, names));
    this.lookahead = types?.leastOf(this.ids) ?? lookahead;
    this.stopLookahead = types?.toAll ?? lookahead;
    for (const lp of this.contexts) {
      if (config.synch !== 'sequential') types?.guard(lp);
      lp.seal();
    }
    this.only = this.contexts.length === 1 ? this.contexts[0] : null;
    this.current = this.contexts[0];
    this.typeIndex =
      this.only === null ? Uint8Array.from(this.ids, (lp) => this.typeOf(lp, names)) : null;
    this.handlerTimes = new HandlerTimes(names, this.typeIndex, this.ids.length);
    this.seed();
  }

  private typeOf(lp: number, names: readonly string[]): number {
    const name = this.model.typeOf(lp, this.params);
    const index = names.indexOf(name);
    if (index < 0) {
      throw new DeclarationError(
        `model '${this.model.name}': typeOf(${lp}) gave '${name}'; types are ${names.join(', ')}`,
        ['typeOf'],
      );
    }
    return index;
  }

  /** LP g draws from stream g. */
  private seed(): void {
    const { ids, blockSize, config } = this;
    const S = this.memory.f64;
    seedStreamsOf(S, ALIGN, blockSize, config.seeds, ids, 0);
    for (let k = 0, at = ALIGN; k < ids.length; k++, at += blockSize) next(S, at);
  }

  contextOf(index: number): LpContext {
    return this.only ?? this.contexts[(this.typeIndex as Uint8Array)[index]];
  }

  /** Runs every LP's `init`, at virtual time 0. */
  init(): void {
    for (let k = 0; k < this.ids.length; k++) {
      const lp = this.contextOf(k);
      lp.enter(k, 0);
      this.current = lp;
      lp.path = 0;
      expectNoPromise(lp.handlers.init(lp));
    }
  }

  /** A committed event, or one that will be, stops the run at `time`. */
  stopAt(time: number): void {
    if (time < Math.min(this.config.end, this.stopTime)) this.stopTime = time;
  }

  /** From now on the queue gives no event at or past `stopTime`, so that other events of a sequential run need no check. */
  closeQueue(): void {
    const { queue } = this;
    if (this.closed || this.stopTime === Infinity) return;
    this.closed = true;
    const take = queue.take;
    queue.take = (bound) => take(Math.min(bound, this.stopTime));
  }

  /** Runs every LP's `final`, at the end time. */
  final(results: ResultsCollector): void {
    this.pool.F[0] = Math.min(this.config.end, this.stopTime);
    const statistics = new Map(
      this.contexts.map((lp) => [lp, statisticsOf(lp.stateLayout, lp.state)] as const),
    );
    for (let k = 0; k < this.ids.length; k++) {
      const lp = this.contextOf(k);
      const names = statistics.get(lp) ?? [];
      if (lp.handlers.final === undefined && names.length === 0) continue;
      lp.enter(k, 0);
      this.current = lp;
      const reader = lp.reader.enter(k, 0);
      for (const name of names) {
        const full = this.only === null ? `${lp.type}.${name}` : name;
        results.statistic(full, gatherFrom(reader.state, name));
      }
      results.lp = lp.id;
      expectNoPromise(lp.handlers.final?.(reader, results));
    }
  }

  /** Length of the longest causal chain of events that ends on an LP of this PE. */
  longestPath(): number {
    let longest = 0;
    for (const path of this.paths) longest = Math.max(longest, path);
    return longest;
  }

  /** Adds the committed event `h` to the digest and the counters. */
  committed(h: number, id: number): void {
    const I = this.pool.I;
    const i = h << 1;
    this.eventDigest.addEvent(I[i], I[i + 1], I[i + SOURCE], id);
    if (I[i + EXTRA] !== 0) {
      const priority = this.signatures.priority(h);
      if (priority !== 1) this.eventDigest.addPriority(priority, I[i], I[i + SOURCE]);
    }
  }

  /** Whether event `h` comes before the GVT's event, so that it can be committed. */
  precedes(h: number, gvt: Gvt): boolean {
    const t = this.pool.F[h + RECV];
    return t < gvt.time || (t === gvt.time && compareGvts(this.keyOf(h, this.key), gvt) < 0);
  }

  /** The key of event `h` as a GVT; for 0 the key of the end of time. */
  keyOf(h: number, out: Gvt): Gvt {
    if (h === 0) copyGvt(END, out);
    else {
      out.time = this.pool.F[h + RECV];
      out.priority = this.signatures.priority(h);
      this.signatures.firstTies(h, out.ties);
    }
    return out;
  }

  /** As `keyOf`; if the tie-breaker would have to be computed, an earlier key of the same time and priority. */
  boundOf(h: number, out: Gvt): Gvt {
    const { F, I } = this.pool;
    if (h === 0 || F[h + TIE] >= 0 || I[(h << 1) + EXTRA] !== 0) return this.keyOf(h, out);
    out.time = F[h + RECV];
    out.priority = DEFAULT_PRIORITY;
    out.ties.fill(-Infinity);
    return out;
  }

  stage(h: number, pe: number, channel: number): void {
    const n = this.nStaged;
    if (n + 3 > this.staged.length) {
      const larger = new Int32Array(this.staged.length * 2);
      larger.set(this.staged);
      this.staged = larger;
    }
    this.staged[n] = h;
    this.staged[n + 1] = pe;
    this.staged[n + 2] = channel;
    this.nStaged = n + 3;
  }

  /** Sends what is staged. */
  deliver(transport: Transport): void {
    const { staged, counts, tally } = this;
    const n = this.nStaged;
    this.nStaged = 0;
    for (let k = 0; k < n; k += 3) {
      const h = staged[k];
      if (tally !== null) tally.add(this.indexOf(this.pool.I[(h << 1) + SOURCE]), T_SENDS);
      transport.post(staged[k + 1], h, staged[k + 2]);
      counts[C.remoteSends]++;
      this.freeEvent(h);
    }
  }

  /** Index on this PE of one of its LPs, from its global id. */
  indexOf(id: number): number {
    return indexOfLp(this.placement, id, this.number);
  }

  freeEvent(h: number): void {
    if (this.pool.I[(h << 1) + EXTRA] !== 0) this.signatures.drop(h);
    this.pool.free(h);
  }

  outputLine(h: number, lp: number, text: string): OutputLine {
    const time = this.pool.F[h + RECV];
    if (h === 0) return ahead(time, lp, text);
    const n = this.signatures.prefixLength(h);
    const list = new Float64Array(n);
    if (n > 0) this.signatures.write(h, list, 0);
    return {
      time,
      priority: this.signatures.priority(h),
      tie: this.signatures.tie(h),
      prefix: n === 0 ? NO_PREFIX : [...list],
      lp,
      text,
    };
  }

  /** The present counts, for `recount`. */
  counted(): Counted {
    const { counts, tally } = this;
    return {
      counts: counts.slice(),
      words: tally?.words.slice() ?? null,
      rollbacks: tally?.rollbacks.slice() ?? null,
    };
  }

  /** Sets the counts back to `then`, because events that are handled twice as a check count once. */
  recount(then: Counted): void {
    this.counts.set(then.counts);
    if (then.words !== null) this.tally?.words.set(then.words);
    if (then.rollbacks !== null) this.tally?.rollbacks.set(then.rollbacks);
  }

  setSpare(index: number, value: number): void {
    if (this.spares === null) {
      this.spares = new Float64Array(this.ids.length).fill(Number.NaN);
      this.spareWords = new Int32Array(this.spares.buffer);
    }
    this.spares[index] = value;
  }

  /** Digest of all LPs' states and random streams. */
  stateDigest(): Digest {
    const digest = new Digest();
    const words = this.memory.i32;
    const streams = new Float64Array(LP_STATE);
    const streamWords = new Int32Array(streams.buffer);
    for (let k = 0; k < this.ids.length; k++) {
      const block = k * this.blockSize + ALIGN;
      const at = block << 1;
      // The states after the last draw, not one step ahead.
      for (let i = 0; i < LP_STATE; i++) streams[i] = this.memory.f64[block + i];
      previous(streams, 0);
      digest.addWords(this.ids[k], streamWords, 0, LP_STATE * 2);
      const state = (this.blockSize - LP_STATE) * 2;
      if (state > 0) digest.addWords(~this.ids[k], words, at + LP_STATE * 2, state);
    }
    if (this.spares !== null) {
      const bits = this.spareWords as Int32Array;
      this.spares.forEach((value, k) => {
        if (!Number.isNaN(value)) digest.addWords(this.ids[k] + 0x20000000, bits, k * 2, 2);
      });
    }
    return digest;
  }
}
