/** What ROSS's files add to a recorded command: samples on the timeline, and PEs as ranks. */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { FrameEncoder } from '../formats/frames/index.ts';
import { batchesOf } from '../formats/part.ts';
import { extraFrames } from '../formats/recording-folder.ts';
import { openData } from '../formats/registry.ts';
import {
  alignedBatches,
  CLOCK_RATE,
  type ClockNote,
  readClockNote,
} from '../formats/ross/clock.ts';
import type { RecordingPe, RecordingSource } from '../model/recording.ts';

/** Folders in the recording: ROSS's files, and what the MPI shim notes of its clocks. */
export const ROSS_FOLDER = 'ross';
export const CLOCKS_FOLDER = 'clocks';
const ALIGNED = 'aligned.frames';

/** How good clocks are. */
const NOTED =
  'cycle counter and wall clock were noted at MPI_Init and MPI_Finalize: as good as the clock of its host';
const REPLACED = `counts cycles: its samples are taken from ${ROSS_FOLDER}/${ALIGNED}, on the timeline`;
const UNKNOWN =
  'unknown: no note of the cycle counter (triscope region build-shims mpi), so its time 0 is taken to be the recording’s, and its seconds to be true';

/** The notes of all ranks that came to MPI_Finalize, by rank. */
function clockNotes(folder: string): ClockNote[] {
  const path = join(folder, CLOCKS_FOLDER);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .flatMap((name) => readClockNote(readFileSync(join(path, name), 'latin1')) ?? [])
    .sort((a, b) => a.rank - b.rank);
}

/** `--clock-rate` as the command's words say it. */
function clockRateOf(command: readonly string[]): number {
  const at = command.findIndex((word) => /^--clock-rate(=|$)/.test(word));
  const text = at < 0 ? '' : (command[at].split('=')[1] ?? command[at + 1] ?? '');
  return Number(text) > 0 ? Number(text) : CLOCK_RATE;
}

export interface RossOptions {
  /** The recording's, and ROSS's files in it. */
  readonly folder: string;
  readonly paths: readonly string[];
  readonly command: readonly string[];
  /** Nanoseconds since 1970 of the recording's 0. */
  readonly zero: bigint;
}

/** Writes the aligned samples; gives the sources of ROSS's files and of these. */
export function rossSources({ folder, paths, command, zero }: RossOptions): RecordingSource[] {
  const notes = clockNotes(folder);
  const rate = clockRateOf(command);
  const encoder = new FrameEncoder();
  const aligned = join(folder, ROSS_FOLDER, ALIGNED);
  const file = notes.length > 0 ? openSync(aligned, 'ax') : -1;
  const binary: string[] = [];
  for (const path of paths) {
    const open = isBinary(path) ? openData(path, 'ross') : null;
    if (open === null) continue;
    binary.push(path);
    for (const part of open.parts) {
      // All of it, however little a write takes.
      for (const batch of alignedBatches(part, notes, rate, zero))
        for (const frame of encoder.encode(batch)) writeFileSync(file, frame);
    }
    open.close();
  }
  if (file >= 0) closeSync(file);
  const native = filesIn(folder, paths, (path) => binary.includes(path));
  if (file < 0) return [sourceOf('ross', native, zero, UNKNOWN)];
  const samples = filesIn(folder, [aligned], () => false).map((one) => ({
    ...one,
    format: 'frames',
  }));
  return [sourceOf('ross', native, zero, REPLACED), sourceOf('ross aligned', samples, zero, NOTED)];
}

/** ROSS's files while they grow: nothing is known of their clock yet. @param folder the recording's, complete */
export const unalignedSource = (
  folder: string,
  paths: readonly string[],
  zero: bigint,
): RecordingSource => sourceOf('ross', filesIn(folder, paths, isBinary), zero, UNKNOWN);

const isBinary = (path: string): boolean => !/\.(txt|csv)$/.test(path);

const filesIn = (
  folder: string,
  paths: readonly string[],
  isRoss: (path: string) => boolean,
): RecordingSource['files'] =>
  paths.map((path) => ({ path: relative(folder, path), format: isRoss(path) ? 'ross' : 'text' }));

const sourceOf = (
  name: string,
  files: RecordingSource['files'],
  zero: bigint,
  clock: string,
): RecordingSource => ({ name, files, zero: String(zero), droppedBytes: 0, clock });

/** By process, the CPUs that it may run on, as it was told last. */
function cpusOf(folder: string): Map<number, string> {
  const found = new Map<number, string>();
  const path = extraFrames(folder);
  const open = existsSync(path) ? openData(path, 'frames') : null;
  const part = open?.parts.find(({ schema }) => schema.name === 'process_info');
  if (part !== undefined) {
    const at = (key: string) => part.schema.metrics.findIndex((one) => one.key === key);
    const [process, cpus] = [at('process_id'), at('cpus')];
    for (const { length, columns } of batchesOf(part)) {
      for (let row = 0; row < length; row++) {
        found.set(Number(columns[process][row]), String(columns[cpus][row]));
      }
    }
  }
  open?.close();
  return found;
}

/** PE = rank = process, on the host where it ran, and on its CPU where it was bound to one. */
export function pesOf(folder: string, host: string): RecordingPe[] {
  const places = cpusOf(folder);
  return clockNotes(folder).map(({ rank, process }) => {
    const cpus = places.get(process) ?? '';
    const cpu = /^\d+$/.test(cpus) ? Number(cpus) : null;
    return { pe: rank, rank, host, cpu, threadId: process };
  });
}
