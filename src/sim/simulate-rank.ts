/** Runs a simulation as one rank of an MPI job: one PE, in this thread. */
import { deserialize, serialize } from 'node:v8';
import { threadId } from '../os/affinity.ts';
import type { MpiWorld } from '../os/mpi/world.ts';
import type { RunConfig } from './config.ts';
import { LocalBudget } from './event.ts';
import type { LoadedModel } from './load-model.ts';
import { type Model, ModelError } from './model.ts';
import { compareLines } from './pe.ts';
import { type PeResult, PeRun, recordsFor } from './pe-run.ts';
import { type Placement, placeLps } from './placement.ts';
import { configFor, type Settings } from './settings.ts';
import type { RunOptions } from './simulate.ts';
import { type RunResult, summarise } from './statistics.ts';
import { MpiTransport } from './transport/mpi.ts';

/** Milliseconds between looks at what has been printed, and for signals. */
const SLICE = 20;

/** What a rank tells rank 0. */
interface Part {
  readonly result: PeResult;
  readonly threadId: number | null;
}

export interface RankOutcome {
  /** Whether the end was reached; else the run was interrupted. The same on all ranks. */
  readonly finished: boolean;
  /** Of the whole run, on rank 0; null on the others. */
  readonly result: RunResult | null;
}

const breathe = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Runs `model` with one PE per rank; all ranks call this with the same settings. Lines that models print are given to
 * `run.onOutput` of the rank that has their LP. Event memory is shared out evenly. An abort of any rank's signal
 * stops all of them at the next GVT.
 * @throws ModelError or OptionError with a line for the user, on the rank that failed: it must then end the job
 */
export async function simulateRank(
  world: MpiWorld,
  { model }: LoadedModel,
  settings: Settings,
  run: Pick<RunOptions, 'signal' | 'onProgress' | 'onOutput'> = {},
): Promise<RankOutcome> {
  const started = performance.now();
  const config = configFor(model, { ...settings, pes: world.size });
  if (config.instrument !== null) {
    throw new ModelError('nothing is recorded over MPI: leave the instrumentation out');
  }
  const lps = model.lps(config.options, { pes: world.size });
  if (!Number.isInteger(lps) || lps < 1 || lps > 0x7fffffff) {
    throw new ModelError(`model '${model.name}': lps() gave ${lps}; it must be a positive integer`);
  }
  const placement = placeLps(model, lps, world.size);
  const { pe, transport } = onePe(world, model, config, placement);
  const print = () => {
    const lines = pe.takeOutputs();
    if (lines.length > 0) run.onOutput?.([...lines].sort(compareLines));
  };
  pe.init();
  world.meet();
  const begun = performance.now();
  while (pe.advance(SLICE)) {
    print();
    const { gvt, committed, rolledBack } = transport.gvt;
    const seconds = (performance.now() - begun) / 1000;
    run.onProgress?.({ gvt, end: config.end, committed, rolledBack, seconds });
    await breathe();
    if (run.signal?.aborted) transport.stop();
  }
  const result = pe.result();
  print();
  const part: Part = { result, threadId: threadId() };
  const parts = world.gather(serialize(part))?.map((bytes) => deserialize(bytes) as Part);
  transport.close();
  // A faster rank's next run must not fill this one's receives.
  world.meet();
  const { finished } = result;
  if (parts === undefined) return { finished, result: null };
  const results = parts.map((p) => p.result);
  const places = parts.map((p) => ({ threadId: p.threadId, cpu: null }));
  const seconds = (performance.now() - started) / 1000;
  const whole = summarise(model, config, placement, results, places, seconds);
  return { finished, result: { ...whole, transport: 'mpi' } };
}

function onePe(world: MpiWorld, model: Model, config: RunConfig, placement: Placement) {
  const maxMemory = Math.max(4096, Math.floor(config.maxMemory / world.size));
  const own: RunConfig = { ...config, maxMemory };
  const budget = new LocalBudget(recordsFor(model, own));
  let transport: MpiTransport | null = null;
  const pe = new PeRun(model, own, placement, world.rank, budget, (host) => {
    transport = new MpiTransport(host, world);
    return transport;
  });
  return { pe, transport: transport as unknown as MpiTransport };
}
