/** Other work on a CPU, on purpose: the demo shows what it does to the PE that runs there. */
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { pinThread } from '../os/affinity.ts';

interface Task {
  readonly cpu: number;
  /** Not 0: stop. */
  readonly stop: Int32Array;
}

/** Marks this file's threads, which others may not start by importing it. */
const NAME = 'hog';

export class Hog {
  private readonly stop = new Int32Array(new SharedArrayBuffer(4));
  private readonly threads: readonly Worker[];

  /** Threads that want all of `cpu`. */
  constructor(cpu: number, threads: number) {
    const task: Task = { cpu, stop: this.stop };
    this.threads = Array.from({ length: threads }, () => {
      const thread = new Worker(new URL(import.meta.url), { workerData: task, name: NAME });
      thread.unref();
      return thread;
    });
  }

  async end(): Promise<void> {
    Atomics.store(this.stop, 0, 1);
    await Promise.all(this.threads.map((thread) => thread.terminate()));
  }
}

function work({ cpu, stop }: Task): void {
  // Where it cannot be bound, it is in everybody's way.
  pinThread(cpu);
  while (Atomics.load(stop, 0) === 0);
}

if (!isMainThread && (workerData as Partial<Task> | null)?.stop !== undefined) {
  work(workerData as Task);
}
