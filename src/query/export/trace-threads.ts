/** Writes blocks of a trace, in this thread and others beside it. */
import { blockWriter, type DrawnEvents, type EventBlock } from '../../formats/trace-event/index.ts';
import { AnsweringThread } from '../../os/thread.ts';
import { type BytePart, partsIn } from './byte-part.ts';
import { deflated } from './deflate.ts';
import type { ThreadData, TraceThreadTask } from './trace-thread.ts';

/** Blocks that a thread has in hand or waiting, so that it need not wait for the next. */
const AHEAD = 2;
/** Bytes that a block rarely exceeds. */
const BLOCK_BYTES = 1 << 21;

/** A block's bytes, valid until `release`. */
export interface WrittenBlock {
  readonly parts: readonly BytePart[];
  release(): void;
}

type Thread = AnsweringThread<TraceThreadTask, readonly BytePart[]>;

export class TraceThreads {
  private readonly threads: readonly Thread[];
  private readonly deflated: typeof deflated | null;
  private readonly memory: Uint8Array[] = [];
  private _write = blockWriter(null);

  /** @param count number of threads besides this one */
  constructor(count: number, gzip: boolean) {
    this.deflated = gzip ? deflated : null;
    const script = new URL('trace-thread.js', import.meta.url);
    const workerData: ThreadData = { gzip };
    this.threads = Array.from(
      { length: count },
      () => new AnsweringThread(script, { workerData, name: 'trace' }),
    );
  }

  /** Number of blocks to have written at a time. */
  get atOnce(): number {
    return (AHEAD + 1) * this.threads.length + 1;
  }

  /** Blocks are of these events from now on. */
  use(events: DrawnEvents | null): void {
    this._write = blockWriter(events);
    for (const thread of this.threads) void thread.ask({ kind: 'events', events });
  }

  /** A block goes to a thread that has little to do; if all are busy it is written here. */
  async write(block: EventBlock): Promise<WrittenBlock> {
    const memory = this.memory.pop() ?? new Uint8Array(new SharedArrayBuffer(BLOCK_BYTES));
    const thread = this.threads.find(({ waiting }) => waiting < AHEAD);
    let parts: readonly BytePart[];
    if (thread === undefined) {
      const here: BytePart[] = [];
      this._write(block, partsIn(memory, this.deflated, here));
      parts = here;
    } else parts = await thread.ask({ kind: 'block', block, memory });
    return { parts, release: () => this.memory.push(memory) };
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.end()));
  }
}
