/** Runs one PE from its model to its result: in a worker thread, or in the main thread with a single PE. */

import { engineMarks, MARK_EVENTS } from '../model/engine-marks.ts';
import { CheckingLp } from './checking-lp.ts';
import { type Checkpoint, hookTimeOf, imagesIn } from './checkpoint/file.ts';
import { type PeImage, restore } from './checkpoint/image.ts';
import { PeCheckpoints } from './checkpoint/pe-checkpoints.ts';
import type { CheckpointTimes } from './checkpoint/times.ts';
import { ActivityClock } from './clock.ts';
import { type CommitLog, CommitLogger } from './commit-log.ts';
import type { RunConfig } from './config.ts';
import { A, C } from './counters.ts';
import type { Driver } from './driver.ts';
import { type Budget, strideFor } from './event.ts';
import { GvtHooks } from './gvt-hooks.ts';
import type { HandlerCost } from './handler-times.ts';
import { InOrderEngine, InOrderLp, inOrderLoop } from './in-order.ts';
import {
  type InstrumentMemory,
  PeInstrument,
  type StreamTotals,
} from './instrument/pe-instrument.ts';
import type { SampledEngine } from './instrument/pe-recorder.ts';
import type { LpContext } from './lp.ts';
import { LpTrace, type TraceRequest } from './lp-trace.ts';
import { type Model, ModelError } from './model.ts';
import { withPlace } from './model-place.ts';
import { Optimism } from './optimistic.ts';
import { optimisticContexts } from './optimistic-contexts.ts';
import { OptimisticLp } from './optimistic-lp.ts';
import { handling } from './outside.ts';
import { type OutputLine, Pe } from './pe.ts';
import type { Placement } from './placement.ts';
import { payloadBytes } from './record-size.ts';
import { rehearseEnd, rehearseQueue } from './rehearsal.ts';
import { type GatheredResults, ResultsCollector } from './results.ts';
import { DebugRun, RollbackCheckRun } from './rollback-check.ts';
import { Scheduler } from './scheduler.ts';
import { seal } from './sealed.ts';
import { tellMarks } from './tell-marks.ts';
import { ASK_HOOK, ASK_SAMPLE, type Transport } from './transport/transport.ts';

/** The result of one PE. Plain data: it crosses threads. */
export interface PeResult {
  readonly pe: number;
  readonly lps: number;
  /** In the order of COUNTERS and ACTIVITIES. */
  readonly counts: number[];
  readonly seconds: number[];
  readonly eventDigest: readonly [number, number];
  readonly stateDigest: readonly [number, number];
  /** Most event records in use at once, and bytes of one. */
  readonly peakEvents: number;
  readonly shortSeconds: number;
  /** Slots of messages that waited for room at their receiver. */
  readonly heldBack: number;
  readonly eventBytes: number;
  readonly lpBytes: number;
  readonly criticalPath: number;
  /** Least offset of any event, in virtual time; null if none was sent, or offsets were not observed. */
  readonly leastOffset: number | null;
  /** The same for events to other LPs. */
  readonly leastDelay: number | null;
  readonly handlers: readonly HandlerCost[];
  /** Reached the end, and how far it got. */
  readonly finished: boolean;
  /** When the model stopped the run; null if it did not. */
  readonly stoppedAt: number | null;
  readonly gvt: number;
  /** Seconds from the first event to the last. */
  readonly wallSeconds: number;
  /** Seconds of the recording's clock at which it began to handle events; null where nothing is recorded. */
  readonly began: number | null;
  readonly results: GatheredResults;
  /** The commit log, if one was requested. */
  readonly commits?: CommitLog;
  /** The recording's counts, stream by stream. */
  readonly streams: readonly StreamTotals[];
}

/** What a PE sends to the main thread while it runs. */
export interface PeOutput {
  readonly lines: readonly OutputLine[];
  readonly images: readonly PeImage[];
}

/** A handler failed: where, and with what. */
class HandlerError extends ModelError {
  override readonly name = 'HandlerError';
}

/** Most event records of the run. */
export function recordsFor(model: Model, config: RunConfig): number {
  const bytes = strideFor(payloadBytes(model)) * 8;
  return Math.max(64, Math.floor(config.maxMemory / bytes));
}

/** In a sequential run, one in this many events is timed. */
const SAMPLED_CHUNK = 8192;
const SAMPLES = 16;

class SequentialDriver implements Driver {
  finished = false;
  gvt = 0;
  private readonly loop;
  private readonly hooks: GvtHooks;
  private readonly chunk: number;
  private sinceSamples = 0;
  private readonly pe: Pe;
  private readonly transport: Transport;
  private readonly clock: ActivityClock;
  private readonly marks = engineMarks();

  constructor(pe: Pe, transport: Transport, clock: ActivityClock) {
    this.pe = pe;
    this.transport = transport;
    this.clock = clock;
    this.loop = inOrderLoop(pe, null, null);
    this.hooks = new GvtHooks(pe);
    const often = pe.model.gvtHook?.every !== undefined || pe.instrument !== null;
    // Actions at every n-th GVT happen as often in a sequential run as in a parallel one.
    this.chunk = often ? pe.config.gvtInterval * pe.config.batch : SAMPLED_CHUNK;
  }

  advance(milliseconds: number): boolean {
    const { pe, transport, clock, hooks } = this;
    const until = performance.now() + milliseconds;
    for (;;) {
      let n = 0;
      pe.instrument?.turn();
      this.sinceSamples -= this.chunk;
      if (clock.on && this.sinceSamples < 0) {
        this.sinceSamples = SAMPLED_CHUNK;
        for (let k = 0; k < SAMPLES; k++) n += this.loop.sample(hooks.nextTime, clock);
      }
      const started = clock.begin();
      this.marks?.enter(MARK_EVENTS);
      const others = this.loop.run(Math.max(1, this.chunk - n), hooks.nextTime);
      n += others;
      this.marks?.exit(MARK_EVENTS);
      if (clock.on) clock.endBatch(started, others);
      const h = pe.queue.peek();
      this.gvt = Math.min(h === 0 ? Infinity : pe.pool.F[h], pe.stopTime);
      if (n > 0 || hooks.nextTime < Infinity) {
        const asked = pe.hookAsked;
        pe.hookAsked = false;
        hooks.reached(this.gvt, asked ? ASK_HOOK | ASK_SAMPLE : ASK_SAMPLE);
        pe.checkpoints?.reachedAlone(this.gvt);
      }
      if (h === 0 || pe.pool.F[h] >= pe.stopTime) {
        this.finished = true;
        break;
      }
      if (transport.stopped()) break;
      if (performance.now() >= until) break;
    }
    pe.pool.settle();
    transport.report(this.gvt, pe.counts[C.committed], 0);
    tellMarks(this.marks, this.gvt, pe.counts);
    return !this.finished && !transport.stopped();
  }

  where(): LpContext {
    return this.pe.current;
  }
}

class ParallelDriver implements Driver {
  readonly scheduler: Scheduler;
  private readonly whereFn: () => LpContext;

  constructor(scheduler: Scheduler, where: () => LpContext) {
    this.scheduler = scheduler;
    this.whereFn = where;
  }

  get finished(): boolean {
    return this.scheduler.finished;
  }

  get gvt(): number {
    return this.scheduler.gvt;
  }

  advance(milliseconds: number): boolean {
    const { clock } = this.scheduler;
    clock.resume();
    const goesOn = this.turns(performance.now() + milliseconds);
    clock.pause();
    return goesOn;
  }

  private turns(until: number): boolean {
    for (;;) {
      for (let n = 0; n < 64; n++) if (!this.scheduler.turn()) return false;
      if (performance.now() >= until) return true;
    }
  }

  where(): LpContext {
    return this.whereFn();
  }
}

export class PeRun {
  readonly pe: Pe;
  readonly transport: Transport;
  private readonly driver: Driver;
  private readonly deliver: () => void;
  private readonly clock: ActivityClock;
  private readonly instrument: PeInstrument | null;
  private readonly started = performance.now();
  private firstEvent = Number.NaN;
  private lastEvent = Number.NaN;
  private readonly checkpoints: PeCheckpoints | null = null;
  private commits: CommitLogger | null = null;

  constructor(
    model: Model,
    config: RunConfig,
    placement: Placement,
    number: number,
    budget: Budget,
    transportFor: (pe: Pe) => Transport,
    memory: InstrumentMemory | null = null,
    times: CheckpointTimes | null = null,
    from: Checkpoint | null = null,
  ) {
    const capacity = recordsFor(model, config);
    const inOrder = config.synch === 'sequential' || config.synch === 'conservative';
    const optimistic = optimisticContexts(
      config.synch === 'rollback-check' ? CheckingLp : OptimisticLp,
    );
    const contextFor = inOrder
      ? (...args: Parameters<typeof optimistic.contextFor>) => new InOrderLp(...args, null)
      : optimistic.contextFor;
    this.pe = handling(
      () => new Pe(model, config, placement, number, budget, capacity, contextFor),
    );
    this.transport = transportFor(this.pe);
    const { pe, transport } = this;
    // Created before the scheduler, which handles nothing past the first checkpoint.
    if (times !== null) this.checkpoints = new PeCheckpoints(pe, times, from?.head.time ?? 0);
    pe.checkpoints = this.checkpoints;
    this.instrument =
      config.instrument !== null && memory !== null
        ? new PeInstrument(pe, config.instrument, memory)
        : null;
    pe.instrument = this.instrument;
    const clock = new ActivityClock(config.timing, pe.seconds);
    this.clock = clock;
    let sampled: SampledEngine = { uncommitted: () => 0, kpTimes: null };
    if (config.synch === 'sequential') {
      this.driver = new SequentialDriver(pe, transport, clock);
      this.deliver = () => {};
    } else if (config.synch === 'conservative') {
      const engine = new InOrderEngine(pe, transport);
      this.driver = new ParallelDriver(
        new Scheduler(pe, transport, engine, clock),
        () => pe.current,
      );
      this.deliver = () => engine.deliver();
    } else {
      const engine = new Optimism(pe, optimistic.kept(), transport, clock);
      this.deliver = () => engine.deliver();
      sampled = engine;
      this.driver =
        config.synch === 'rollback-check'
          ? new RollbackCheckRun(pe, engine, transport)
          : config.synch === 'optimistic-debug'
            ? new DebugRun(pe, engine, transport)
            : new ParallelDriver(new Scheduler(pe, transport, engine, clock), () => engine.where());
    }
    this.instrument?.attach(sampled, clock, transport);
    rehearseQueue(pe);
    rehearseEnd(pe);
  }

  /** Keeps a log of committed events, as part of the result. Call before `init`. */
  logCommits(): void {
    this.commits = new CommitLogger(this.pe);
  }

  /** Traces the events of some LPs. Call before `init`. @throws ModelError for an LP that does not exist */
  trace(request: TraceRequest): void {
    new LpTrace(this.pe, request);
  }

  /** Continues from a checkpoint, in place of `init`. */
  restore(checkpoint: Checkpoint): void {
    const { pe } = this;
    const { head } = checkpoint;
    for (const image of imagesIn(checkpoint)) restore(pe, image);
    pe.hookTime = hookTimeOf(checkpoint, pe.config.pes, pe.number);
    pe.hookAsked = head.asksHook;
    if (head.stopTime !== null) pe.stopAt(head.stopTime);
    if (pe.config.synch === 'sequential') pe.closeQueue();
    this.instrument?.beginAt(head.time);
    pe.seconds[A.initialization] = (performance.now() - this.started) / 1000;
  }

  /** Initialises the LPs; their messages to other PEs are posted. */
  init(): void {
    const { pe } = this;
    try {
      handling(() => pe.init());
      this.deliver();
      this.transport.flush();
    } catch (error) {
      throw this.explain(error, 'init');
    }
    pe.seconds[A.initialization] = (performance.now() - this.started) / 1000;
  }

  /** Continues for about `milliseconds`; false when the run has ended. */
  advance(milliseconds: number): boolean {
    if (Number.isNaN(this.firstEvent)) {
      this.firstEvent = performance.now();
      this.instrument?.begin();
    }
    try {
      return handling(() => this.driver.advance(milliseconds));
    } catch (error) {
      throw this.explain(error, 'forward');
    } finally {
      this.lastEvent = performance.now();
    }
  }

  get gvt(): number {
    return this.driver.gvt;
  }

  /** Lines printed by committed events since the last call, and its parts of checkpoints. */
  takeOutputs(): PeOutput {
    const { pe } = this;
    const lines = pe.outputs;
    if (lines.length > 0) pe.outputs = [];
    return { lines, images: this.checkpoints?.take(lines.length) ?? [] };
  }

  /** Calls the LPs' `final` and sums up. */
  result(): PeResult {
    const { pe } = this;
    this.clock.share();
    const collector = new ResultsCollector();
    seal(collector);
    pe.pool.settle();
    const stateDigest = pe.stateDigest();
    const commits = this.commits?.take();
    const streams = this.instrument?.finish() ?? [];
    if (this.driver.finished) {
      try {
        handling(() => pe.final(collector));
      } catch (error) {
        throw this.explain(error, 'final');
      }
    }
    return {
      pe: pe.number,
      lps: pe.ids.length,
      counts: [...pe.counts],
      seconds: [...pe.seconds],
      eventDigest: [pe.eventDigest.lo, pe.eventDigest.hi],
      stateDigest: [stateDigest.lo, stateDigest.hi],
      peakEvents: pe.pool.peak,
      shortSeconds: pe.pool.shortSeconds,
      heldBack: this.transport.heldBack,
      eventBytes: pe.pool.stride * 8,
      lpBytes: pe.blockSize * 8,
      criticalPath: pe.longestPath(),
      leastOffset: pe.leastOffset[0] < Infinity ? pe.leastOffset[0] : null,
      leastDelay: pe.leastOffset[1] < Infinity ? pe.leastOffset[1] : null,
      handlers: pe.handlerTimes.costs(),
      finished: this.driver.finished,
      stoppedAt: pe.stopTime < Infinity && this.driver.finished ? pe.stopTime : null,
      gvt: this.driver.gvt,
      wallSeconds: Number.isNaN(this.firstEvent) ? 0 : (this.lastEvent - this.firstEvent) / 1000,
      began: this.instrument?.began ?? null,
      results: collector.data,
      streams,
      ...(commits !== undefined && { commits }),
    };
  }

  /** Adds the event, its LP and its message to the error of a handler. */
  private explain(error: unknown, doing: 'init' | 'forward' | 'final'): unknown {
    if (error instanceof HandlerError) return error;
    if (error instanceof ModelError && error.message.includes(' virtual time ')) return error;
    const text = withPlace(error);
    const lp = doing === 'forward' ? this.driver.where() : this.pe.current;
    const where = doing === 'forward' ? lp.describe() : `LP ${lp.id} (${lp.type}), ${doing}()`;
    const wrapped = new HandlerError(`${where}: ${text}`);
    if (error instanceof Error && !(error instanceof ModelError)) wrapped.cause = error;
    return wrapped;
  }
}
