/** Runs a simulation as one rank of an MPI job: one PE, in this thread. */

import { deserialize, serialize } from 'node:v8';
import { thisHost } from '../formats/recording-folder.ts';
import type { RecordingHost } from '../model/recording.ts';
import { allowedCpus, threadId } from '../os/affinity.ts';
import type { MpiWorld } from '../os/mpi/world.ts';
import type { PeImage } from './checkpoint/image.ts';
import { RunCheckpoints } from './checkpoint/run.ts';
import type { RunConfig } from './config.ts';
import { LocalBudget, strideFor } from './event.ts';
import type { InstrumentMemory } from './instrument/pe-instrument.ts';
import { hostClocks, type RankClock, RankClocks } from './instrument/rank-clocks.ts';
import { RankRecorder } from './instrument/rank-recorder.ts';
import { type InstrumentOutput, type RecorderReport, withForm } from './instrument/recorder.ts';
import type { LoadedModel } from './load-model.ts';
import { type Model, ModelError } from './model.ts';
import { compareLines, type OutputLine } from './pe.ts';
import { type PeResult, PeRun, recordsFor } from './pe-run.ts';
import { type Placement, placeLps } from './placement.ts';
import { payloadBytes } from './record-size.ts';
import { modelOfRun } from './run-model.ts';
import { configFor, type Settings } from './settings.ts';
import type { RunOptions } from './simulate.ts';
import { type RunResult, summarise } from './statistics.ts';
import { makeTables } from './tables.ts';
import { Chaos } from './transport/chaos.ts';
import { type HostRings, hostRings } from './transport/host-rings.ts';
import type { MpiLimits } from './transport/mpi.ts';
import type { RankTransport } from './transport/rank-transport.ts';
import { commonBudget, rankTransport } from './transport/ranks.ts';
import { tuneV8 } from './v8-flags.ts';

/** Milliseconds between checks for printed lines and signals. */
const SLICE_MS = 20;

/** What a rank sends to rank 0. */
interface Part {
  readonly result: PeResult;
  readonly threadId: number | null;
  readonly host: RecordingHost;
  readonly report: RecorderReport | null;
  readonly clock: RankClock | null;
  readonly batches: number;
  /** Ranks with which it shares memory, and itself. */
  readonly sharing: number;
}

interface RankOutcome {
  /** Whether the end was reached; otherwise the run was interrupted. The same on all ranks. */
  readonly finished: boolean;
  /** Of the whole run, on rank 0; null on the others. */
  readonly result: RunResult | null;
}

/** The same on all ranks, except for listeners: `onCommits` is called on rank 0, but must be given on all ranks or on none. */
export type RankOptions = Pick<
  RunOptions,
  | 'checkpoint'
  | 'restart'
  | 'signal'
  | 'onEnd'
  | 'onProgress'
  | 'onOutput'
  | 'onCommits'
  | 'trace'
  | 'sizedFor'
  | 'instrument'
  | 'chaos'
> & {
  /** Measures how far the clocks of the ranks' machines differ, even without instrumentation. */
  readonly clocks?: boolean;
  /** Maximum number of ranks of a machine that share memory: with 1, all messages go through MPI. */
  readonly mostSharing?: number;
  readonly limits?: MpiLimits;
};

const sharedBy = (parts: readonly Part[]) => {
  if (parts.every(({ sharing }) => sharing === 1)) return 'none';
  return parts.every(({ sharing }) => sharing === parts.length) ? 'all' : 'some';
};

const NOWHERE: InstrumentOutput = { files: null, frames: null, version: 'Triscope', settings: [] };

/** Whether each rank can have a CPU of its own: launchers bind ranks, or leave all CPUs of a machine to all of its ranks. All ranks call it. */
function haveCpus(world: MpiWorld): boolean {
  const group = world.neighbours();
  const mine = { first: group[0], cpus: allowedCpus() };
  const machines = new Map<number, { ranks: number; readonly cpus: Set<number> }>();
  for (const bytes of world.exchange(serialize(mine))) {
    const { first, cpus } = deserialize(bytes) as typeof mine;
    const machine = machines.get(first) ?? { ranks: 0, cpus: new Set() };
    machines.set(first, machine);
    machine.ranks++;
    for (const cpu of cpus) machine.cpus.add(cpu);
  }
  return [...machines.values()].every(({ ranks, cpus }) => cpus.size >= ranks);
}

const breathe = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Runs `model` with one PE per rank; all ranks call this with the same settings. Lines that models print are given to
 * `run.onOutput` of the rank that has their LP. Event memory is divided evenly, except among ranks of one machine. An abort of any rank's signal
 * stops all of them at the next GVT.
 * @throws ModelError or OptionError with a line for the user, on the rank that failed: it must then end the job
 */
export async function simulateRank(
  world: MpiWorld,
  loaded: LoadedModel,
  settings: Settings,
  run: RankOptions = {},
): Promise<RankOutcome> {
  const started = performance.now();
  tuneV8(world.size);
  const output = run.instrument ?? NOWHERE;
  const checkpoints = new RunCheckpoints(loaded, { ...settings, pes: world.size }, run);
  const checked = configFor(loaded.model, checkpoints.settings);
  const instrument = checked.instrument && withForm(checked.instrument, output);
  const config = { ...checked, instrument, pin: haveCpus(world) };
  const sizedFor = checkpoints.sizedFor(run.sizedFor ?? world.size);
  const lps = loaded.model.lps(config.options, { pes: sizedFor });
  if (!Number.isInteger(lps) || lps < 1 || lps > 0x7fffffff) {
    throw new ModelError(
      `model '${loaded.model.name}': lps() gave ${lps}; the number of LPs must be a positive integer`,
    );
  }
  // Each rank has tables of its own.
  const tables = makeTables(loaded.model, { ...config, pes: 1 }, lps);
  const model = modelOfRun(loaded.model, config, tables);
  const placement = placeLps(model, lps, world.size);
  const printed = (lines: readonly OutputLine[]) => run.onOutput?.([...lines].sort(compareLines));
  const first = world.rank === 0;
  const writer = checkpoints.writer(config, placement, sizedFor, printed, first);
  const { from, times } = checkpoints;
  const clocks = instrument !== null || run.clocks ? new RankClocks(world) : null;
  const recorder =
    instrument === null || clocks === null
      ? null
      : new RankRecorder(world, model, config, instrument, placement, output, clocks);
  const slotWords = strideFor(payloadBytes(model)) * 2;
  const rings = hostRings(world, slotWords, run.mostSharing);
  const memory = recorder?.memory ?? null;
  const { pe, transport } = onePe(world, model, config, placement, memory, rings, run, checkpoints);
  const print = () => {
    const { lines, images } = pe.takeOutputs();
    writer.take(world.rank, { lines, images: first ? images : [] });
    // Each rank gets here once for each checkpoint, in the same order.
    for (const image of images) {
      const all = world.gather(serialize(image))?.slice(1) ?? [];
      all.forEach((bytes, k) => {
        writer.take(k + 1, { lines: [], images: [deserialize(bytes) as PeImage] });
      });
    }
  };
  if (run.onCommits !== undefined) pe.logCommits();
  if (run.trace !== undefined) pe.trace(run.trace);
  if (from === null) pe.init();
  else pe.restore(from);
  world.meet();
  const begun = performance.now();
  while (pe.advance(SLICE_MS)) {
    print();
    const { gvt, committed, rolledBack } = transport.progress();
    const seconds = (performance.now() - begun) / 1000;
    run.onProgress?.({ gvt, end: config.end, committed, rolledBack, seconds });
    await breathe();
    if (run.signal?.aborted) transport.stop();
  }
  const result = pe.result();
  print();
  writer.end();
  const report = (await recorder?.finish(result.streams)) ?? null;
  const clock = clocks?.end(!result.finished) ?? null;
  const { batches } = transport;
  const place = { threadId: threadId(), host: thisHost() };
  const sharing = rings?.ranks.length ?? 1;
  const part: Part = { result, ...place, report, clock, batches, sharing };
  const parts = world.gather(serialize(part))?.map((bytes) => deserialize(bytes) as Part);
  recorder?.unite();
  transport.close();
  // Otherwise a faster rank's next run could fill this one's receives.
  world.meet();
  rings?.release();
  run.onEnd?.();
  const { finished } = result;
  if (parts === undefined) return { finished, result: null };
  const results = parts.map((p) => p.result);
  if (finished) run.onCommits?.(results.flatMap((r) => r.commits ?? []));
  const places = parts.map((p) => ({ threadId: p.threadId, cpu: null }));
  const seconds = (performance.now() - started) / 1000;
  const whole = summarise(model, config, placement, results, places, seconds, from);
  const rankHosts = parts.map((p) => p.host);
  const measured = parts.flatMap((p) => p.clock ?? []);
  const names = rankHosts.map(({ name }) => name);
  const all: RunResult = {
    ...whole,
    transport: 'mpi',
    rankHosts,
    sharedMemory: sharedBy(parts),
    ...(times !== null && { checkpoint: writer.written }),
    batches: parts.reduce((sum, p) => sum + p.batches, 0),
    ...(clocks !== null && { clocks: hostClocks(measured, names) }),
  };
  if (recorder === null) return { finished, result: all };
  const instrumentation = recorder.summary(parts.flatMap((p) => p.report ?? []));
  return { finished, result: { ...all, streams: instrumentation.streams, instrumentation } };
}

function onePe(
  world: MpiWorld,
  model: Model,
  config: RunConfig,
  placement: Placement,
  memory: InstrumentMemory | null,
  rings: HostRings | null,
  { limits, chaos: settings }: RankOptions,
  { times, from }: RunCheckpoints,
) {
  const chaos = settings && new Chaos(settings, world.rank);
  const common = commonBudget(world, rings, recordsFor(model, config));
  const share = Math.max(4096, Math.floor(config.maxMemory / world.size));
  const own: RunConfig = common === null ? { ...config, maxMemory: share } : config;
  const budget = common ?? new LocalBudget(recordsFor(model, own));
  let transport: RankTransport | null = null;
  const pe = new PeRun(
    model,
    own,
    placement,
    world.rank,
    budget,
    (host) => {
      transport = rankTransport(host, world, rings, { ...limits, ...chaos?.limits });
      return chaos?.around(transport) ?? transport;
    },
    memory,
    times,
    from,
  );
  return { pe, transport: transport as unknown as RankTransport };
}
