/**
 * One recording of several hosts: each wrote a folder of its own below that of the job, without waiting for the others. They are
 * joined when they are read.
 *
 * ```
 * app-4711.tri/node1/recording.json   part "4711.0"     one recording, whose files are
 * app-4711.tri/node2/recording.json   part "4711.0"     node1/extra.frames, node2/extra.frames, …
 * ```
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  checkRecording,
  RECORDING_FILE,
  type Recording,
  RecordingError,
  type RecordingState,
} from '../model/recording.ts';
import { readPlain, readReason } from '../os/plain-file.ts';

/** The contents of a folder's `recording.json`, or of those in its hosts' folders. */
export interface ToldRecording {
  readonly recording: Recording;
  /** Those files, relative to the folder. */
  readonly told: readonly string[];
}

/** Null if the folder has no such file. @throws RecordingError that names what is wrong with it */
function recordingIn(folder: string, file: string): Recording | null {
  let text: string;
  try {
    text = readPlain(join(folder, file));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new RecordingError(`${file}: ${readReason(error)}`);
  }
  try {
    return checkRecording(JSON.parse(text));
  } catch (error) {
    const what = error instanceof RecordingError ? error.message : `not JSON: ${readReason(error)}`;
    throw new RecordingError(`${file}: ${what}`);
  }
}

/** The parts of one job below a folder; empty if it is no such folder. @throws RecordingError */
function partsIn(folder: string): { readonly name: string; readonly recording: Recording }[] {
  let names: string[];
  try {
    names = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
  const found = names.flatMap((name) => {
    const recording = recordingIn(folder, `${name}/${RECORDING_FILE}`);
    return recording?.part === undefined ? [] : { name, recording };
  });
  // Recordings of several jobs in one folder do not belong together.
  return new Set(found.map(({ recording }) => recording.part)).size === 1 ? found : [];
}

/** From the best to the worst. */
const STATES: readonly RecordingState[] = ['finished', 'interrupted', 'failed', 'running'];

/** @throws RecordingError */
export function readRecording(folder: string): ToldRecording | null {
  const own = recordingIn(folder, RECORDING_FILE);
  if (own !== null) return { recording: own, told: [RECORDING_FILE] };
  const parts = partsIn(folder);
  if (parts.length === 0) return null;
  const all = parts.map(({ recording }) => recording);
  const [{ ended: _, error: __, ...first }] = all;
  const state = all.reduce<RecordingState>(
    (worst, one) => (STATES.indexOf(one.state) > STATES.indexOf(worst) ? one.state : worst),
    'finished',
  );
  const errors = parts.flatMap(({ name, recording: { error } }) =>
    error === undefined ? [] : `${name}: ${error}`,
  );
  const ends = all.flatMap(({ ended = '' }) => (ended === '' ? [] : ended)).sort();
  const recording: Recording = {
    ...first,
    state,
    started: all.map(({ started }) => started).sort()[0],
    ...(ends.length === all.length && { ended: ends[ends.length - 1] }),
    ...(errors.length > 0 && { error: errors.join('; ') }),
    hosts: all.flatMap(({ hosts }) => hosts),
    pes: all.flatMap(({ pes }) => pes),
    sources: parts.flatMap(({ name, recording: { sources } }) =>
      sources.map((source) => ({
        ...source,
        name: `${source.name} of ${name}`,
        files: source.files.map((file) => ({ ...file, path: `${name}/${file.path}` })),
      })),
    ),
  };
  return { recording, told: parts.map(({ name }) => `${name}/${RECORDING_FILE}`) };
}
