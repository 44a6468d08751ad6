/**
 * The thread that writes what PEs record: takes their buffers, encodes samples as ROSS's files have them, and gives the
 * same samples as frames to `extra.frames` and to whoever follows the run.
 */
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { FrameEncoder } from '../../formats/frames/index.ts';
import { encodedBytes, encodeRows } from '../../formats/ross/write/index.ts';
import type { Batch } from '../../model/metric.ts';
import { SIM_STREAM } from '../../model/schemas/sim.ts';
import { type InstrumentConfig, type Stream, streamsOf } from './config.ts';
import type { PayloadLayout } from './payload.ts';
import { RowBatches } from './row-batches.ts';
import { RunClock, type RunZero } from './run-clock.ts';
import { BROKEN, DOORBELL, FINISHED, SlabReader } from './slab.ts';
import { fileOf } from './stats-folder.ts';
import { threadBatch } from './thread-watch.ts';

export interface RecorderTask {
  readonly config: InstrumentConfig;
  readonly zero: RunZero;
  readonly bell: SharedArrayBuffer;
  /** By PE. */
  readonly slabs: readonly Readonly<Partial<Record<Stream, SharedArrayBuffer>>>[];
  /** Folder and prefix of ROSS's files; null for none. */
  readonly files: { readonly folder: string; readonly prefix: string } | null;
  /** Path of `extra.frames`; null for none. */
  readonly frames: string | null;
  /** Whether frames are also posted to the thread that started this one. */
  readonly live: boolean;
  readonly payloads: readonly PayloadLayout[];
}

export type RecorderMessage =
  | { readonly kind: 'frames'; readonly frames: readonly Uint8Array[] }
  | { readonly kind: 'done'; readonly bytes: number; readonly error: string | null };

/** Milliseconds between looks at buffers that are not full, with somebody following and without. */
const LIVE_PERIOD = 100;
const FILE_PERIOD = 1000;
/** Milliseconds between samples of threads. */
const THREAD_PERIOD = 100;

class Output {
  bytes = 0;
  private readonly fd: number;
  private readonly path: string;

  /** @throws Error with a line for the user */
  constructor(path: string) {
    this.path = path;
    try {
      this.fd = openSync(path, 'wx', 0o644);
    } catch (error) {
      throw new Error(`cannot create ${path}: ${(error as Error).message}`);
    }
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      try {
        at += writeSync(this.fd, bytes, at, bytes.length - at);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') continue;
        throw new Error(`cannot write ${this.path}: ${(error as Error).message}`);
      }
    }
    this.bytes += bytes.length;
  }
}

class RecorderThread {
  private readonly task: RecorderTask;
  private readonly bell: Int32Array;
  private readonly clock: RunClock;
  private readonly streams: readonly Stream[];
  private readonly readers: readonly Readonly<Partial<Record<Stream, SlabReader>>>[];
  private readonly outputs = new Map<Stream, Output>();
  private readonly frameFile: Output | null = null;
  private readonly encoder = new FrameEncoder();
  private readonly batches: RowBatches | null;
  private readonly lastGvts = new Uint32Array(1024);
  private waiting: Uint8Array[] = [];
  private scratch = new Uint8Array(1 << 20);
  private error: string | null = null;

  constructor(task: RecorderTask) {
    this.task = task;
    this.bell = new Int32Array(task.bell);
    this.clock = new RunClock(task.zero);
    this.streams = streamsOf(task.config);
    this.readers = task.slabs.map((slabs) =>
      Object.fromEntries(
        this.streams.map((s) => [s, new SlabReader(slabs[s] as SharedArrayBuffer)]),
      ),
    );
    if (task.files !== null) {
      for (const stream of this.streams) {
        const name = fileOf(stream, task.files.prefix);
        if (name !== null) this.outputs.set(stream, new Output(join(task.files.folder, name)));
      }
    }
    if (task.frames !== null) this.frameFile = new Output(task.frames);
    const frames = task.frames !== null || task.live;
    this.batches = frames ? new RowBatches(task.payloads, (batch) => this.emit(batch)) : null;
  }

  run(): void {
    const { bell, task } = this;
    const period = task.live ? LIVE_PERIOD : FILE_PERIOD;
    let nextPartial = performance.now() + period;
    let nextThreads = 0;
    for (;;) {
      const rung = Atomics.load(bell, DOORBELL);
      const finished = Atomics.load(bell, FINISHED) !== 0;
      const now = performance.now();
      const partial = finished || now >= nextPartial;
      if (partial) nextPartial = now + period;
      this.drain(partial);
      if (this.batches !== null && (finished || now >= nextThreads)) {
        nextThreads = now + THREAD_PERIOD;
        const batch = threadBatch(bell, task.slabs.length, this.clock.now());
        if (batch !== null) this.emit(batch);
      }
      if (finished) {
        this.end();
        return;
      }
      this.post();
      const wait = Math.min(nextPartial, this.batches === null ? Infinity : nextThreads);
      Atomics.wait(bell, DOORBELL, rung, Math.max(1, wait - performance.now()));
    }
  }

  private drain(partial: boolean): void {
    for (const stream of this.streams) {
      for (const readers of this.readers) {
        const reader = readers[stream] as SlabReader;
        reader.drain(partial, (bytes) => {
          try {
            this.take(stream, bytes);
          } catch (error) {
            this.break(error as Error);
            reader.lost(bytes.length, 0);
          }
        });
      }
    }
    if (partial) this.batches?.flush();
  }

  /** What cannot be written is lost, and counted; PEs go on without waiting for room. */
  private break(error: Error): void {
    this.error ??= error.message;
    Atomics.store(this.bell, BROKEN, 1);
  }

  private take(stream: Stream, bytes: Uint8Array<SharedArrayBuffer>): void {
    if (this.error !== null) throw new Error(this.error);
    const output = this.outputs.get(stream);
    if (stream === 'evtrace') {
      output?.write(bytes);
      return;
    }
    if (output !== undefined) output.write(this.encoded(bytes));
    this.batches?.add(bytes);
  }

  private encoded(bytes: Uint8Array<SharedArrayBuffer>): Uint8Array {
    const { layout } = this.task.config;
    const rows = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
    const size = encodedBytes(layout, rows, 0, rows.length);
    if (this.scratch.length < size) this.scratch = new Uint8Array(size * 2);
    const n = encodeRows(layout, rows, 0, rows.length, this.scratch, 0, this.lastGvts);
    return this.scratch.subarray(0, n);
  }

  private emit(batch: Batch): void {
    const frames = this.encoder.encode(batch);
    if (this.frameFile !== null && this.error === null) {
      try {
        for (const frame of frames) this.frameFile.write(frame);
      } catch (error) {
        this.break(error as Error);
      }
    }
    if (this.task.live) this.waiting.push(...frames);
  }

  /** Hands frames over; who passes them on drops what a follower cannot keep up with. */
  private post(): void {
    if (this.waiting.length === 0) return;
    const frames = this.waiting;
    this.waiting = [];
    parentPort?.postMessage({ kind: 'frames', frames } satisfies RecorderMessage);
  }

  private end(): void {
    if (this.batches !== null) this.emit(this.totals());
    this.post();
    let bytes = this.frameFile?.bytes ?? 0;
    for (const output of this.outputs.values()) bytes += output.bytes;
    parentPort?.postMessage({ kind: 'done', bytes, error: this.error } satisfies RecorderMessage);
  }

  private totals(): Batch {
    const rows = this.readers.flatMap((readers, pe) =>
      this.streams.map((stream) => ({
        pe,
        stream,
        ...(readers[stream] as SlabReader).totals(),
      })),
    );
    return {
      schema: SIM_STREAM,
      length: rows.length,
      columns: [
        new Float64Array(rows.length).fill(this.clock.now()),
        Uint32Array.from(rows, (r) => r.pe),
        rows.map((r) => r.stream),
        Float64Array.from(rows, (r) => r.bytes),
        Float64Array.from(rows, (r) => r.waitedMs),
        Uint32Array.from(rows, (r) => r.droppedRecords),
        Float64Array.from(rows, (r) => r.droppedBytes),
      ],
    };
  }
}

const task = workerData as RecorderTask;
try {
  new RecorderThread(task).run();
} catch (error) {
  Atomics.store(new Int32Array(task.bell), BROKEN, 1);
  const message = error instanceof Error ? error.message : String(error);
  parentPort?.postMessage({ kind: 'done', bytes: 0, error: message } satisfies RecorderMessage);
}
