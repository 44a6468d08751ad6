/** Entry of a worker thread: one PE. */
import { threadId } from '../os/affinity.ts';
import { doTask, type Say } from '../os/thread.ts';
import type { Checkpoint } from './checkpoint/file.ts';
import { memoriesOf } from './checkpoint/image.ts';
import type { CheckpointTimes } from './checkpoint/times.ts';
import type { RunConfig } from './config.ts';
import type { InstrumentMemory } from './instrument/pe-instrument.ts';
import { THREADS } from './instrument/slab.ts';
import { importModel, type ModelReference } from './load-model.ts';
import type { TraceRequest } from './lp-trace.ts';
import type { Pe } from './pe.ts';
import { type PeOutput, type PeResult, PeRun } from './pe-run.ts';
import type { Placement } from './placement.ts';
import { reserveForOneRun } from './reserved.ts';
import { modelOfRun } from './run-model.ts';
import type { Tables } from './tables.ts';
import { Chaos, type ChaosSettings } from './transport/chaos.ts';
import { EngineControl } from './transport/control.ts';
import { type ThreadMemory, ThreadTransport } from './transport/threads.ts';
import type { Transport } from './transport/transport.ts';

export interface PeTask {
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

/** What a PE's thread says: once which thread of the kernel it is, then what has been printed. */
export type WorkerSaid = { readonly threadId: number | null } | { readonly output: PeOutput };

/** Milliseconds between looks at what has been printed. */
const SLICE_MS = 20;

function transportOf(pe: Pe, { memory, placement, chaos: settings }: PeTask): Transport {
  const chaos = settings && new Chaos(settings, pe.number);
  const transport = new ThreadTransport(pe, memory, placement.pes, chaos?.parts);
  return chaos?.around(transport) ?? transport;
}

async function main(task: PeTask, say: Say<WorkerSaid>): Promise<PeResult> {
  const handOver = (run: PeRun) => {
    const output = run.takeOutputs();
    const { lines, images } = output;
    if (lines.length > 0 || images.length > 0) say({ output }, images.flatMap(memoriesOf));
  };
  const control = new EngineControl(task.memory.control, task.placement.pes);
  try {
    const thread = threadId();
    if (task.instrument !== null && thread !== null) {
      Atomics.store(new Int32Array(task.instrument.bell), THREADS + task.pe, thread);
    }
    say({ threadId: thread });
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
        const more = run.advance(SLICE_MS);
        handOver(run);
        if (!more) break;
      }
    }
    const result = run.result();
    handOver(run);
    return result;
  } catch (error) {
    control.stop();
    throw error;
  }
}

reserveForOneRun();
// Not awaited: nothing is thrown, and what is one file cannot await.
void doTask(main);
