/** Starts and ends the recording of a run: shared buffers for its PEs, the thread that empties them, the folder. */
import type { Worker } from 'node:worker_threads';
import { isPacked, lpTypesText, type ReadmePayload } from '../../formats/ross/write/index.ts';
import { RegionPage } from '../../model/region-page.ts';
import { ROW_WORDS } from '../../model/schemas/ross-rows.ts';
import { type RunZero, runZero } from '../../os/run-clock.ts';
import { startThread } from '../../os/thread.ts';
import type { RunConfig } from '../config.ts';
import type { Model } from '../model.ts';
import { kpsOfPe, lpsOfPes, type Placement } from '../placement.ts';
import { type InstrumentConfig, type StatsFiles, type Stream, streamsOf } from './config.ts';
import {
  lpInstruments,
  payloadLayouts,
  type Recordable,
  type RecordablePayload,
} from './payload.ts';
import type { InstrumentMemory, StreamTotals } from './pe-instrument.ts';
import type { FramesMessage, RecorderEnd, StreamLoss } from './recorder-messages.ts';
import type { RecorderTask } from './recorder-worker.ts';
import { BROKEN, bellMemory, DOORBELL, FINISHED, slabMemory, TAKEN, THREADS } from './slab.ts';
import {
  detailed,
  fileOf,
  makeStatsFolder,
  type StatsTexts,
  writeStatsTexts,
} from './stats-folder.ts';

/** Where a run's records go. */
export interface InstrumentOutput {
  /** Folder and prefix of ROSS's files; null if they are not written. */
  readonly files: StatsFiles | null;
  /** Path of `extra.frames`; null if it is not written. */
  readonly frames: string | null;
  /**
   * Gets stream frames (formats/frames) as the run goes on. It must not block. `dropped` data frames before them were
   * left out because this thread was too busy to take them.
   */
  readonly onFrames?: (frames: readonly Uint8Array[], dropped: number) => void;
  /** The run's zero, if somebody needs it earlier; otherwise the moment of the start. */
  readonly zero?: RunZero;
  /** The program that wrote the files, for the README beside them: “Triscope 0.1.0”. */
  readonly version: string;
  /** The run's settings under their titles, for that README. */
  readonly settings: readonly {
    readonly title: string;
    readonly options: readonly (readonly [name: string, value: string | null])[];
  }[];
}

/** What was written. */
export interface RecorderReport {
  /** Folder of ROSS's files; null if there are none. */
  readonly folder: string | null;
  /** Names in that folder. */
  readonly files: readonly string[];
  readonly bytes: number;
  /** Why something could not be written; null if all was written. */
  readonly error: string | null;
  /** What became of each stream, including what the recorder could not write. */
  readonly streams: readonly PeStream[];
}

/** One stream of one PE. */
export interface PeStream extends StreamTotals {
  readonly pe: number;
}

const withLoss = (stream: PeStream, lost: readonly StreamLoss[]): PeStream => {
  const own = lost.find((l) => l.pe === stream.pe && l.stream === stream.stream);
  return {
    ...stream,
    droppedRecords: stream.droppedRecords + (own?.records ?? 0),
    droppedBytes: stream.droppedBytes + (own?.bytes ?? 0),
  };
};

/** The number of the PE, if it records only one: a rank's. */
interface RecorderPart {
  readonly pe: number;
  /** The same for all PEs. */
  readonly zero: RunZero;
}

/** Most bytes of a row of samples, and of an event's record without what the model adds. */
const ROW_BYTES = 4 * Math.max(...ROW_WORDS);
const EVENT_BYTES = 64;

/**
 * Bytes that one buffer should have room for: several sampling points, which readers of 2017's files need whole, or events. Infinity
 * for what models sample, which may be of any size.
 */
function together(
  stream: Stream,
  nkp: number,
  lps: number,
  payloads: readonly RecordablePayload[],
): number {
  if (stream === 'model' || stream === 'vt') return Infinity;
  if (stream === 'rollback') return 0;
  if (stream !== 'evtrace') return 4 * ROW_BYTES * (1 + nkp + lps);
  return 4 * Math.max(EVENT_BYTES, ...payloads.map(({ bytes }) => EVENT_BYTES + bytes));
}

export class Recorder {
  readonly zero: RunZero;
  private readonly bell: SharedArrayBuffer;
  private readonly slabs: readonly Readonly<Partial<Record<Stream, SharedArrayBuffer>>>[];
  private readonly pages: readonly (SharedArrayBuffer | null)[];
  private readonly folder: string | null;
  private readonly names: readonly string[];
  private readonly worker: Worker;
  private readonly done: Promise<RecorderEnd>;

  /** @throws StatsFolderError */
  constructor(
    model: Model,
    run: RunConfig,
    config: InstrumentConfig,
    placement: Placement,
    output: InstrumentOutput,
    part: RecorderPart | null = null,
  ) {
    const streams = streamsOf(config);
    const payloads = payloadLayouts(model);
    const memoryOf = (stream: Stream, lps: number) =>
      slabMemory(config.bufferSize, together(stream, run.nkp, lps, payloads));
    const has = (pe: number) => part === null || part.pe === pe;
    this.zero = part?.zero ?? output.zero ?? runZero();
    this.bell = bellMemory(run.pes);
    this.pages = Array.from({ length: run.pes }, (_, pe) =>
      has(pe) ? new RegionPage().memory : null,
    );
    this.slabs = Array.from({ length: run.pes }, (_, pe) =>
      Object.fromEntries(has(pe) ? streams.map((s) => [s, memoryOf(s, placement.counts[pe])]) : []),
    );
    const files = config.disableOutput ? null : output.files;
    const native = streams.flatMap((s) => fileOf(s, files?.prefix ?? '') ?? []);
    const hasFiles = files !== null && native.length > 0;
    this.folder = hasFiles ? makeStatsFolder(files.path) : null;
    this.names = hasFiles ? [...native, `${files.prefix}-README.txt`, 'lp-mapping.txt'] : [];
    if (hasFiles) {
      const texts = textsFor(model, run, config, placement, output);
      writeStatsTexts(this.folder as string, files, texts);
    }
    const task: RecorderTask = {
      config,
      zero: this.zero,
      bell: this.bell,
      slabs: this.slabs,
      pages: this.pages,
      files: hasFiles ? { folder: this.folder as string, prefix: files.prefix } : null,
      frames: config.disableOutput ? null : output.frames,
      live: output.onFrames !== undefined,
      payloads,
    };
    const words = new Int32Array(this.bell);
    const { worker, done } = startThread<FramesMessage, RecorderEnd>(
      new URL('recorder-worker.js', import.meta.url),
      { workerData: task },
      ({ frames, dropped, bytes }) => {
        output.onFrames?.(frames, dropped);
        Atomics.add(words, TAKEN, bytes);
      },
    );
    this.worker = worker;
    this.done = done.catch(({ message }: Error) => {
      Atomics.store(words, BROKEN, 1);
      return { bytes: 0, error: message, lost: [] };
    });
  }

  /** PE `pe` is the kernel's thread `thread`. */
  runsIn(pe: number, thread: number): void {
    Atomics.store(new Int32Array(this.bell), THREADS + pe, thread);
  }

  /** What PE `pe` needs to fill its buffers. */
  memory(pe: number): InstrumentMemory {
    return {
      zero: this.zero,
      bell: this.bell,
      slabs: this.slabs[pe],
      page: this.pages[pe] as SharedArrayBuffer,
    };
  }

  /** Called when PEs have handed over everything and reported it in `streams`: writes it and ends the thread. */
  async finish(streams: readonly PeStream[]): Promise<RecorderReport> {
    const words = new Int32Array(this.bell);
    Atomics.store(words, FINISHED, 1);
    Atomics.add(words, DOORBELL, 1);
    Atomics.notify(words, DOORBELL);
    const { bytes, error, lost } = await this.done;
    await this.worker.terminate();
    return {
      folder: this.folder,
      files: this.names,
      bytes,
      error,
      streams: streams.map((stream) => withLoss(stream, lost)),
    };
  }
}

function textsFor(
  model: Model,
  run: RunConfig,
  config: InstrumentConfig,
  placement: Placement,
  output: InstrumentOutput,
): StatsTexts {
  const { pes, end, lookahead } = run;
  const { lps } = placement;
  const params = model.prepare(run.options, { pes, end, lookahead, lps });
  const peOf = new Int32Array(placement.lps);
  const kpOf = new Int32Array(placement.lps);
  for (const [pe, ids] of lpsOfPes(placement).entries()) {
    const kps = kpsOfPe(model, ids, run.nkp);
    for (let k = 0; k < ids.length; k++) {
      peOf[ids[k]] = pe;
      kpOf[ids[k]] = kps[k];
    }
  }
  const { names, of } = lpInstruments(model, params, lps);
  const added = (what: Recordable): ReadmePayload[] =>
    payloadLayouts(model)
      .filter((layout) => layout.what === what)
      .map(({ name, size, bytes, fields }) => ({
        name,
        bytes: isPacked(config.layout) ? size : bytes,
        fields,
      }));
  const modes = config.model;
  const samples = modes.gvt || modes.rt || modes.vt ? added('sample') : [];
  const events =
    config.trace === 'none'
      ? []
      : added(config.trace === 'rollbacks' ? 'traceRollback' : 'traceEvent');
  return {
    readme: {
      layout: config.layout,
      prefix: output.files?.prefix ?? '',
      kpsPerPe: run.nkp,
      lpsPerPe: placement.counts,
      detailed: detailed(config),
      gvt: config.engine.gvt,
      rt: config.engine.rt,
      vt: config.engine.vt || modes.vt,
      model: modes.gvt || modes.rt,
      trace: TRACES[config.trace],
      lpTypes: lpTypesText(of, names),
      samples,
      events,
      created: new Date(),
      version: output.version,
      groups: output.settings,
    },
    mapping: { peOf, kpOf, typeOf: (lp: number) => model.typeOf(lp, params) },
  };
}

/** ROSS's numbers of `--event-trace`. */
const TRACES = { none: 0, all: 1, rollbacks: 2, committed: 3 } as const;

/**
 * The configuration, with `direct` set if only ROSS's files get the samples, and levels that the layout has:
 * records of 2017 hold a PE alone, or all its KPs and LPs too.
 */
export function withForm(config: InstrumentConfig, output: InstrumentOutput): InstrumentConfig {
  const direct =
    config.layout === 'ross-7' && output.frames === null && output.onFrames === undefined;
  if (!isPacked(config.layout)) return { ...config, direct };
  const all = detailed(config);
  return { ...config, direct, levels: { pe: true, kp: all, lp: all } };
}
