/**
 * The recording of a run over MPI: each rank records its own PE into files on its own machine. At the end they are
 * appended to rank 0's files, in the order of ranks; the result is what one process would have written.
 */
import { closeSync, existsSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { MpiWorld } from '../../os/mpi/world.ts';
import type { RunZero } from '../../os/run-clock.ts';
import { type ScratchFolder, scratchFolder } from '../../os/scratch.ts';
import type { RunConfig } from '../config.ts';
import type { Model } from '../model.ts';
import type { Placement } from '../placement.ts';
import type { RunInstrumentation } from '../statistics.ts';
import { type InstrumentConfig, streamsOf } from './config.ts';
import type { InstrumentMemory, StreamTotals } from './pe-instrument.ts';
import type { RankClocks } from './rank-clocks.ts';
import { type InstrumentOutput, Recorder, type RecorderReport } from './recorder.ts';
import { fileOf } from './stats-folder.ts';

/** Bytes of a file that are sent at a time. */
const CHUNK_BYTES = 1 << 24;

export class RankRecorder {
  readonly memory: InstrumentMemory;
  private readonly world: MpiWorld;
  private readonly recorder: Recorder;
  /** Folder of a rank's own files; null on rank 0, whose files are the run's. */
  private readonly folder: ScratchFolder | null;
  private readonly zero: RunZero;
  private readonly names: readonly string[];
  private readonly output: InstrumentOutput;
  private report: RecorderReport | null = null;
  private failure: string | null = null;

  /** Made on all ranks. @throws StatsFolderError */
  constructor(
    world: MpiWorld,
    model: Model,
    run: RunConfig,
    config: InstrumentConfig,
    placement: Placement,
    output: InstrumentOutput,
    clocks: RankClocks,
  ) {
    this.world = world;
    this.zero = clocks.zero();
    this.folder = world.rank === 0 ? null : scratchFolder('triscope-rank-');
    this.output = this.folder === null ? output : inFolder(output, this.folder.path);
    const { files } = output;
    this.names =
      files === null || config.disableOutput
        ? []
        : streamsOf(config).flatMap((stream) => fileOf(stream, files.prefix) ?? []);
    const part = { pe: world.rank, zero: this.zero };
    this.recorder = new Recorder(model, run, config, placement, this.output, part);
    this.memory = this.recorder.memory(world.rank);
  }

  /** Called when this rank's PE has handed over everything. */
  async finish(streams: readonly StreamTotals[]): Promise<RecorderReport> {
    const { rank } = this.world;
    this.report = await this.recorder.finish(streams.map((s) => ({ pe: rank, ...s })));
    return this.report;
  }

  /** Paths of the files recorded here, in the order that all ranks share. */
  private paths(): string[] {
    const folder = this.report?.folder ?? null;
    const native = folder === null ? [] : this.names.map((name) => join(folder, name));
    const { frames } = this.output;
    return frames === null ? native : [...native, frames];
  }

  /** Appends the files of all ranks to rank 0's. All ranks call it. */
  unite(): void {
    const { world, folder } = this;
    if (folder !== null) {
      for (const path of this.paths()) this.tellFile(path);
      folder.remove();
      return;
    }
    const paths = this.paths();
    for (let rank = 1; rank < world.size; rank++) {
      for (const path of paths) this.hearFile(rank, path);
    }
  }

  private tellFile(path: string): void {
    if (existsSync(path)) {
      const chunk = new Uint8Array(CHUNK_BYTES);
      const fd = openSync(path, 'r');
      for (let n = readSync(fd, chunk); n > 0; n = readSync(fd, chunk)) {
        this.world.tell(chunk.subarray(0, n));
      }
      closeSync(fd);
    }
    this.world.tell(new Uint8Array(0));
  }

  private hearFile(rank: number, path: string): void {
    const fd = existsSync(path) ? openSync(path, 'a') : null;
    for (;;) {
      const bytes = this.world.hear(rank);
      if (bytes.length === 0) break;
      try {
        if (fd === null) throw new Error('it is not there');
        for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
      } catch (error) {
        // The rank sends all of the file, so all of it has to be received.
        this.failure ??= `cannot append to ${path}: ${(error as Error).message}`;
      }
    }
    if (fd !== null) closeSync(fd);
  }

  /** What was written, on rank 0. @param reports of all ranks */
  summary(reports: readonly RecorderReport[]): RunInstrumentation {
    const own = this.report as RecorderReport;
    return {
      ...own,
      bytes: reports.reduce((sum, r) => sum + r.bytes, 0),
      error: reports.find((r) => r.error !== null)?.error ?? this.failure,
      streams: reports.flatMap((r) => r.streams),
      zero: this.zero.wall.toString(),
    };
  }
}

const inFolder = (output: InstrumentOutput, folder: string): InstrumentOutput => ({
  ...output,
  files: output.files && { ...output.files, path: join(folder, 'stats') },
  frames: output.frames && join(folder, 'extra.frames'),
});
