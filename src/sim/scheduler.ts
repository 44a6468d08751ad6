/**
 * The turns of one PE: take messages that have arrived, handle a batch, send, take part in GVT, commit. The same for
 * conservative and optimistic runs; they differ in the engine and in how far a batch may go.
 */
import { engineMarks, MARK_EVENTS, MARK_FOSSILS, MARK_GVT } from '../model/engine-marks.ts';
import type { PhaseMarks } from '../model/region-page.ts';
import { PHASE_COMMIT, PHASE_GVT } from '../model/schemas/sim.ts';
import type { ActivityClock } from './clock.ts';
import { C } from './counters.ts';
import type { Engine } from './engine.ts';
import { GvtHooks } from './gvt-hooks.ts';
import { justAfter } from './just-after.ts';
import { MemoryPressure } from './memory-pressure.ts';
import type { Pe } from './pe.ts';
import { tellMarks } from './tell-marks.ts';
import { ASK_HOOK, ASK_STOP, startOfTime, type Transport } from './transport/transport.ts';
import { OptimismWindow } from './window.ts';
import { ZERO } from './zero.ts';

/** Idle turns before GVT is requested; if PEs know how far the others are, this is needed only in case of doubt. */
const IDLE_TURNS = 4;
const IDLE_IN_DOUBT = 16;
/** Events between two exchanges with other PEs, if there are as many: an exchange costs as much as several events. */
const APART = 64;
/** Share of the way to the bound at which PEs ask for a new GVT, once all have come that far. */
const WORTH_ASKING = 0.5;
/** With so many uncommitted events on a PE a GVT always pays, because more of them crowd the cache. */
const CROWD = 512;
/** A single PE, which exchanges nothing, handles this many times as many events per turn. */
const ALONE = 16;
/** The same of a thread in step, which goes on to its bound; and how many times as many turns it has to a GVT. */
const STEPPING = 8;
const STEPPING_GVT = 32;
/** Milliseconds from one GVT to the next at most, of threads in step: events may be slow. */
const STEPPING_MS = 10;
/** Part of a lookahead that a thread in long steps has to gain before it goes on from its bound. */
const WORTH_A_STEP = 0.25;
/** Looks at the other thread's progress before a turn counts as idle; some µs. */
const LOOKS = 2000;

export class Scheduler {
  readonly pe: Pe;
  readonly transport: Transport;
  readonly engine: Engine;
  readonly clock: ActivityClock;
  /** The last GVT; 0 at the start. */
  readonly key = startOfTime();
  /** How the run ended, once `turn` has returned false. */
  finished = false;
  private readonly conservative: boolean;
  private readonly window: OptimismWindow;
  private readonly pressure: MemoryPressure;
  private readonly hooks: GvtHooks;
  private readonly gvtPeriod: number;
  /** Full turns since the last exchange, and how many are allowed. */
  private apart = 0;
  private readonly mostApart: number;
  private readonly patience: number;
  /** Events of a turn. */
  private readonly batch: number;
  /** Whether all events are final when they are handled, as nothing can arrive. */
  private readonly alone: boolean;
  private readonly realTimeGvt: boolean;
  private nextGvt = ZERO;
  private sinceGvt = 0;
  private idle = 0;
  private bound = ZERO;
  private worthAsking = ZERO;
  /** Virtual time in which this PE commits CROWD events, at its pace between the last two GVTs. */
  private crowdTime = Infinity;
  private readonly crowds: boolean;
  private committed = ZERO;
  private last = ZERO;
  private oneByOne = false;
  /** Whether events are left at or past the bound only. */
  private atBound = false;
  /** Whether this PE goes on from its bound by a GVT only. */
  private halted = false;
  /** Whether nothing else happens at turns, such as samples in real time. */
  private readonly longTurns: boolean;
  private closing = false;
  /** Whether other PEs' promises may be ahead of GVT; and the last GVT if no `drain` has followed it yet. */
  private readonly promises: boolean;
  private ofGvt: number;
  private readonly mine = startOfTime();
  private readonly span = () => this.engine.span(this.key.time);
  private readonly phases: PhaseMarks | null;
  /** Marks of regions, for observers outside the simulator. */
  private readonly marks = engineMarks();

  constructor(pe: Pe, transport: Transport, engine: Engine, clock: ActivityClock) {
    const { config } = pe;
    this.pe = pe;
    this.transport = transport;
    this.engine = engine;
    this.clock = clock;
    this.conservative = config.synch === 'conservative';
    this.promises =
      transport.promises && (config.pes === 1 ? !this.conservative : config.lookahead > 0);
    this.pressure = new MemoryPressure(pe, transport, engine);
    this.hooks = new GvtHooks(pe);
    this.realTimeGvt = config.synch === 'optimistic-realtime';
    this.gvtPeriod = config.gvtInterval;
    this.mostApart = Math.max(0, Math.ceil(APART / config.batch) - 1);
    this.patience = transport.tells && !this.realTimeGvt ? IDLE_IN_DOUBT : IDLE_TURNS;
    this.phases = pe.instrument?.phases ?? null;
    // If the model acts at every n-th GVT, GVTs are computed exactly as often as the user asked.
    this.crowds = pe.model.gvtHook?.every === undefined;
    // GVTs are slow between PEs that wait for each other's CPU; and nobody knows of more than two.
    const mayStep =
      this.promises && config.pes === 2 && config.pin && this.crowds && !this.realTimeGvt;
    const steps = !mayStep ? 'never' : this.conservative ? 'always' : 'dense';
    const { maxOptLookahead, lookahead } = config;
    this.window = new OptimismWindow(maxOptLookahead, lookahead, transport.slowGvt, steps);
    this.longTurns = this.crowds && (pe.instrument?.longTurns ?? true);
    // At the start nothing is under way but what `init` has sent, none of it sooner than this.
    this.ofGvt = Math.min(pe.lookahead, this.checkpointTime());
    this.alone = this.promises && config.pes === 1;
    const largest = this.alone && this.longTurns && !this.realTimeGvt;
    this.batch = largest ? ALONE * config.batch : config.batch;
    this.setBound();
  }

  get gvt(): number {
    return this.key.time;
  }

  /** One turn; false when the run has ended. A closure, so that this scheduler and its parts are constants of the code that V8 compiles. */
  readonly turn = (): boolean => {
    const { transport, engine, clock, pe, stepping } = this;
    if (pe.instrument !== null) pe.instrument.turn();
    const timed = clock.turn();
    let t = timed ? clock.begin() : 0;
    clock.enter('read');
    const { finals } = engine;
    const lbts = this.apart === 0 && (finals !== null || stepping) ? this.lbts() : -Infinity;
    if (finals !== null) {
      finals.inOrder = stepping || this.alone;
      finals.foresee(lbts);
    }
    const arrived = transport.drain(engine);
    finals?.raise();
    if (this.apart === 0 && stepping && !this.halted) this.step(this.safe(finals?.lbts ?? lbts));
    clock.enter('batch');
    // Events that arrived past the memory bound must be compensated for.
    if (pe.pool.overdrawn) {
      pe.pool.overdrawn = false;
      engine.starved = true;
    }
    if (timed) clock.lap('read', t);
    let n = 0;
    const far = stepping && this.longTurns;
    const batch = far ? STEPPING * this.batch : this.batch;
    const held = engine.starved || transport.full();
    if (!held) {
      this.marks?.enter(MARK_EVENTS);
      if (this.oneByOne) n = engine.runAtGvt(pe.config.batch, this.key);
      else {
        if (timed) n = engine.sample(this.bound, clock);
        const started = timed ? clock.begin() : 0;
        const others = engine.starved ? 0 : engine.run(batch - n, this.bound);
        n += others;
        if (timed) clock.endBatch(started, others);
      }
      this.marks?.exit(MARK_EVENTS);
    }
    this.sinceGvt++;
    this.atBound = !held && n < batch;
    if (n === batch && !far && this.staysApart()) return true;
    this.apart = 0;
    if (timed) t = clock.begin();
    transport.flush(stepping);
    if (timed) clock.lap('other', t);
    const least = engine.least();
    transport.tell(least, this.promises && !this.memoryIsShort() ? engine.stopTime() : -Infinity);
    if (n === 0 && arrived === 0) {
      pe.counts[C.idleTurns]++;
      // In step it waits so briefly that reading the clock would take a good part of that: turns that are timed tell how long.
      if (!stepping || !this.awaitStep(least)) this.rest(least);
    } else {
      this.idle = 0;
      clock.busy();
    }
    if (held || engine.starved || this.gvtIsDue(least)) {
      const early = this.sinceGvt < this.gvtPeriod && !this.sampleIsDue();
      if (transport.requestGvt() && early) pe.counts[C.forcedGvts]++;
    }
    if (transport.gvtWaits()) this.contribute();
    if (!transport.takeGvt(this.key)) return !transport.stopped();
    const goesOn = this.advance(clock.beginApart());
    clock.endApart();
    return goesOn;
  };

  /** A lower bound on the time stamps of what arrives after the next `drain`. */
  private lbts(): number {
    const { ofGvt } = this;
    this.ofGvt = -Infinity;
    if (this.memoryIsShort()) return -Infinity;
    const told = this.promises ? this.transport.lbts(this.pe.lookahead) : -Infinity;
    return Math.min(Math.max(ofGvt, told), this.engine.stopTime());
  }

  private memoryIsShort(): boolean {
    return this.engine.starved || this.transport.pressure() > 0;
  }

  private turnsToGvt(): number {
    return this.stepping ? STEPPING_GVT * this.gvtPeriod : this.gvtPeriod;
  }

  private get stepping(): boolean {
    return this.window.stepping && !this.oneByOne;
  }

  /** How far a conservative PE may go by an LBTS: answers to what it sends from here on, and its stops, come no sooner. */
  private safe(lbts: number): number {
    return Math.min(lbts, this.engine.least() + this.pe.config.lookahead);
  }

  /**
   * Threads in step go on as soon as nothing before the new bound can arrive, without a GVT. In short steps both stop at
   * multiples of the lookahead: if they stopped at different times, each would wait while the other one works. So each also
   * takes the steps one by one, apart from those in which it has no events itself.
   */
  private step(lbts: number): void {
    const { instrument, config } = this.pe;
    const { lookahead } = config;
    if (instrument !== null && !instrument.passes(this.bound, this.engine.least(), lbts)) return;
    let next = lbts;
    if (!this.window.longSteps) {
      if (!this.atBound) return;
      next = (Math.floor(this.bound / lookahead) + 1) * lookahead;
      // Where the quotient was rounded down.
      if (next <= this.bound) next += lookahead;
      const least = this.engine.least();
      if (least >= next && least < Infinity) next = Math.max(next, this.stepAfter(least, lbts));
    }
    if (!(next <= lbts && next > this.bound)) return;
    this.pe.counts[C.steps]++;
    this.boundTo(next);
  }

  /** The end of the step that contains `least`, or the last one before `lbts`. */
  private stepAfter(least: number, lbts: number): number {
    const { lookahead } = this.pe.config;
    return Math.floor(Math.min(lbts, least + lookahead) / lookahead) * lookahead;
  }

  /** Waits for the other thread to come so far that this one may go on; false if that takes long, or is not what it waits for. */
  private awaitStep(least: number): boolean {
    if (least === Infinity || this.idle >= this.patience) return false;
    const { transport, bound } = this;
    const gain = this.window.longSteps ? WORTH_A_STEP : 1;
    const goal = bound - (1 - gain) * this.pe.config.lookahead;
    for (let k = 0; k < LOOKS; k++) {
      if (transport.toldFrom(goal)) return true;
      if (k % 16 === 0 && transport.gvtWaits()) return true;
    }
    this.idle++;
    return true;
  }

  /** Whether a full turn ends without an exchange. */
  private staysApart(): boolean {
    this.idle = 0;
    this.clock.busy();
    if (this.engine.starved || this.sinceGvt >= this.turnsToGvt() || this.sampleIsDue())
      return false;
    return this.apart++ < this.mostApart;
  }

  private rest(least: number): void {
    this.idle++;
    if (least < Infinity) this.window.wait();
    this.clock.rest();
    this.transport.rest(this.idle);
    this.clock.rested();
  }

  /** Whether a sample needs a GVT: turns of other PEs have no more than a batch, and so GVTs often enough. */
  private sampleIsDue(): boolean {
    if (!this.stepping && !this.alone) return false;
    return this.pe.instrument?.sampleIsDue() ?? false;
  }

  private gvtIsDue(least: number): boolean {
    if (this.idle >= this.patience) return true;
    if (this.realTimeGvt) return this.clock.now() >= this.nextGvt;
    if (this.sinceGvt >= this.turnsToGvt()) return true;
    if (this.sampleIsDue()) return true;
    if (this.stepping) return this.clock.now() >= this.nextGvt;
    if (!(least >= this.worthAsking && this.transport.toldFrom(this.worthAsking))) return false;
    if (this.worthAsking < this.gvt + this.crowdTime) this.window.wait();
    return true;
  }

  private readonly contribute = (): void => {
    const started = this.clock.beginApart();
    this.phases?.enter(PHASE_GVT);
    this.marks?.enter(MARK_GVT);
    this.clock.enter('gvt');
    this.transport.drain(this.engine);
    this.clock.enter('batch');
    this.transport.flush();
    const { pe, mine } = this;
    const promised = this.promises && !this.memoryIsShort();
    if (!promised) {
      this.engine.finals?.drop();
      this.transport.withdraw();
    }
    const h = this.engine.first();
    // If GVT stands still, or events are handled one by one, GVT must distinguish events of the same time.
    const exact = this.oneByOne || pe.pool.F[h] === this.key.time;
    if (exact) pe.keyOf(h, mine);
    else pe.boundOf(h, mine);
    mine.promised = promised;
    this.waitForStop();
    // It may have gone ahead of its bound before it came into step.
    const furthest = Math.max(this.bound, justAfter(this.key.time + this.span()));
    pe.instrument?.points?.contribute(mine, this.stepping ? this.window.density : 0, furthest);
    this.transport.contribute(mine);
    this.marks?.exit(MARK_GVT);
    this.phases?.exit(PHASE_GVT);
    this.clock.endGvt(started);
  };

  /** GVT never passes the time at which an event of this PE stops the run, whether that is committed yet or not. */
  private waitForStop(): void {
    const { mine } = this;
    const stop = this.engine.stopTime();
    // As long as no PE passes a checkpoint, only messages are in flight.
    mine.underWay = stop < this.checkpointTime() ? stop : Infinity;
    if (stop === Infinity || stop > mine.time) return;
    mine.time = stop;
    mine.priority = -Infinity;
    mine.ties.fill(-Infinity);
  }

  /** Everything before the run's stop is committed; everything at or past it is undone. */
  private stop(): boolean {
    this.pe.stopTime = this.key.time;
    this.engine.rollBackFrom(this.key.time);
    this.engine.fossilCollect(this.key);
    this.finished = true;
    return false;
  }

  private readonly advance = (started: number): boolean => {
    const { transport, engine, clock, pe, key } = this;
    const { counts } = pe;
    const gvt = key.time;
    const before = this.last;
    const checkpoint = this.checkpointTime();
    this.sinceGvt = 0;
    this.idle = 0;
    if (this.realTimeGvt) this.nextGvt = this.clock.now() + this.gvtPeriod;
    else if (this.stepping) this.nextGvt = this.clock.now() + STEPPING_MS;
    counts[C.gvtComputations]++;
    counts[C.allReduces] += transport.reductionsPerGvt;
    this.phases?.enter(PHASE_COMMIT);
    this.marks?.enter(MARK_FOSSILS);
    engine.fossilCollect(key);
    this.marks?.exit(MARK_FOSSILS);
    this.phases?.exit(PHASE_COMMIT);
    clock.end('fossilCollect', started);
    const asksHook = pe.hookAsked;
    if (asksHook) {
      pe.hookAsked = false;
      transport.ask(ASK_HOOK);
    }
    if (gvt >= pe.stopTime) {
      transport.ask(ASK_STOP);
      transport.requestGvt();
    }
    pe.instrument?.points?.agreed(key);
    this.hooks.reached(gvt, transport.asked());
    if ((transport.asked() & ASK_STOP) !== 0) return this.stop();
    // Until the next GVT, which reports stops again, no PE handles anything past the checkpoint, which others may yet have to make.
    if (gvt >= checkpoint && this.makeCheckpoint(asksHook)) {
      this.halted = true;
      return !transport.stopped();
    }
    this.halted = false;
    this.pressure.time(this.memoryIsShort());
    this.pressure.reached(key);
    this.window.adapt(
      counts[C.eventsProcessed],
      counts[C.eventsRolledBack],
      counts[C.committed],
      gvt,
      this.span,
    );
    transport.report(gvt, counts[C.committed], counts[C.eventsRolledBack]);
    tellMarks(this.marks, gvt, counts);
    const committed = counts[C.committed] - this.committed;
    if (this.crowds && committed > 0 && gvt > before)
      this.crowdTime = ((gvt - before) / committed) * CROWD;
    this.committed = counts[C.committed];
    this.last = gvt;
    this.ofGvt = Math.min(gvt + pe.lookahead, key.underWay, this.checkpointTime());
    this.setBound();
    if (gvt >= pe.config.end && !this.hooksMayCome()) {
      this.finished = true;
      return false;
    }
    return !transport.stopped();
  };

  private checkpointTime(): number {
    return this.pe.checkpoints?.next ?? Infinity;
  }

  /** Called when everything sent before a checkpoint has arrived, on all PEs at the same GVT; otherwise waits for the next GVT. */
  private makeCheckpoint(asksHook: boolean): boolean {
    const { pe, key } = this;
    if (key.underWay < Infinity) return false;
    this.transport.drain(this.engine);
    this.oneByOne = false;
    return pe.checkpoints?.reached(key.time, asksHook) ?? false;
  }

  /** After the last event one more GVT follows, for hooks that LPs may have requested. */
  private hooksMayCome(): boolean {
    if (this.pe.model.gvtHook === undefined || this.closing) return false;
    this.closing = true;
    return true;
  }

  private boundTo(time: number): void {
    this.bound = Math.min(time, this.hooks.nextTime, this.engine.stopTime());
  }

  private setBound(): void {
    const gvt = this.key.time;
    const { lookahead } = this.pe.config;
    const free = this.conservative
      ? Math.min(gvt + this.pe.lookahead, this.key.underWay)
      : this.pressure.bound(gvt, Math.max(gvt + this.window.size, justAfter(gvt)));
    // What a thread in step has reached without a GVT stays its bound; one that went far ahead before comes back.
    const reached = this.stepping ? Math.min(this.bound, gvt + 3 * lookahead) : gvt;
    this.boundTo(Math.max(free, reached));
    this.worthAsking = gvt + Math.min((this.bound - gvt) * WORTH_ASKING, this.crowdTime);
    // A lookahead too small to move GVT promises nothing about events of its time; nor does a PE short of memory.
    this.oneByOne =
      this.hooks.nextTime > gvt &&
      ((this.conservative && gvt + lookahead === gvt) || this.pressure.oneByOne());
  }
}
