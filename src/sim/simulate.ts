/** Runs a simulation: on one PE in this thread, or on several in worker threads. */
import type { Worker } from 'node:worker_threads';
import { exitCodeOf } from '../model/error.ts';
import { allowedCpus, pinThread } from '../os/affinity.ts';
import { entryOf } from '../os/entry.ts';
import { openThread, type TaskMessage } from '../os/thread.ts';
import { withMend } from './bundled.ts';
import { type CheckpointOptions, RunCheckpoints } from './checkpoint/run.ts';
import type { CheckpointWriter } from './checkpoint/writer.ts';
import type { CommitLog } from './commit-log.ts';
import type { RunConfig } from './config.ts';
import { LocalBudget, strideFor } from './event.ts';
import { type InstrumentOutput, Recorder, withForm } from './instrument/recorder.ts';
import { type LoadedModel, loadModel } from './load-model.ts';
import type { TraceRequest } from './lp-trace.ts';
import { type Model, ModelError } from './model.ts';
import { DeclarationError } from './model-error.ts';
import { toldWithPart } from './model-place.ts';
import { compareLines, type OutputLine } from './pe.ts';
import { type PeResult, PeRun, recordsFor } from './pe-run.ts';
import { type Placement, placeLps } from './placement.ts';
import { payloadBytes } from './record-size.ts';
import { modelOfRun } from './run-model.ts';
import { configFor, type Settings } from './settings.ts';
import { type RunResult, summarise } from './statistics.ts';
import { makeTables, type Tables } from './tables.ts';
import type { ChaosSettings } from './transport/chaos.ts';
import { controlMemory, EngineControl } from './transport/control.ts';
import { SequentialTransport } from './transport/sequential.ts';
import { threadRings } from './transport/threads.ts';
import { tuneV8 } from './v8-flags.ts';
import type { PeTask, WorkerSaid } from './worker.ts';

/** Progress of a run: `gvt` and `end` in virtual time, events committed and rolled back so far, seconds since its start. */
export interface Progress {
  /** Virtual time before which everything is committed. */
  readonly gvt: number;
  /** Virtual time at which the run ends. */
  readonly end: number;
  /** Number of events committed so far, all PEs together. */
  readonly committed: number;
  /** Number of events rolled back so far, all PEs together. */
  readonly rolledBack: number;
  /** Seconds since the run's start. */
  readonly seconds: number;
}

/** Options of a call beside the run's settings: what ends the run, and who is informed about it. */
export interface RunOptions extends CheckpointOptions {
  /** Stops the run; the result so far has `finished` false. */
  readonly signal?: AbortSignal;
  /** Called when all PEs have ended, before results are summed up and written. */
  readonly onEnd?: () => void;
  /** Called a few times a second. */
  readonly onProgress?: (progress: Progress) => void;
  /** Lines that models print, in order of virtual time per call. */
  readonly onOutput?: (lines: readonly OutputLine[]) => void;
  /** Receives what was committed, one log per PE, if the end is reached. It slows the run down: for examining one. */
  readonly onCommits?: (logs: readonly CommitLog[]) => void;
  /**
   * Sizes the model as for this many PEs, where it has so many LPs per PE: then runs on different numbers
   * of PEs can be compared.
   */
  readonly sizedFor?: number;
  /** Traces the events of some LPs, when they are handled, undone and committed. It slows the run down: for examining one. */
  readonly trace?: TraceRequest;
  /** URL of a module that each PE's thread loads first. */
  readonly preload?: string;
  /** Where the records of `settings.instrument` go; `stats-output` by default. */
  readonly instrument?: InstrumentOutput;
  /** Puts the transport between PEs under the worst conditions, for tests. On one PE it changes nothing. */
  readonly chaos?: ChaosSettings;
  /** Where `console.log` in the threads of several PEs goes; standard output by default. */
  readonly console?: NodeJS.WritableStream;
}

/** A worker thread ended without a result. */
class WorkerDiedError extends ModelError {
  override readonly name = 'WorkerDiedError';
}

const DEFAULT_OUTPUT: InstrumentOutput = {
  files: { path: 'stats-output', prefix: 'ross-stats' },
  frames: null,
  version: 'Triscope',
  settings: [],
};

const WORKER = new URL('worker.js', import.meta.url);

const SLICE_MS = 50;
const POLL_MS = 50;
/** Milliseconds that PEs have to stop after one has failed, or after an interrupt. */
const FAILURE_GRACE_MS = 1500;
const ABORT_GRACE_MS = 1000;

/**
 * Runs `model`: a built-in name, the path or `file:` URL of a module, the result of `loadModel`, or, on one PE, a model itself.
 * @throws ModelError or OptionError with a line for the user
 * @example
 * ```ts
 * import { simulate } from 'triscope/sim';
 *
 * const result = await simulate('phold', { pes: 2, end: 1000, lookahead: 0.1, options: { nlp: 512 } });
 * console.log(result.netEvents, result.eventDigest, result.stateDigest);
 * ```
 */
export async function simulate(
  model: string | URL | LoadedModel | Model,
  settings: Settings = {},
  run: RunOptions = {},
): Promise<RunResult> {
  const byAddress = typeof model === 'string' || model instanceof URL;
  const loaded = byAddress ? await loadModel(model) : model;
  const own = 'reference' in loaded;
  const given = own ? loaded.model : loaded;
  try {
    const output = run.instrument ?? DEFAULT_OUTPUT;
    const checkpoints = new RunCheckpoints(own ? loaded : { model: loaded }, settings, run);
    const checked = configFor(given, checkpoints.settings);
    const instrument = checked.instrument && withForm(checked.instrument, output);
    const config = { ...checked, instrument };
    const sizedFor = checkpoints.sizedFor(run.sizedFor ?? config.pes);
    const lps = given.lps(config.options, { pes: sizedFor });
    if (!Number.isInteger(lps) || lps < 1 || lps > 0x7fffffff) {
      throw new DeclarationError(
        `model '${given.name}': lps() gave ${typeof lps === 'string' ? `'${lps}'` : lps}; the number of LPs must be a positive integer`,
        ['lps'],
      );
    }
    const tables = makeTables(given, config, lps);
    const spec = modelOfRun(given, config, tables);
    const placement = placeLps(spec, lps, config.pes);
    tuneV8(config.pes);
    if (config.pes > 1 && !own) {
      throw new ModelError(
        `model '${spec.name}': several PEs need a module that threads can import; pass its path to simulate()`,
      );
    }
    const print = (lines: readonly OutputLine[]) => run.onOutput?.([...lines].sort(compareLines));
    const writer = checkpoints.writer(config, placement, sizedFor, print);
    const { from, times } = checkpoints;
    const parts: RunParts = { config, placement, tables, recorder: null, from, times, writer };
    const recorder =
      config.instrument === null
        ? null
        : new Recorder(spec, config, config.instrument, placement, output);
    let result: RunResult;
    try {
      result =
        config.pes === 1 || !own
          ? await onePe(spec, { ...parts, recorder }, run)
          : await manyPes({ ...loaded, model: spec }, { ...parts, recorder }, run);
      writer.end();
      if (times !== null) result = { ...result, checkpoint: writer.written };
    } catch (error) {
      await recorder?.finish([]);
      throw error;
    }
    if (recorder === null) return result;
    const report = await recorder.finish(result.streams);
    const zero = recorder.zero.wall.toString();
    return { ...result, streams: report.streams, instrumentation: { ...report, zero } };
  } catch (error) {
    throw toldWithPart(error, own ? loaded.path : undefined);
  } finally {
    if (byAddress && own) loaded.dispose();
  }
}

const breathe = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The parts of a run, on one PE or on several. */
interface RunParts extends Pick<RunCheckpoints, 'from' | 'times'> {
  readonly config: RunConfig;
  readonly placement: Placement;
  readonly tables: Tables;
  readonly recorder: Recorder | null;
  readonly writer: CheckpointWriter;
}

async function onePe(
  model: Model,
  { config, placement, recorder, from, times, writer }: RunParts,
  run: RunOptions,
): Promise<RunResult> {
  const started = performance.now();
  const transport = new SequentialTransport();
  const budget = new LocalBudget(recordsFor(model, config));
  const memory = recorder?.memory(0) ?? null;
  recorder?.runsIn(0, process.pid);
  const transportFor = () => transport;
  const pe = new PeRun(model, config, placement, 0, budget, transportFor, memory, times, from);
  const print = () => writer.take(0, pe.takeOutputs());
  if (run.onCommits !== undefined) pe.logCommits();
  if (run.trace !== undefined) pe.trace(run.trace);
  if (from === null) pe.init();
  else pe.restore(from);
  const begun = performance.now();
  for (let more = true; more; ) {
    more = pe.advance(SLICE_MS);
    print();
    if (more) {
      run.onProgress?.({
        gvt: transport.gvt,
        end: config.end,
        committed: transport.committed,
        rolledBack: transport.rolledBack,
        seconds: (performance.now() - begun) / 1000,
      });
      await breathe();
      if (run.signal?.aborted) transport.stop = true;
    }
  }
  const result = pe.result();
  run.onEnd?.();
  print();
  if (result.commits !== undefined) run.onCommits?.([result.commits]);
  const cpus = [{ threadId: process.pid, cpu: null }];
  const seconds = (performance.now() - started) / 1000;
  return summarise(model, config, placement, [result], cpus, seconds, from);
}

/** What a PE's thread threw, of a class again. */
function asThrown(error: Error & { readonly part?: readonly string[] }): Error {
  const { message, stack, cause, part } = error;
  const told = part === undefined ? new ModelError(message) : new DeclarationError(message, part);
  const thrown = exitCodeOf(error) === null ? new Error(message) : told;
  return Object.assign(thrown, { stack, ...(cause !== undefined && { cause }) });
}

async function manyPes(
  loaded: LoadedModel,
  { config, placement, tables, recorder, from, times, writer }: RunParts,
  run: RunOptions,
): Promise<RunResult> {
  const started = performance.now();
  const { model, reference } = loaded;
  const { pes } = config;
  const control = controlMemory(pes, recordsFor(model, config));
  const memory = {
    control,
    rings: threadRings(pes, strideFor(payloadBytes(model))),
  };
  const words = new EngineControl(control, pes);
  const cpus = config.pin ? allowedCpus() : [];
  const results: PeResult[] = [];
  const places = Array.from({ length: pes }, () => ({
    threadId: null as number | null,
    cpu: null as number | null,
  }));
  // Pinned from here: otherwise each thread would have to load the code for it.
  const placed = (pe: number, threadId: number | null) => {
    const pinned = cpus.length >= pes && threadId !== null && pinThread(cpus[pe], threadId);
    return { threadId, cpu: pinned ? cpus[pe] : null };
  };
  let failure: Error | null = null;
  let overdue: NodeJS.Timeout | null = null;
  const running = new Map<number, Worker>();
  // A handler that never ends would keep its thread, and so the run, from ending.
  const stopWithin = (milliseconds: number) => {
    words.stop();
    overdue ??= setTimeout(() => {
      failure ??= new ModelError(
        `PE ${[...running.keys()].join(', PE ')} did not stop within ${milliseconds / 1000} s: a handler does not return`,
      );
      for (const worker of running.values()) void worker.terminate();
    }, milliseconds);
  };
  const fail = (error: Error) => {
    failure ??= error;
    stopWithin(FAILURE_GRACE_MS);
  };
  const ends = Array.from({ length: pes }, (_, pe) => {
    const task: PeTask = {
      model: reference,
      config,
      placement,
      tables,
      pe,
      memory,
      logCommits: run.onCommits !== undefined,
      trace: run.trace ?? null,
      chaos: run.chaos ?? null,
      checkpoints: times,
      restart: from,
      instrument: recorder?.memory(pe) ?? null,
    };
    // What a user's module imports must be what the engine is made of.
    const isQuick = 'name' in reference || reference.linked !== null;
    const options = {
      argv: ['pe'],
      workerData: task,
      stdout: run.console !== undefined,
      ...(run.preload !== undefined && {
        execArgv: [...process.execArgv, `--import=${run.preload}`],
      }),
    };
    let done = false;
    const script = isQuick ? entryOf(WORKER) : WORKER;
    const worker = openThread<TaskMessage<WorkerSaid, PeResult>>(script, options, {
      hear: (message) => {
        if ('result' in message) {
          done = true;
          results.push(message.result);
        } else if ('output' in message.said) writer.take(pe, message.said.output);
        else places[pe] = placed(pe, message.said.threadId);
      },
      fail: (why, fault) => {
        if (fault === 'gone') running.delete(pe);
        if (fault === 'threw') fail(asThrown(why));
        else if (fault === 'crashed' || !done) {
          const message = withMend(why instanceof Error ? why.message : String(why));
          fail(new WorkerDiedError(`PE ${pe} died: ${message}`));
        }
        done = true;
      },
    });
    if (run.console !== undefined) worker.stdout.on('data', (data) => run.console?.write(data));
    running.set(pe, worker);
    return new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  });
  const timer = setInterval(() => {
    if (run.signal?.aborted) stopWithin(ABORT_GRACE_MS);
    run.onProgress?.({
      gvt: words.gvt(),
      end: config.end,
      ...words.progress(),
      seconds: (performance.now() - started) / 1000,
    });
  }, POLL_MS);
  await Promise.all(ends);
  run.onEnd?.();
  clearInterval(timer);
  if (overdue !== null) clearTimeout(overdue);
  if (failure !== null) throw failure;
  results.sort((a, b) => a.pe - b.pe);
  if (run.onCommits !== undefined) run.onCommits(results.flatMap((r) => r.commits ?? []));
  const seconds = (performance.now() - started) / 1000;
  return summarise(model, config, placement, results, places, seconds, from);
}
