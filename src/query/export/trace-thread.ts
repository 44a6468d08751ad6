/** A thread that writes blocks of a trace. */
import { workerData } from 'node:worker_threads';
import { blockWriter, type DrawnEvents, type EventBlock } from '../../formats/trace-event/index.ts';
import { answerAll } from '../../os/thread.ts';
import { type BytePart, partsIn } from './byte-part.ts';

export interface ThreadData {
  readonly gzip: boolean;
}

export type TraceThreadTask =
  | { readonly kind: 'events'; readonly events: DrawnEvents | null }
  /** Answered by the block's bytes, in parts; those that fit are in `memory`. */
  | { readonly kind: 'block'; readonly block: EventBlock; readonly memory: Uint8Array };

const { gzip } = workerData as ThreadData;
// Loading it takes a tenth of a second.
const deflated = gzip ? (await import('./deflate.ts')).deflated : null;
let write = blockWriter(null);

answerAll((task: TraceThreadTask): readonly BytePart[] => {
  if (task.kind === 'events') {
    write = blockWriter(task.events);
    return [];
  }
  const parts: BytePart[] = [];
  write(task.block, partsIn(task.memory, deflated, parts));
  return parts;
});
