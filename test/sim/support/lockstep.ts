/**
 * Several PEs in one thread, taking turns as a schedule says: what threads do by chance, done on purpose
 * and again and again. The engine's own parts, put together as a worker thread does.
 */
import { layoutOf } from '../../../src/model/struct.ts';
import { ActivityClock } from '../../../src/sim/clock.ts';
import type { RunConfig } from '../../../src/sim/config.ts';
import { strideFor } from '../../../src/sim/event.ts';
import { InOrderEngine, InOrderLp } from '../../../src/sim/in-order.ts';
import type { Model } from '../../../src/sim/model.ts';
import { Optimism } from '../../../src/sim/optimistic.ts';
import { optimisticContexts } from '../../../src/sim/optimistic-contexts.ts';
import { type OutputLine, Pe } from '../../../src/sim/pe.ts';
import { type PeResult, recordsFor } from '../../../src/sim/pe-run.ts';
import { placeLps } from '../../../src/sim/placement.ts';
import { ResultsCollector } from '../../../src/sim/results.ts';
import { Scheduler } from '../../../src/sim/scheduler.ts';
import { configFor, type Settings } from '../../../src/sim/settings.ts';
import { type RunResult, summarise } from '../../../src/sim/statistics.ts';
import { controlMemory, EngineControl } from '../../../src/sim/transport/control.ts';
import {
  type RingParts,
  ThreadTransport,
  threadRings,
} from '../../../src/sim/transport/threads.ts';
import type { Transport } from '../../../src/sim/transport/transport.ts';

/** Turns of one PE, one after another, before the next entry of the schedule. */
export interface Stretch {
  readonly pe: number;
  readonly turns: number;
}

export interface LockstepResult {
  readonly run: RunResult;
  readonly outputs: readonly OutputLine[];
}

interface Part {
  readonly pe: Pe;
  readonly scheduler: Scheduler;
}

/** Other parts of the transports, and what is put around them. */
export interface Fittings extends RingParts {
  readonly around?: (transport: Transport) => Transport;
}

function makePart(
  model: Model,
  config: RunConfig,
  number: number,
  shared: Shared,
  fittings: Fittings,
): Part {
  const placement = placeLps(model, shared.lps, config.pes);
  const optimistic = optimisticContexts();
  const inOrder = config.synch === 'conservative';
  const contextFor: ConstructorParameters<typeof Pe>[6] = inOrder
    ? (...args) => new InOrderLp(...args, null)
    : optimistic.contextFor;
  const budget = new EngineControl(shared.control, config.pes).budget;
  const pe = new Pe(model, config, placement, number, budget, shared.records, contextFor);
  const rings = new ThreadTransport(pe, shared, config.pes, fittings);
  // Nobody else could wake a PE that sleeps.
  rings.rest = () => {};
  const transport = fittings.around?.(rings) ?? rings;
  const clock = new ActivityClock(config.timing, pe.seconds);
  const engine = inOrder
    ? new InOrderEngine(pe, transport)
    : new Optimism(pe, optimistic.kept(), transport, clock);
  return { pe, scheduler: new Scheduler(pe, transport, engine, clock) };
}

interface Shared {
  readonly control: ReturnType<typeof controlMemory>;
  readonly rings: ReturnType<typeof threadRings>;
  readonly lps: number;
  readonly records: number;
}

function resultOf({ pe, scheduler }: Part): PeResult {
  const collector = new ResultsCollector();
  pe.pool.settle();
  const state = pe.stateDigest();
  if (scheduler.finished) pe.final(collector);
  return {
    pe: pe.number,
    lps: pe.ids.length,
    counts: [...pe.counts],
    seconds: [...pe.seconds],
    eventDigest: [pe.eventDigest.lo, pe.eventDigest.hi],
    stateDigest: [state.lo, state.hi],
    peakEvents: pe.pool.peak,
    shortSeconds: pe.pool.shortSeconds,
    began: null,
    heldBack: scheduler.transport.heldBack,
    eventBytes: pe.pool.stride * 8,
    lpBytes: pe.blockSize * 8,
    criticalPath: pe.longestPath(),
    leastOffset: null,
    leastDelay: null,
    handlers: [],
    finished: scheduler.finished,
    stoppedAt: pe.stopTime < Infinity ? pe.stopTime : null,
    gvt: scheduler.gvt,
    wallSeconds: 0,
    streams: [],
    results: collector.data,
  };
}

/** Rounds of the schedule without progress of GVT after which a run is taken to hang. */
const PATIENCE = 20_000;

/**
 * Runs `model` on `settings.pes` PEs by `schedule`, over and over until all have finished.
 * @throws Error where no end comes in sight
 */
export function lockstep(
  model: Model,
  settings: Settings,
  schedule: readonly Stretch[] = [{ pe: 0, turns: 1 }],
  fittings: (pe: number) => Fittings = () => ({}),
): LockstepResult {
  const config = configFor(model, { maxMemory: 2 ** 20, ...settings });
  const { pes } = config;
  const lps = model.lps(config.options, { pes });
  const records = recordsFor(model, config);
  const shared: Shared = {
    control: controlMemory(pes, records),
    rings: threadRings(pes, strideFor(layoutOf('message', model.message).size)),
    lps,
    records,
  };
  const parts = Array.from({ length: pes }, (_, n) =>
    makePart(model, config, n, shared, fittings(n)),
  );
  for (const { pe, scheduler } of parts) {
    pe.init();
    scheduler.engine.deliver();
    scheduler.transport.flush();
  }
  const running = new Set(parts.keys());
  const give = (n: number, turns: number) => {
    for (let t = 0; t < turns && running.has(n); t++) {
      if (!(parts[n] as Part).scheduler.turn()) running.delete(n);
    }
  };
  let gvt = -1;
  let waited = 0;
  while (running.size > 0) {
    for (const stretch of schedule) give(stretch.pe % pes, stretch.turns);
    // Everyone gets a turn in the end, or GVT would never come.
    for (let n = 0; n < pes; n++) give(n, 1);
    const now = Math.min(...parts.map(({ scheduler }) => scheduler.gvt));
    waited = now > gvt ? 0 : waited + 1;
    gvt = now;
    if (waited > PATIENCE) throw new Error(`no end in sight: GVT stays at ${gvt}`);
  }
  const results = parts.map(resultOf);
  const places = parts.map(() => ({ threadId: null, cpu: null }));
  const run = summarise(model, config, placeLps(model, lps, pes), results, places, 0);
  const outputs = parts.flatMap(({ pe }) => pe.outputs);
  for (const { pe, scheduler } of parts) leakFree(pe, incomplete(scheduler.transport));
  return { run, outputs };
}

/** Events of whose lists only a part had arrived: where an event stopped the run, that may be its end. */
function incomplete(transport: object): number {
  const { arriving } = transport as { readonly arriving?: readonly unknown[] };
  return arriving?.filter((list) => list !== null).length ?? 0;
}

/** After the end no event record may still be in use, but for `incomplete` ones. */
function leakFree(pe: Pe, incomplete: number): void {
  // Cancelled events leave when they surface.
  while (pe.queue.peek() !== 0) pe.freeEvent(pe.queue.pop());
  const leaked = pe.pool.live - (pe.stopTime < Infinity ? incomplete : 0);
  if (leaked !== 0) throw new Error(`PE ${pe.number} leaks ${leaked} event records`);
}
