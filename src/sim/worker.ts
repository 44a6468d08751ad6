/** Entry of a worker thread: one PE. */
import { parentPort, workerData } from 'node:worker_threads';
import { threadId } from '../os/affinity.ts';
import type { Checkpoint } from './checkpoint/file.ts';
import { memoriesOf } from './checkpoint/image.ts';
import type { CheckpointTimes } from './checkpoint/times.ts';
import type { RunConfig } from './config.ts';
import type { InstrumentMemory } from './instrument/pe-instrument.ts';
import { THREADS } from './instrument/slab.ts';
import { importModel, type ModelReference } from './load-model.ts';
import type { TraceRequest } from './lp-trace.ts';
import { ModelError } from './model.ts';
import { DeclarationError } from './model-error.ts';
import type { Pe } from './pe.ts';
import { type PeOutput, type PeResult, PeRun } from './pe-run.ts';
import type { Placement } from './placement.ts';
import { reserveForOneRun } from './reserved.ts';
import { modelOfRun } from './run-model.ts';
import type { Tables } from './tables.ts';
import { Chaos, type ChaosSettings } from './transport/chaos.ts';
import { Control } from './transport/control.ts';
import { type ThreadMemory, ThreadTransport } from './transport/threads.ts';
import type { Transport } from './transport/transport.ts';

export interface WorkerTask {
  readonly model: ModelReference;
  readonly config: RunConfig;
  readonly placement: Placement;
  readonly tables: Tables;
  readonly pe: number;
  readonly memory: ThreadMemory;
  /** Whether to log what is committed. */
  readonly logCommits: boolean;
  /** What to tell of while it runs; null for nothing. */
  readonly trace: TraceRequest | null;
  /** The worst conditions for messages between PEs; null for none. */
  readonly chaos: ChaosSettings | null;
  /** When to make checkpoints; null for never. */
  readonly checkpoints: CheckpointTimes | null;
  /** What to go on from; null to begin. */
  readonly restart: Checkpoint | null;
  /** Where to record; null for nothing. */
  readonly instrument: InstrumentMemory | null;
}

export type WorkerMessage =
  | {
      readonly kind: 'started';
      readonly pe: number;
      readonly threadId: number | null;
    }
  | { readonly kind: 'output'; readonly pe: number; readonly output: PeOutput }
  | { readonly kind: 'done'; readonly result: PeResult }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly expected: boolean;
      /** The part of the model's declaration that is wrong. */
      readonly part: readonly string[] | null;
      readonly stack: string;
      /** What a handler threw. */
      readonly cause: Pick<Error, 'name' | 'message' | 'stack'> | null;
    };

/** Milliseconds between looks at what has been printed. */
const SLICE = 20;

function transportOf(pe: Pe, { memory, placement, chaos: settings }: WorkerTask): Transport {
  const chaos = settings && new Chaos(settings, pe.number);
  const transport = new ThreadTransport(pe, memory, placement.pes, chaos?.parts);
  return chaos?.around(transport) ?? transport;
}

async function main(task: WorkerTask): Promise<void> {
  const say = (message: WorkerMessage) => parentPort?.postMessage(message);
  const handOver = (run: PeRun) => {
    const output = run.takeOutputs();
    const { lines, images } = output;
    if (lines.length === 0 && images.length === 0) return;
    const { pe } = task;
    parentPort?.postMessage(
      { kind: 'output', pe, output } satisfies WorkerMessage,
      images.flatMap(memoriesOf),
    );
  };
  const control = new Control(task.memory.control, task.placement.pes);
  try {
    const thread = threadId();
    if (task.instrument !== null && thread !== null) {
      Atomics.store(new Int32Array(task.instrument.bell), THREADS + task.pe, thread);
    }
    say({ kind: 'started', pe: task.pe, threadId: thread });
    const model = modelOfRun(await importModel(task.model), task.config, task.tables);
    const run = new PeRun(
      model,
      task.config,
      task.placement,
      task.pe,
      control.budget,
      (pe) => transportOf(pe, task),
      task.instrument,
      task.checkpoints,
      task.restart,
    );
    if (task.logCommits) run.logCommits();
    if (task.trace !== null) run.trace(task.trace);
    if (task.restart === null) run.init();
    else run.restore(task.restart);
    if (control.meet()) {
      for (;;) {
        const more = run.advance(SLICE);
        handOver(run);
        if (!more) break;
      }
    }
    const result = run.result();
    handOver(run);
    say({ kind: 'done', result });
  } catch (error) {
    control.stop();
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : null;
    say({
      kind: 'failed',
      message: error instanceof Error ? error.message : String(error),
      expected: error instanceof ModelError,
      part: error instanceof DeclarationError ? error.part : null,
      stack: error instanceof Error ? (error.stack ?? '') : '',
      cause: cause && { name: cause.name, message: cause.message, stack: cause.stack },
    });
  }
}

reserveForOneRun();
// Not awaited: nothing is thrown, and what is one file cannot await.
void main(workerData as WorkerTask);
