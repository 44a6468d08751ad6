/** What ROSS's files add to a recorded command: samples on the timeline, PEs as ranks, and what was printed. */
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { FrameEncoder } from '../formats/frames/index.ts';
import { batchesOf, batchOf, type Part, type TakeRows, timeColumnOf } from '../formats/part.ts';
import { type OpenedFile, openData } from '../formats/registry.ts';
import { alignedBatch, CLOCK_RATE, type ClockNote, readClockNote } from '../formats/ross/clock.ts';
import {
  isRossText,
  optionIn,
  printedBatch,
  printedLines,
  printedRunBatch,
} from '../formats/ross/printed.ts';
import type { Batch } from '../model/metric.ts';
import type { RecordingFile, RecordingPe, RecordingSource } from '../model/recording.ts';
import { type CycleRate, cycleRate } from '../os/cycle-rate.ts';
import { parseCpuList } from '../region/signals/index.ts';
import { type RecordedProcess, recordedProcesses } from './recorded-processes.ts';

/** Folders in the recording: ROSS's files, and what the MPI shim notes of its clocks. */
export const ROSS_FOLDER = 'ross';
export const CLOCKS_FOLDER = 'clocks';
const ALIGNED = 'aligned.frames';
/** What ROSS printed: as it was, and as tables. */
const PRINTED = 'printed.txt';
const PRINTED_FRAMES = 'printed.frames';

/** How good clocks are. */
const NOTED =
  'cycle counter and wall clock were noted at MPI_Init, meanwhile, and at MPI_Finalize: as good as the clock of its host';
const SO_FAR =
  'cycle counter and wall clock were noted at MPI_Init and once more at least: as good as the clock of its host; it was killed, or still runs';
const REPLACED = `counts cycles: its samples are taken from ${ROSS_FOLDER}/${ALIGNED}, on the timeline`;
const UNKNOWN =
  'unknown: no note of the cycle counter (triscope region build-shims mpi), and nothing says how fast it is, so its time 0 is taken to be the recording’s, and its seconds to be true';

/** Describes a clock without notes: the run lies within the life of its process. @param slack seconds of uncertainty */
const guessed = ({ rate, from }: CycleRate, slack: number): string =>
  `within ${Number((slack / 2).toPrecision(2))} s, from the begin and end of its process: no note of the cycle counter (triscope region build-shims mpi), which runs at ${(rate / 1e9).toFixed(3)} GHz as ${from} says`;

interface Placed {
  readonly notes: readonly ClockNote[];
  readonly clock: string;
  /** Nanoseconds by which it may be off, where that is more than the clock of its host. */
  readonly bound?: number;
}

export interface RossOptions {
  /** The recording's, complete. */
  readonly folder: string;
  readonly command: readonly string[];
  /** Nanoseconds since 1970 of the recording's 0. */
  readonly zero: bigint;
  readonly host: string;
}

export class RossTimeline {
  private readonly options: RossOptions;
  private readonly aligned: string;
  /** Files that are followed, by path; null for what cannot be read. */
  private readonly open = new Map<string, OpenedFile | null>();
  private readonly encoder = new FrameEncoder();

  constructor(options: RossOptions) {
    this.options = options;
    this.aligned = join(options.folder, ROSS_FOLDER, ALIGNED);
  }

  /**
   * Takes in what came to the files since, as far as ranks noted their clocks by now. Gives the sources as they are at present.
   * @param paths of ROSS's files in the recording
   */
  follow(paths: readonly string[]): RecordingSource[] {
    const notes = this.notes();
    if (notes.length === 0) return paths.length === 0 ? [] : this.sources(paths, null);
    const batches: Batch[] = [];
    const take: TakeRows = (part, rows) => {
      const batch = alignedBatch(batchOf(part, rows), notes, this.rate, this.options.zero);
      if (batch !== null) batches.push(batch);
    };
    for (const path of paths.filter(isBinary)) {
      try {
        const known = this.open.get(path);
        if (known !== undefined) known?.grow?.(take);
        else this.open.set(path, openData(path, 'ross', { growing: true, take }));
      } catch {
        // Half of a record, or damage: reported when the command has ended.
      }
    }
    const frames = batches.flatMap((batch) => this.encoder.encode(batch));
    if (frames.length > 0) appendFileSync(this.aligned, Buffer.concat(frames));
    return paths.length === 0 ? [] : this.sources(paths, { notes, clock: SO_FAR });
  }

  /** Writes all samples on the timeline, and what was printed. @param text what the command printed */
  finish(paths: readonly string[], text: string): RecordingSource[] {
    for (const one of this.open.values()) one?.close();
    this.open.clear();
    rmSync(this.aligned, { force: true });
    const opened = paths.filter(isBinary).flatMap((path) => openData(path, 'ross') ?? []);
    try {
      const parts = opened.flatMap((one) => one.parts);
      const placed = this.place(parts);
      if (placed !== null) this.write(parts, placed.notes);
      return [...this.sources(paths, placed), ...this.printed(text)];
    } finally {
      for (const one of opened) one.close();
    }
  }

  /** PE = rank = process, on the host where it ran, and on its CPU where it was bound to one. */
  pes(): RecordingPe[] {
    const { host, folder } = this.options;
    const processes = recordedProcesses(folder);
    const noted = new Map(this.notes().map(({ rank, process }) => [process, rank]));
    const byRank = new Map<number, RecordedProcess>();
    for (const one of processes) {
      const rank = noted.get(one.id) ?? (noted.size === 0 ? one.rank : null);
      if (rank !== null && !byRank.has(rank)) byRank.set(rank, one);
    }
    return [...byRank]
      .sort(([a], [b]) => a - b)
      .map(([rank, { id, cpus }]) => {
        const bound = parseCpuList(cpus);
        return { pe: rank, rank, host, cpu: bound.length === 1 ? bound[0] : null, threadId: id };
      });
  }

  /** Counter cycles per second of the files' real time. */
  private get rate(): number {
    const told = optionIn(this.options.command, 'clock-rate');
    return told > 0 ? told : CLOCK_RATE;
  }

  /** The notes of all ranks, by rank. */
  private notes(): ClockNote[] {
    const path = join(this.options.folder, CLOCKS_FOLDER);
    if (!existsSync(path)) return [];
    return readdirSync(path)
      .flatMap((name) => readClockNote(readFileSync(join(path, name), 'latin1')) ?? [])
      .sort((a, b) => a.rank - b.rank);
  }

  /** Places its cycles on the wall clock; null where nothing is known about them. */
  private place(parts: readonly Part[]): Placed | null {
    const notes = this.notes();
    if (notes.length > 0) return { notes, clock: NOTED };
    const counter = cycleRate();
    const spans = parts.flatMap((part) => spanOf(part) ?? []);
    const processes = recordedProcesses(this.options.folder);
    const ranks = processes.filter(({ rank }) => rank !== null);
    const own = ranks.length > 0 ? ranks : processes.slice(0, 1);
    if (counter === null || spans.length === 0 || own.length === 0) return null;
    const [from, to] = [
      Math.max(...own.map((one) => one.from)),
      Math.min(...own.map((one) => one.to)),
    ];
    const first = this.rate * Math.min(...spans.map((one) => one.from));
    const last = this.rate * Math.max(...spans.map((one) => one.to));
    const slack = to - from - (last - first) / counter.rate;
    // The samples span more time than the process lived, so the counter is another one.
    if (!(last > first) || slack < -0.05 * (to - from)) return null;
    const wall = (seconds: number) => this.options.zero + BigInt(Math.round(1e9 * seconds));
    const note: ClockNote = {
      ...{ rank: 0, process: own[0].id },
      start: { cycles: BigInt(Math.floor(first)), wall: wall(from + slack / 2) },
      end: { cycles: BigInt(Math.ceil(last)), wall: wall(to - slack / 2) },
    };
    const open = Math.max(0.2, slack);
    return { notes: [note], clock: guessed(counter, open), bound: Math.round(5e8 * open) };
  }

  private write(parts: readonly Part[], notes: readonly ClockNote[]): void {
    const encoder = new FrameEncoder();
    const file = openSync(`${this.aligned}.tmp`, 'ax');
    try {
      for (const part of parts) {
        for (const rows of batchesOf(part)) {
          const batch = alignedBatch(rows, notes, this.rate, this.options.zero);
          // Writes may be partial: repeat until all is written.
          for (const frame of batch === null ? [] : encoder.encode(batch))
            writeFileSync(file, frame);
        }
      }
    } finally {
      closeSync(file);
    }
    renameSync(`${this.aligned}.tmp`, this.aligned);
  }

  /** What ROSS printed, as a text and as tables. */
  private printed(text: string): RecordingSource[] {
    if (!isRossText(text)) return [];
    const { folder, command, zero } = this.options;
    const lines = printedLines(text);
    const processes = recordedProcesses(folder);
    const ranks = processes.filter(({ rank }) => rank !== null);
    const own = ranks.length > 0 ? ranks : processes.slice(0, 1);
    const cpus = new Set(own.flatMap((one) => parseCpuList(one.cpus)));
    const at = Math.max(0, ...own.map(({ to }) => to));
    const program = own[0]?.name ?? '';
    const run = { text, lines, command, program, cpus: cpus.size, at };
    const batches = [printedBatch(lines), printedRunBatch(run)].filter((one) => one !== null);
    const encoder = new FrameEncoder();
    const to = (name: string) => join(folder, ROSS_FOLDER, name);
    writeFileSync(to(PRINTED), text);
    writeFileSync(
      to(PRINTED_FRAMES),
      Buffer.concat(batches.flatMap((batch) => encoder.encode(batch))),
    );
    return [
      sourceOf('ross printed', zero, [
        { path: `${ROSS_FOLDER}/${PRINTED}`, format: 'text' },
        { path: `${ROSS_FOLDER}/${PRINTED_FRAMES}`, format: 'frames' },
      ]),
    ];
  }

  private sources(paths: readonly string[], placed: Placed | null): RecordingSource[] {
    const { folder, zero } = this.options;
    const native = paths.map((path) => ({
      path: relative(folder, path),
      format: isBinary(path) ? 'ross' : 'text',
    }));
    if (placed === null || (statSync(this.aligned, { throwIfNoEntry: false })?.size ?? 0) === 0)
      return [sourceOf('ross', zero, native, UNKNOWN)];
    const samples = [{ path: relative(folder, this.aligned), format: 'frames' }];
    return [
      sourceOf('ross', zero, native, REPLACED),
      {
        ...sourceOf('ross aligned', zero, samples, placed.clock),
        ...(placed.bound !== undefined && { bound: placed.bound }),
      },
    ];
  }
}

/** The least and the greatest real time of a part; null where it has none. */
function spanOf(part: Part): { readonly from: number; readonly to: number } | null {
  const time = timeColumnOf(part.schema);
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { rows, columns } of time === null ? [] : part.read([time])) {
    for (const value of columns[0].subarray(0, rows)) {
      from = Math.min(from, Number(value));
      to = Math.max(to, Number(value));
    }
  }
  return from <= to ? { from, to } : null;
}

const isBinary = (path: string): boolean => !/\.(txt|csv)$/.test(path);

const sourceOf = (
  name: string,
  zero: bigint,
  files: readonly RecordingFile[],
  clock?: string,
): RecordingSource => ({
  ...{ name, files, zero: String(zero), droppedBytes: 0 },
  ...(clock !== undefined && { clock }),
});
