/** All that records one PE: made before its engine, called at GVTs and turns, closed at the end. */
import { type PhaseMarks, RegionPage } from '../../model/region-page.ts';
import { MODE_GVT, MODE_RT, MODE_VT } from '../../model/schemas/ross-rows.ts';
import { RunClock, type RunZero } from '../../os/run-clock.ts';
import type { ActivityClock } from '../clock.ts';
import { A, C } from '../counters.ts';
import { justAfter } from '../just-after.ts';
import type { Pe } from '../pe.ts';
import { ASK_SAMPLE, type Transport } from '../transport/transport.ts';
import { type InstrumentConfig, type SampleModes, type Stream, streamsOf } from './config.ts';
import { eventTracer } from './event-trace.ts';
import { ModelSampler } from './model-sampler.ts';
import type { EventTracer, PeRecorder, SampledEngine, SamplePoint } from './pe-recorder.ts';
import { RollbackLog } from './rollback-log.ts';
import { type Levels, Sampler } from './sampler.ts';
import { type SlabTotals, SlabWriter } from './slab.ts';
import { StepPoints } from './step-points.ts';
import { EventTally } from './tally.ts';

/** Shared memory of one PE's streams, and what is needed to fill them. */
export interface InstrumentMemory {
  readonly zero: RunZero;
  readonly bell: SharedArrayBuffer;
  readonly slabs: Readonly<Partial<Record<Stream, SharedArrayBuffer>>>;
  /** The PE's region page. */
  readonly page: SharedArrayBuffer;
}

/** What became of one stream of one PE. */
export interface StreamTotals extends SlabTotals {
  readonly stream: Stream;
}

type Mode = keyof SampleModes;

const MODE_NUMBERS: readonly (readonly [Mode, number])[] = [
  ['gvt', MODE_GVT],
  ['rt', MODE_RT],
  ['vt', MODE_VT],
];

export class PeInstrument implements PeRecorder {
  /** Records events as they are handled; null unless all events are traced, in a run that can roll back. */
  tracer: EventTracer | null = null;
  /** Records events as they are committed; null unless committed events are traced, or all are traced and handled in order. */
  commits: EventTracer | null = null;
  /** Records events that cause rollbacks; null unless those are traced. */
  stragglers: EventTracer | null = null;
  readonly rollbacks: RollbackLog | null;
  /** Told by the engine what it is doing; null if that is not recorded. */
  readonly phases: PhaseMarks | null;
  /** No event at or after this time may be handled before the sample. */
  nextVt = Infinity;
  private readonly pe: Pe;
  private readonly config: InstrumentConfig;
  private readonly clock: RunClock;
  private readonly slabs: ReadonlyMap<Stream, SlabWriter>;
  private readonly all: readonly SlabWriter[];
  private readonly optimistic: boolean;
  private readonly needsTurns: boolean;
  readonly longTurns: boolean;
  /** Turns with events since the last GVT that counted for samples. After a given number of them the next one is sampled. */
  private turns = 0;
  private readonly turnsPerSample: number;
  readonly points: StepPoints | null;
  private readonly gvtsPerSample: number;
  private handled = 0;
  private transport: Transport | null = null;
  private trace: EventTracer | null = null;
  private samplers: Partial<Record<Mode, Sampler>> = {};
  private models: Partial<Record<Mode, ModelSampler>> = {};
  private times: ActivityClock | null = null;
  private readonly point: SamplePoint = { real: 0, virtual: 0, gvt: 0, gvtIndex: 0 };
  private gvts = 0;
  /** GVTs that counted for samples. */
  private counted = 0;
  private gvt = 0;
  private nextRt = Infinity;
  private vtPoints = 0;

  constructor(pe: Pe, config: InstrumentConfig, memory: InstrumentMemory) {
    this.pe = pe;
    this.config = config;
    this.clock = new RunClock(memory.zero);
    const { gvtInterval, synch } = pe.config;
    this.optimistic = synch !== 'sequential' && synch !== 'conservative';
    this.slabs = new Map(
      streamsOf(config).map((stream) => [
        stream,
        new SlabWriter(memory.slabs[stream] as SharedArrayBuffer, memory.bell, config),
      ]),
    );
    this.all = [...this.slabs.values()];
    this.phases = config.phases ? new RegionPage(memory.page) : null;
    const { engine } = config;
    const sampled = engine.gvt || engine.rt || engine.vt;
    if (sampled && (config.levels.lp || config.levels.kp || engine.rt)) {
      pe.tally = new EventTally(pe.kps, pe.config.nkp, config.levels.lp);
    }
    const log = this.slabs.get('rollback');
    this.rollbacks =
      log !== undefined && this.optimistic ? new RollbackLog(pe, log, this.clock) : null;
    const atGvts = engine.gvt || config.model.gvt;
    const inTurns = synch === 'optimistic' || synch === 'conservative';
    this.gvtsPerSample = inTurns ? 1 : config.numGvt;
    this.turnsPerSample = !atGvts ? Infinity : inTurns ? config.numGvt * gvtInterval : 1;
    const { pes, batch, lookahead, end } = pe.config;
    this.points =
      atGvts && inTurns && pes === 2
        ? new StepPoints(this.turnsPerSample * batch, lookahead, end)
        : null;
    this.longTurns = !(
      engine.rt ||
      config.model.rt ||
      (config.trace !== 'none' && config.traceClock === 'batch')
    );
    this.needsTurns = atGvts || !this.longTurns;
    // Set before the engine exists, because its first bound must not pass the first sampling point.
    if (engine.vt || config.model.vt) this.planVt();
    this.attachTrace();
  }

  private attachTrace(): void {
    const { pe, config } = this;
    const slab = this.slabs.get('evtrace');
    if (slab === undefined) return;
    const tracer = eventTracer(pe, slab, this.clock, config);
    this.trace = tracer;
    const { trace } = config;
    // These engines handle each event repeatedly to prove that it can be undone; only the committed events count.
    const proves = pe.config.synch === 'rollback-check' || pe.config.synch === 'optimistic-debug';
    if (trace === 'rollbacks') this.stragglers = tracer;
    else if (trace === 'all' && this.optimistic && !proves) this.tracer = tracer;
    // An event handled in order is committed at once.
    else this.commits = tracer;
  }

  /** Called when the engine exists. */
  attach(engine: SampledEngine, times: ActivityClock, transport: Transport): void {
    const { pe, config, slabs } = this;
    this.times = times;
    this.transport = transport;
    for (const [mode, number] of MODE_NUMBERS) {
      const slab = slabs.get(mode);
      const levels: Levels =
        mode === 'rt' && config.kpsInRt ? { ...config.levels, kp: true } : config.levels;
      if (config.engine[mode] && slab !== undefined) {
        this.samplers[mode] = new Sampler(pe, engine, slab, levels, number, config.direct);
      }
      const own = slabs.get(mode === 'vt' ? 'vt' : 'model');
      if (config.model[mode] && own !== undefined) {
        this.models[mode] = new ModelSampler(pe, engine, own, config);
      }
    }
    if (this.samplers.rt !== undefined || this.models.rt !== undefined) {
      this.nextRt = performance.now() + config.rtInterval;
    }
  }

  private planVt(): void {
    const { vtInterval, vtEnd, vtSamples } = this.config;
    const time = (this.vtPoints + 1) * vtInterval;
    this.nextVt = time <= vtEnd && this.vtPoints < vtSamples ? justAfter(time) : Infinity;
  }

  /** The run continues from a checkpoint at `time`: there are no samples before it. */
  beginAt(time: number): void {
    while (this.nextVt <= time) {
      this.vtPoints++;
      this.planVt();
    }
  }

  /** Seconds of the run's clock at which the PE began to handle events: its first samples cover the time from there. */
  began: number | null = null;

  /** Called before the first event. */
  begin(): void {
    this.began ??= this.clock.now();
  }

  /** Called once per turn of the scheduler, or per chunk of a sequential run. */
  turn(): void {
    if (!this.needsTurns) return;
    this.trace?.batch();
    this.askForSample();
    if (this.nextRt === Infinity) return;
    const now = performance.now();
    if (now < this.nextRt) return;
    const { rtInterval } = this.config;
    this.nextRt = Math.max(now, this.nextRt + rtInterval);
    this.times?.beginApart();
    this.sample('rt', MODE_RT, this.gvt);
    this.slabs.get('rt')?.publish();
    this.slabs.get('model')?.publish();
    this.times?.endApart();
  }

  /**
   * GVTs come early if PEs would otherwise wait, or if events crowd the cache, and late where PEs need none. The first one is sampled
   * after one PE has made as many turns with events as the user has asked for between samples; a long turn counts as several.
   */
  private countTurns(): void {
    const { counts, config } = this.pe;
    const handled = counts[C.eventsProcessed];
    if (handled === this.handled) return;
    this.turns += Math.max(1, Math.ceil((handled - this.handled) / config.batch));
    this.handled = handled;
  }

  /** Called before a turn: a GVT that comes in it is sampled if the turn is the last of those between samples. */
  private askForSample(): void {
    this.countTurns();
    if (this.turns + 1 >= this.turnsPerSample && !this.points?.planned)
      this.transport?.ask(ASK_SAMPLE);
  }

  sampleIsDue(): boolean {
    if (this.turnsPerSample === Infinity) return false;
    if (this.points?.planned) return false;
    this.countTurns();
    if (this.turns < this.turnsPerSample) return false;
    this.transport?.ask(ASK_SAMPLE);
    return true;
  }

  /** Called when a GVT has been agreed on and the events before it are committed. @param counts whether it counts for samples */
  reached(gvt: number, counts: boolean): void {
    const { config } = this;
    const { points } = this;
    if (points?.isDue(gvt)) this.atPoint(gvt);
    this.gvts = points?.gvts ?? this.gvts + 1;
    // A point that this PE has passed may be later.
    this.gvt = Math.max(this.gvt, Math.min(gvt, this.pe.config.end));
    if (this.rollbacks !== null) {
      this.rollbacks.gvt = this.gvt;
      this.rollbacks.gvtIndex = this.gvts;
    }
    if (counts && !(points !== null && gvt < points.until)) {
      this.turns = 0;
      if (++this.counted % this.gvtsPerSample === 0) this.sample('gvt', MODE_GVT, this.gvt);
    }
    while (this.nextVt <= gvt && this.nextVt < Infinity) {
      this.vtPoints++;
      this.sample('vt', MODE_VT, this.vtPoints * config.vtInterval);
      this.planVt();
    }
    for (const slab of this.all) slab.atGvt();
  }

  passes(bound: number, least: number, lbts: number): boolean {
    const { points } = this;
    if (points === null) return true;
    if (points.stays) return false;
    if (!points.isDue(bound)) return true;
    const empty = Math.min(least, lbts);
    if (!points.isDue(empty)) return false;
    this.times?.beginApart();
    this.atPoint(empty);
    this.times?.endApart();
    for (const slab of this.all) slab.atGvt();
    return true;
  }

  /** Takes the sample of the next point. @param empty as of `StepPoints.taken` */
  private atPoint(empty: number): void {
    const points = this.points as StepPoints;
    this.gvt = points.next;
    this.gvts = points.nextGvts;
    this.turns = 0;
    this.handled = this.pe.counts[C.eventsProcessed];
    this.sample('gvt', MODE_GVT, this.gvt);
    points.taken(empty);
  }

  private sample(mode: Mode, number: number, virtual: number): void {
    const engine = this.samplers[mode];
    const model = this.models[mode];
    if (engine === undefined && model === undefined) return;
    const { point } = this;
    point.real = this.clock.now();
    point.virtual = virtual;
    point.gvt = this.gvt;
    point.gvtIndex = this.gvts;
    if (engine !== undefined) {
      this.times?.share();
      engine.take(point);
    }
    model?.take(point, number, mode === 'vt' || !this.optimistic);
    this.pe.seconds[A.instrumentation] += this.clock.now() - point.real;
  }

  /** Takes the last samples and hands over all that is left; returns what became of each stream. */
  finish(): StreamTotals[] {
    for (const [mode, number] of MODE_NUMBERS) {
      // What has happened since the last sample. In real-time mode there is always a sample at the end, as in ROSS.
      if (mode === 'rt' || this.samplers[mode]?.changed()) this.sample(mode, number, this.gvt);
    }
    let waited = 0;
    for (const slab of this.slabs.values()) {
      slab.end();
      waited += slab.totals().waitedMs;
    }
    this.pe.seconds[A.instrumentationWait] = waited / 1000;
    return Array.from(this.slabs, ([stream, slab]) => ({ stream, ...slab.totals() }));
  }
}
