/** Entry of a worker thread of a sweep: runs one setting after another, sequentially. */
import { parentPort, workerData } from 'node:worker_threads';
import { importModel, type ModelReference } from '../load-model.ts';
import { ModelError } from '../model.ts';
import type { ModelResults } from '../results.ts';
import type { Settings } from '../settings.ts';
import { simulate } from '../simulate.ts';

/** What one run gave. */
export interface RunReply {
  readonly totals: ModelResults['totals'];
  readonly maxima: ModelResults['maxima'];
  readonly netEvents: number;
  readonly eventDigest: string;
  readonly seconds: number;
}

export type SweepReply =
  | ({ readonly kind: 'done' } & RunReply)
  | { readonly kind: 'failed'; readonly message: string; readonly expected: boolean };

async function main(reference: ModelReference): Promise<void> {
  const model = await importModel(reference);
  const loaded = { model, reference, dispose: () => {} };
  const reply = (message: SweepReply) => parentPort?.postMessage(message);
  parentPort?.on('message', async (settings: Settings) => {
    try {
      const { results, netEvents, eventDigest, wallSeconds } = await simulate(loaded, settings);
      const { totals, maxima } = results;
      reply({ kind: 'done', totals, maxima, netEvents, eventDigest, seconds: wallSeconds });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      reply({ kind: 'failed', message, expected: error instanceof ModelError });
    }
  });
}

// Not awaited: what is one file cannot await. What it throws ends the thread, and its owner is told.
void main(workerData as ModelReference);
