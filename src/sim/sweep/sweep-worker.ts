/** Entry of a worker thread of a sweep: runs one setting after another, sequentially. */
import { workerData } from 'node:worker_threads';
import { answerAll } from '../../os/thread.ts';
import { importModel, type ModelReference } from '../load-model.ts';
import type { ModelResults } from '../results.ts';
import type { Settings } from '../settings.ts';
import { simulate } from '../simulate.ts';
import { type Numbers, numbersOf } from './measure.ts';

/** The result of one run. */
export interface RunReply {
  readonly totals: ModelResults['totals'];
  readonly maxima: ModelResults['maxima'];
  /** Numbers of statistics, as `wait.mean`. */
  readonly statistics?: Numbers;
  readonly netEvents: number;
  readonly eventDigest: string;
  readonly seconds: number;
}

async function main(reference: ModelReference): Promise<void> {
  const model = await importModel(reference);
  const loaded = { model, reference, dispose: () => {} };
  answerAll(async (settings: Settings): Promise<RunReply> => {
    const { results, netEvents, eventDigest, wallSeconds } = await simulate(loaded, settings);
    const { totals, maxima } = results;
    const statistics = numbersOf(results.statistics);
    return { totals, maxima, statistics, netEvents, eventDigest, seconds: wallSeconds };
  });
}

// Not awaited, because a bundled file cannot await at the top level. An error ends the thread, and its owner is informed.
void main(workerData as ModelReference);
