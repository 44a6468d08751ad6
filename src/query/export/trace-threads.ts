/** Writes blocks of a trace, in this thread and others beside it. */
import { Worker } from 'node:worker_threads';
import { type Block, blockWriter, type DrawnEvents } from '../../formats/trace-event/index.ts';
import { type BytePart, partsIn } from './byte-part.ts';
import { deflated } from './deflate.ts';
import type { ThreadData, ThreadTask } from './trace-thread.ts';

/** Blocks that a thread has in hand or waiting: it need not wait for the next. */
const AHEAD = 2;
/** Bytes that a block seldom goes beyond. */
const BLOCK = 1 << 21;

/** A block's bytes, valid until `release`. */
export interface WrittenBlock {
  readonly parts: readonly BytePart[];
  release(): void;
}

class Thread {
  private readonly worker: Worker;
  private readonly asked: {
    readonly resolve: (parts: readonly BytePart[]) => void;
    readonly reject: (error: Error) => void;
  }[] = [];

  constructor(data: ThreadData) {
    this.worker = new Worker(new URL('trace-thread.js', import.meta.url), {
      workerData: data,
      name: 'trace',
    });
    this.worker.on('message', (parts: readonly BytePart[]) => this.asked.shift()?.resolve(parts));
    this.worker.on('error', (error) => {
      for (const { reject } of this.asked.splice(0)) reject(error);
    });
  }

  get busy(): boolean {
    return this.asked.length >= AHEAD;
  }

  use(events: DrawnEvents | null): void {
    this.worker.postMessage({ kind: 'events', events } satisfies ThreadTask);
  }

  write(block: Block, memory: Uint8Array): Promise<readonly BytePart[]> {
    const parts = new Promise<readonly BytePart[]>((resolve, reject) => {
      this.asked.push({ resolve, reject });
    });
    // Whoever waits is told; perhaps nobody does any more.
    parts.catch(() => {});
    this.worker.postMessage({ kind: 'block', block, memory } satisfies ThreadTask);
    return parts;
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }
}

export class TraceThreads {
  private readonly threads: readonly Thread[];
  private readonly deflated: typeof deflated | null;
  private readonly memory: Uint8Array[] = [];
  private _write = blockWriter(null);

  /** @param count of threads beside this one */
  constructor(count: number, gzip: boolean) {
    this.deflated = gzip ? deflated : null;
    this.threads = Array.from({ length: count }, () => new Thread({ gzip }));
  }

  /** Blocks to have written at a time. */
  get atOnce(): number {
    return (AHEAD + 1) * this.threads.length + 1;
  }

  /** Blocks are of these events from now on. */
  use(events: DrawnEvents | null): void {
    this._write = blockWriter(events);
    for (const thread of this.threads) thread.use(events);
  }

  /** A block goes to a thread that has little to do; where all have enough it is written here. */
  async write(block: Block): Promise<WrittenBlock> {
    const memory = this.memory.pop() ?? new Uint8Array(new SharedArrayBuffer(BLOCK));
    const thread = this.threads.find(({ busy }) => !busy);
    let parts: readonly BytePart[];
    if (thread === undefined) {
      const here: BytePart[] = [];
      this._write(block, partsIn(memory, this.deflated, here));
      parts = here;
    } else parts = await thread.write(block, memory);
    return { parts, release: () => this.memory.push(memory) };
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.close()));
  }
}
