/**
 * The thread that writes what PEs record. It takes their buffers, encodes samples in the form of ROSS's files, and writes the
 * same samples as frames to `extra.frames` and to whoever follows the run.
 */
import { ftruncateSync, openSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { FrameEncoder } from '../../formats/frames/index.ts';
import {
  encodedBytes,
  encodeRows,
  isPacked,
  packEvents2017,
} from '../../formats/ross/write/index.ts';
import type { Batch } from '../../model/metric.ts';
import { SIM_STREAM } from '../../model/schemas/sim.ts';
import { LimitWatch } from '../../os/limit-watch.ts';
import { RunClock, type RunZero } from '../../os/run-clock.ts';
import { doTask } from '../../os/thread.ts';
import { type InstrumentConfig, type Stream, streamsOf } from './config.ts';
import { LiveFrames } from './live-frames.ts';
import { keptOf, oldEventHead, recordsIn } from './loss.ts';
import type { RecordablePayload } from './payload.ts';
import { phaseBatch } from './phases.ts';
import type { FramesMessage, RecorderEnd, StreamLoss } from './recorder-messages.ts';
import { RowBatches } from './row-batches.ts';
import { BROKEN, DOORBELL, FINISHED, SlabReader } from './slab.ts';
import { fileOf } from './stats-folder.ts';
import { processBatch, threadBatch } from './thread-watch.ts';

export interface RecorderTask {
  readonly config: InstrumentConfig;
  readonly zero: RunZero;
  readonly bell: SharedArrayBuffer;
  /** By PE. */
  readonly slabs: readonly Readonly<Partial<Record<Stream, SharedArrayBuffer>>>[];
  /** Region pages, by PE; null for PEs of other ranks, which have no slabs here either. */
  readonly pages: readonly (SharedArrayBuffer | null)[];
  /** Folder and prefix of ROSS's files; null if they are not written. */
  readonly files: { readonly folder: string; readonly prefix: string } | null;
  /** Path of `extra.frames`; null if it is not written. */
  readonly frames: string | null;
  /** Whether frames are also posted to the thread that started this one. */
  readonly live: boolean;
  readonly payloads: readonly RecordablePayload[];
}

/** Milliseconds between looks at buffers that are not full, if somebody follows the run and if nobody does. */
const LIVE_PERIOD_MS = 100;
const FILE_PERIOD_MS = 1000;
/** Milliseconds between samples of threads. */
const THREAD_PERIOD_MS = 100;

/** One file. After a failed write it keeps the whole records that were written, and nothing more is added. */
class Output {
  /** Bytes of whole records. */
  bytes = 0;
  /** Why nothing more is written; null while there is no error. */
  error: string | null = null;
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

  /**
   * Appends whole records; returns how many bytes of them are in the file.
   * @param whole the bytes of whole records among a number of bytes
   */
  write(bytes: Uint8Array, whole: (written: number) => number): number {
    if (this.error !== null) return 0;
    let at = 0;
    while (at < bytes.length) {
      try {
        at += writeSync(this.fd, bytes, at, bytes.length - at);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') continue;
        at = whole(at);
        this.bytes += at;
        this.fail(error as Error);
        return at;
      }
    }
    this.bytes += at;
    return at;
  }

  private fail(error: Error): void {
    this.error = `cannot write ${this.path}: ${error.message}`;
    try {
      ftruncateSync(this.fd, this.bytes);
    } catch {
      // The file keeps a part of a record; readers report that.
    }
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
  private readonly live: LiveFrames | null;
  /** Of one rank only: the machine's other ranks would write the same. */
  private readonly limits: LimitWatch | null;
  private scratch = new Uint8Array(1 << 20);
  private readonly lost = new Map<string, StreamLoss>();

  constructor(task: RecorderTask, tell: (message: FramesMessage) => void) {
    this.task = task;
    this.bell = new Int32Array(task.bell);
    this.clock = new RunClock(task.zero);
    this.streams = streamsOf(task.config);
    this.readers = task.slabs.map((slabs) =>
      Object.fromEntries(
        this.streams.flatMap((s) => (slabs[s] ? [[s, new SlabReader(slabs[s])]] : [])),
      ),
    );
    if (task.files !== null) {
      for (const stream of this.streams) {
        const name = fileOf(stream, task.files.prefix);
        if (name !== null) this.outputs.set(stream, new Output(join(task.files.folder, name)));
      }
    }
    if (task.frames !== null) this.frameFile = new Output(task.frames);
    const { clock } = this;
    this.limits =
      task.pages[0] === null ? null : new LimitWatch({ host: hostname(), now: () => clock.now() });
    this.live = task.live ? new LiveFrames(this.bell, tell) : null;
    const frames = task.frames !== null || task.live;
    this.batches = frames ? new RowBatches(task.payloads, (batch) => this.emit(batch)) : null;
  }

  run(): RecorderEnd {
    const { bell, task } = this;
    const period = task.live ? LIVE_PERIOD_MS : FILE_PERIOD_MS;
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
        nextThreads = now + THREAD_PERIOD_MS;
        const batch = threadBatch(bell, task.slabs.length, this.clock.now());
        if (batch !== null) {
          this.emit(batch);
          this.emit(processBatch(this.firstPe, this.clock.now()));
        }
        if (task.config.phases) this.emit(phaseBatch(task.pages, this.clock.now()));
        for (const limits of this.limits?.sample(['/proc/self']) ?? []) this.emit(limits);
      }
      if (finished) {
        return this.end();
      }
      this.live?.post();
      const wait = Math.min(nextPartial, this.batches === null ? Infinity : nextThreads);
      Atomics.wait(bell, DOORBELL, rung, Math.max(1, wait - performance.now()));
    }
  }

  private get firstPe(): number {
    return this.task.pages.findIndex((page) => page !== null);
  }

  private drain(partial: boolean): void {
    for (const stream of this.streams) {
      this.readers.forEach((readers, pe) => {
        readers[stream]?.drain(partial, (bytes) => {
          const kept = this.take(stream, bytes);
          if (kept < bytes.length) this.lose(pe, stream, bytes.subarray(kept));
        });
      });
    }
    if (partial) this.batches?.flush();
  }

  /** Counts what could not be written. Buffers are emptied all the same, so that PEs do not wait for a full disk. */
  private lose(pe: number, stream: Stream, bytes: Uint8Array<SharedArrayBuffer>): void {
    const key = `${pe} ${stream}`;
    const before = this.lost.get(key);
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
    this.lost.set(key, {
      pe,
      stream,
      records: (before?.records ?? 0) + recordsIn(this.task.config, stream, words),
      bytes: (before?.bytes ?? 0) + bytes.length,
    });
  }

  /** Writes whole rows; returns how many of their bytes the stream's file has taken, or all if there is no file. */
  private take(stream: Stream, bytes: Uint8Array<SharedArrayBuffer>): number {
    const { config } = this.task;
    const output = this.outputs.get(stream);
    const isTrace = stream === 'evtrace';
    if (!isTrace) this.batches?.add(bytes);
    if (output === undefined) {
      const isLost = stream === 'rollback' && this.frameFile?.error != null;
      return isLost ? 0 : bytes.length;
    }
    const encoded = isTrace ? this.trace(bytes) : config.direct ? bytes : this.encoded(bytes);
    let rows = bytes.length;
    const taken = output.write(encoded, (written) => {
      const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
      const kept = keptOf(config, stream, words, written);
      rows = 4 * kept.words;
      return kept.bytes;
    });
    return taken === 0 ? 0 : rows;
  }

  /** Whether models add nothing to traced events. */
  private get bare(): boolean {
    return this.task.payloads.every(({ what }) => what === 'sample');
  }

  /** Why something could not be written; null if all was written. */
  private get error(): string | null {
    const outputs = [...this.outputs.values(), this.frameFile];
    return outputs.find((output) => output?.error != null)?.error ?? null;
  }

  /** Events in the form of their file: as PEs write them, except events of 2017 with bytes of the model. */
  private trace(bytes: Uint8Array<SharedArrayBuffer>): Uint8Array {
    const { config } = this.task;
    if (this.bare || !isPacked(config.layout)) return bytes;
    if (this.scratch.length < bytes.length) this.scratch = new Uint8Array(bytes.length * 2);
    const rows = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
    return this.scratch.subarray(0, packEvents2017(rows, oldEventHead(config), this.scratch));
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
    if (this.frameFile !== null) for (const frame of frames) this.frameFile.write(frame, () => 0);
    this.live?.add(frames);
  }

  private end(): RecorderEnd {
    if (this.batches !== null) this.emit(this.totals());
    this.live?.post();
    let bytes = this.frameFile?.bytes ?? 0;
    for (const output of this.outputs.values()) bytes += output.bytes;
    const lost = [...this.lost.values()];
    const { error } = this;
    return { bytes, error, lost };
  }

  private totals(): Batch {
    const rows = this.readers.flatMap((readers, pe) =>
      this.streams.flatMap((stream) => {
        const reader = readers[stream];
        if (reader === undefined) return [];
        const totals = reader.totals();
        const lost = this.lost.get(`${pe} ${stream}`);
        return {
          pe,
          stream,
          ...totals,
          droppedRecords: totals.droppedRecords + (lost?.records ?? 0),
          droppedBytes: totals.droppedBytes + (lost?.bytes ?? 0),
        };
      }),
    );
    return {
      schema: SIM_STREAM,
      rows: rows.length,
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

void doTask((task: RecorderTask, tell: (message: FramesMessage) => void): RecorderEnd => {
  try {
    return new RecorderThread(task, tell).run();
  } catch (error) {
    // PEs no longer wait for it.
    Atomics.store(new Int32Array(task.bell), BROKEN, 1);
    throw error;
  }
});
