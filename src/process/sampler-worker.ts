/** Entry of the thread that samples a command's processes at regular times, into a file of frames. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { FrameEncoder } from '../formats/frames/index.ts';
import type { Batch } from '../model/metric.ts';
import { RunClock, type RunZero } from '../os/run-clock.ts';
import { doTask } from '../os/thread.ts';
import { ProcessWatch } from './watch.ts';

/** Samples per frame: writing a frame costs as much as reading ten threads. */
const TOGETHER = 5;

export interface ProcessSamplerTask {
  /** The file of frames to make. */
  readonly file: string;
  readonly host: string;
  readonly mark: string;
  readonly words: string;
  readonly zero: RunZero;
  /**
   * Milliseconds between samples of threads, and how many of these lie between samples of everything else.
   */
  readonly interval: number;
  readonly every: number;
  /** Whether frames are also sent to the starter. */
  readonly tell: boolean;
  /** BELL, ROOT, STOP, SEEN. */
  readonly orders: Int32Array;
}

export const BELL = 0;
/** The process with which the command begins; 0 before it has started. */
export const ROOT = 1;
export const STOP = 2;
/** The thread sets it when it has taken its first sample. */
export const SEEN = 3;
export const ORDERS = 4;

/** What the sampler did. */
export interface ProcessResult {
  readonly samples: number;
  /** Samples that were skipped because an earlier one was still being taken. */
  readonly missed: number;
  /** Bytes that could not be written, and why; null if all were written. */
  readonly droppedBytes: number;
  readonly error: string | null;
}

/** Messages to the starter: frames as they are written. */
export type ProcessSaid = 'started' | readonly Uint8Array[];

/** Appends to the file. After a failed write nothing more is written, and the bytes are counted. */
class Output {
  droppedBytes = 0;
  error: string | null = null;
  private readonly file: number;
  private readonly path: string;

  constructor(path: string) {
    this.path = path;
    this.file = openSync(path, 'ax', 0o644);
  }

  write(bytes: Uint8Array): void {
    let done = 0;
    try {
      while (this.error === null && done < bytes.length) {
        done += writeSync(this.file, bytes, done, bytes.length - done);
      }
    } catch (error) {
      this.error = `cannot write ${this.path}: ${(error as Error).message}`;
    }
    this.droppedBytes += bytes.length - done;
  }

  close(): void {
    closeSync(this.file);
  }
}

function sample(task: ProcessSamplerTask, say: (said: ProcessSaid) => void): ProcessResult {
  const { file, host, mark, words, zero, interval, every, tell, orders } = task;
  const output = new Output(file);
  const encoder = new FrameEncoder();
  const clock = new RunClock(zero);
  const put = (batches: readonly Batch[]) => {
    const frames = batches.flatMap((batch) => encoder.encode(batch));
    for (const frame of frames) output.write(frame);
    if (tell && frames.length > 0) say(frames);
  };
  say('started');
  while (Atomics.load(orders, ROOT) === 0 && Atomics.load(orders, STOP) === 0) {
    Atomics.wait(orders, BELL, 0);
  }
  const root = Atomics.load(orders, ROOT);
  const watch = new ProcessWatch({ host, root, mark, words, now: () => clock.now() });
  let [samples, missed] = [0, 0];
  const start = performance.now();
  // `stop` is a word of its own; setting it also rings the bell.
  for (let tick = 0; root !== 0; ) {
    put(watch.sample(tick % every === 0, tick % TOGETHER === 0));
    samples++;
    Atomics.store(orders, SEEN, 1);
    Atomics.notify(orders, SEEN);
    const late = Math.floor((performance.now() - start) / interval);
    missed += Math.max(0, late - tick);
    tick = Math.max(late, tick) + 1;
    const wait = start + tick * interval - performance.now();
    if (Atomics.wait(orders, STOP, 0, Math.max(0, wait)) !== 'timed-out') break;
  }
  if (root !== 0) put(watch.sample(true));
  watch.close();
  output.close();
  const { droppedBytes, error } = output;
  return { samples, missed, droppedBytes, error };
}

void doTask(sample);
