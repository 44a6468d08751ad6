/** A recording's folder as series: reads `recording.json`, `extra.frames` and the node's raw stats files. */
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { scanFrames } from '../formats/frames/index.ts';
import { RawBatches, readRaw } from '../formats/tacc/index.ts';
import {
  checkRecording,
  RECORDING_FILE,
  type Recording,
  RecordingError,
} from '../model/recording.ts';
import { type Facts, factsOf, secondsBetween, zeroOf } from './facts.ts';
import { SeriesStore } from './series/store.ts';

const FRAMES = 'extra.frames';
const NODE = 'node';

export interface OpenRecording {
  readonly facts: Facts;
  readonly store: SeriesStore;
}

/** @throws RecordingError */
function readRecording(folder: string): Recording {
  const path = join(folder, RECORDING_FILE);
  let text: string;
  try {
    if (!statSync(folder).isDirectory()) throw new RecordingError(`${folder}: is no folder`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof RecordingError) throw error;
    throw new RecordingError(`${path}: cannot be read: ${(error as Error).message}`);
  }
  try {
    return checkRecording(JSON.parse(text));
  } catch (error) {
    throw new RecordingError(`${path}: ${(error as Error).message}`);
  }
}

/** Files of the folder `node`, whatever depth. Links that lead out of the recording are left alone. */
function nodeFiles(folder: string): string[] {
  const within = realpathSync(folder) + sep;
  try {
    return readdirSync(join(folder, NODE), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /^\d+(\.gz)?$/.test(entry.name))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .filter((path) => realpathSync(path).startsWith(within))
      .sort();
  } catch {
    return [];
  }
}

/**
 * Reads a recording whole. What cannot be read becomes a note among its facts; the rest is there.
 * @throws RecordingError where it is none
 */
export async function openRecording(folder: string): Promise<OpenRecording> {
  const recording = readRecording(folder);
  const zero = zeroOf(recording);
  const store = new SeriesStore();
  const notes: string[] = [];
  for (const { path, offset } of frameFiles(folder, recording, zero)) {
    try {
      const scan = scanFrames(path, {
        batch: (batch) => store.add(batch, -offset),
        wanted: (schema) => store.wants(schema),
        damage: (error) => notes.push(error.message),
      });
      if (scan.cut > 0) {
        notes.push(`${relative(folder, path)}: the last ${scan.cut} bytes are not a whole frame`);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') notes.push((error as Error).message);
    }
  }
  // Raw stats files have wall-clock times.
  const wall = Number(BigInt(zero) / 1000n) / 1e6;
  for (const path of nodeFiles(folder)) {
    const gather = new RawBatches((batch) => store.add(batch, wall));
    try {
      const { problems } = await readRaw(path, gather);
      if (problems > 0) {
        notes.push(`${relative(folder, path)}: ${problems} lines could not be used`);
      }
    } catch (error) {
      notes.push((error as Error).message);
    }
    gather.flush();
  }
  const title = basename(resolve(folder)).replace(/\.tri$/, '');
  return { facts: factsOf(recording, title, notes), store };
}

/** Files of frames with the seconds of their source's zero; `extra.frames` also where no source names it. */
function frameFiles(folder: string, { sources }: Recording, zero: string) {
  const named = sources.flatMap((source) =>
    source.files
      .filter(({ path }) => path.endsWith('.frames'))
      .map(({ path }) => ({
        path: join(folder, path),
        offset: secondsBetween(zero, source.zero),
      })),
  );
  if (named.some(({ path }) => path === join(folder, FRAMES))) return named;
  const sim = sources.find(({ name }) => name === 'sim') ?? sources[0];
  const offset = sim === undefined ? 0 : secondsBetween(zero, sim.zero);
  return [...named, { path: join(folder, FRAMES), offset }];
}
