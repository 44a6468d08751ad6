/** Samples a command's processes and threads while it runs: a separate thread appends to `extra.frames`. */
import { SHARE_ENV, type WorkerOptions } from 'node:worker_threads';
import { TriscopeError } from '../model/error.ts';
import type { RunZero } from '../os/run-clock.ts';
import { startThread } from '../os/thread.ts';
import {
  BELL,
  ORDERS,
  type ProcessResult,
  type ProcessSaid,
  type ProcessSamplerTask,
  ROOT,
  SEEN,
  STOP,
} from './sampler-worker.ts';

/** Milliseconds between samples of threads, and how many of these make a second. */
const INTERVAL_MS = 100;
const EVERY = 10;
/**
 * How long the command's starter waits for the first sample, in ms. Even a process that has ended exists until
 * its starter reaps it.
 */
const FIRST_MS = 1000;

export interface ProcessOptions {
  readonly file: string;
  readonly host: string;
  /** Value of ENV_MARK in the command's environment. */
  readonly mark: string;
  /** Process id of the command. */
  readonly words: string;
  readonly zero: RunZero;
  /** Gets frames as they are written. */
  readonly onFrames?: (frames: readonly Uint8Array[]) => void;
}

/** The sampler could not start, or ended early. */
export class ProcessSamplerError extends TriscopeError {
  override readonly name = 'ProcessSamplerError';
}

export class ProcessSampler {
  private readonly orders: Int32Array;
  private readonly done: Promise<ProcessResult>;

  private constructor(orders: Int32Array, done: Promise<ProcessResult>) {
    this.orders = orders;
    this.done = done;
  }

  /** Starts the sampler's thread, which waits for `watch`. @throws ProcessSamplerError */
  static start({ onFrames, ...options }: ProcessOptions): Promise<ProcessSampler> {
    const orders = new Int32Array(new SharedArrayBuffer(4 * ORDERS));
    const tell = onFrames !== undefined;
    const task: ProcessSamplerTask = {
      ...options,
      interval: INTERVAL_MS,
      every: EVERY,
      tell,
      orders,
    };
    const script = new URL('sampler-worker.js', import.meta.url);
    const how: WorkerOptions = { workerData: task, name: 'process sampler', env: SHARE_ENV };
    return new Promise((resolve, reject) => {
      const thread = startThread<ProcessSaid, ProcessResult>(script, how, (said) => {
        if (said === 'started') resolve(new ProcessSampler(orders, done));
        else onFrames?.(said);
      });
      const done = thread.done.catch(({ message }: Error) => {
        throw new ProcessSamplerError(`process sampler: ${message}`);
      });
      done.catch(reject);
    });
  }

  /**
   * Tells the thread that the command has begun. Returns after the first sample, even if the command has ended by then.
   */
  watch(root: number): void {
    Atomics.store(this.orders, ROOT, root);
    this.ring();
    Atomics.wait(this.orders, SEEN, 0, FIRST_MS);
  }

  /** Takes a last sample of what still exists, and ends the thread. @throws ProcessSamplerError */
  stop(): Promise<ProcessResult> {
    Atomics.store(this.orders, STOP, 1);
    Atomics.notify(this.orders, STOP);
    this.ring();
    return this.done;
  }

  private ring(): void {
    Atomics.store(this.orders, BELL, 1);
    Atomics.notify(this.orders, BELL);
  }
}
