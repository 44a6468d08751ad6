/**
 * A server in a thread of its own: requests never take time or memory from the thread that simulates
 * or samples, and cannot end it. The other half is in-thread.ts.
 */
import type { Worker } from 'node:worker_threads';
import { exitNow } from '../../os/exit.ts';
import { openThread } from '../../os/thread.ts';
import { ServeError } from './listen.ts';

/** Bytes that wait for the thread, at most: it hangs, and is ended. */
const MOST_WAITING_BYTES = 256 * 1024 * 1024;
/** Milliseconds that it gets to end by itself: a signal ends a program within two seconds. */
const END_WAIT_MS = 1400;

/** Numbers that both threads see. */
export class Shared {
  readonly memory: SharedArrayBuffer;
  private readonly _taken: BigInt64Array;
  private readonly _counts: Int32Array;

  constructor(memory = new SharedArrayBuffer(16)) {
    this.memory = memory;
    this._taken = new BigInt64Array(memory, 0, 1);
    this._counts = new Int32Array(memory, 8, 2);
  }

  /** Bytes of messages that the thread has taken. */
  get taken(): number {
    return Number(Atomics.load(this._taken, 0));
  }

  took(bytes: number): void {
    Atomics.add(this._taken, 0, BigInt(bytes));
  }

  /** Followers there are, and frames for which they had no room. */
  get counts(): { readonly followers: number; readonly skipped: number } {
    return {
      followers: Atomics.load(this._counts, 0),
      skipped: Atomics.load(this._counts, 1),
    };
  }

  count(followers: number, skipped: number): void {
    Atomics.store(this._counts, 0, followers);
    Atomics.store(this._counts, 1, skipped);
  }
}

/** What the thread is given. */
export interface ThreadTask<Task> {
  readonly task: Task;
  readonly shared: SharedArrayBuffer;
}

export type ToThread<Message> =
  | { readonly kind: 'close' }
  | { readonly kind: 'message'; readonly message: Message; readonly bytes: number };

/** Where the server listens. */
export interface ServedAt {
  readonly url: string;
  readonly port: number;
}

interface ThreadOptions<Task> {
  /** Names it, in errors too: `the page's server`. */
  readonly name: string;
  readonly script: URL;
  readonly task: Task;
  /** MiB of its heap; the system's own bound where not given. */
  readonly heap?: number;
  /** Whether it can be ended from outside at any moment: not where threads of DuckDB may run below it. */
  readonly killable: boolean;
}

export class ServerThread<Message> {
  readonly url: string;
  readonly port: number;
  readonly shared: Shared;
  /** Null once it was closed; else why it has ended by itself. */
  readonly ended: Promise<Error | null>;
  private readonly worker: Worker;
  private readonly killable: boolean;
  private posted = 0;
  private open = true;

  private constructor(
    worker: Worker,
    shared: Shared,
    { name, killable }: Pick<ThreadOptions<unknown>, 'name' | 'killable'>,
    { url, port }: ServedAt,
  ) {
    this.worker = worker;
    this.killable = killable;
    this.shared = shared;
    this.url = url;
    this.port = port;
    this.ended = new Promise((resolve) => {
      let why: Error | null = null;
      worker.on('error', (error) => {
        why = error;
      });
      worker.on('exit', () => {
        const closed = !this.open;
        this.open = false;
        const reason = (why?.message ?? 'its thread is gone').replace(/\s+/g, ' ');
        resolve(closed ? null : new ServeError(`${name} has ended: ${reason}`));
      });
    });
  }

  /** Starts it. @throws ServeError, and what its script says is wrong, by the same name */
  static start<Message, Task>(options: ThreadOptions<Task>): Promise<ServerThread<Message>> {
    const { name, script, task, heap } = options;
    const shared = new Shared();
    const how = {
      name,
      workerData: { task, shared: shared.memory } satisfies ThreadTask<Task>,
      ...(heap !== undefined && { resourceLimits: { maxOldGenerationSizeMb: heap } }),
    };
    return new Promise((resolve, reject) => {
      const worker = openThread<{ readonly result: ServedAt }>(script, how, {
        hear: ({ result }) => resolve(new ServerThread(worker, shared, options, result)),
        fail: (why, fault) =>
          reject(fault === 'threw' ? why : new ServeError(`${name}: ${String(why)}`)),
      });
    });
  }

  /** Bytes that wait for it. */
  get waiting(): number {
    return this.posted - this.shared.taken;
  }

  /** Gives it a message of about `bytes`; after its end nothing. */
  post(message: Message, bytes: number): void {
    if (!this.open) return;
    this.posted += bytes;
    if (this.waiting > MOST_WAITING_BYTES) {
      // It takes nothing any more, and what waits for it is ours.
      this.open = false;
      this.end();
      return;
    }
    this.worker.postMessage({ kind: 'message', message, bytes } satisfies ToThread<Message>);
  }

  /** Ends it. One that does not end in time is left alone, and ends with the process. */
  async close(): Promise<void> {
    if (this.open) this.worker.postMessage({ kind: 'close' } satisfies ToThread<Message>);
    this.open = false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.end();
        resolve();
      }, END_WAIT_MS);
    });
    await Promise.race([this.ended, late]);
    clearTimeout(timer);
  }

  private end(): void {
    if (this.killable) {
      void this.worker.terminate();
      return;
    }
    this.worker.unref();
    const leave = (code: number) => exitNow(code);
    process.once('exit', leave);
    this.worker.once('exit', () => process.off('exit', leave));
  }
}
