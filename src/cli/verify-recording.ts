/** `triscope info --verify`: whether a recording's files are what they were when its run ended. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileSum } from '../formats/checksum.ts';
import type { ToldRecording } from '../formats/joined-recording.ts';
import { NOTES_FILE } from '../model/note.ts';
import { RECORDING_FILE, type RecordingFile } from '../model/recording.ts';

/** `unlisted`: a file of the folder that the recording does not speak of, and that is read with it. */
type FileState = 'same' | 'changed' | 'missing' | 'unreadable' | 'not verifiable' | 'unlisted';

export interface VerifiedFile {
  /** Relative to the folder. */
  readonly path: string;
  readonly state: FileState;
  /** What is the matter; '' for `same`. */
  readonly what: string;
}

/** States of files that are not what was recorded. */
const DAMAGED: readonly FileState[] = ['changed', 'missing', 'unreadable'];

export const isDamaged = ({ state }: VerifiedFile): boolean => DAMAGED.includes(state);

function stateOf(folder: string, file: RecordingFile): Omit<VerifiedFile, 'path'> {
  const { path, bytes, sha256 } = file;
  try {
    const now = fileSum(join(folder, path));
    if (bytes === undefined || sha256 === undefined) {
      return { state: 'not verifiable', what: `${RECORDING_FILE} has no checksum of it` };
    }
    if (now.bytes !== bytes) {
      const what = `it has ${now.bytes} bytes; it had ${bytes} when it was finished`;
      return { state: 'changed', what };
    }
    return now.sha256 === sha256
      ? { state: 'same', what: '' }
      : { state: 'changed', what: 'its content is not what it was when it was finished' };
  } catch (error) {
    return existsSync(join(folder, path))
      ? { state: 'unreadable', what: `cannot be read: ${(error as Error).message}` }
      : { state: 'missing', what: `${RECORDING_FILE} lists it, and it is not there` };
  }
}

/** All files in the folder but hidden ones, relative to it. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, '/').length))
    .filter((path) => !path.split('/').some((part) => part.startsWith('.')))
    .sort();
}

/** Each file that the recording lists, then those that it does not. Reads all of them. */
export function verifyRecording(
  folder: string,
  { recording, told }: ToldRecording,
): VerifiedFile[] {
  const listed = recording.sources.flatMap(({ files }) => files);
  const names = new Set([...told, NOTES_FILE, ...listed.map(({ path }) => path)]);
  const unlisted = filesIn(folder).filter((path) => !names.has(path));
  return [
    ...listed.map((file) => ({ path: file.path, ...stateOf(folder, file) })),
    ...unlisted.map((path) => ({
      ...{ path, state: 'unlisted' as const, what: `${RECORDING_FILE} does not list it` },
    })),
  ];
}

/** Lines “name, tab, value” for `info`. */
export function verifiedLines(files: readonly VerifiedFile[]): string[] {
  const same = files.filter(({ state }) => state === 'same').length;
  const count = (state: FileState) => files.filter((file) => file.state === state).length;
  const parts = [
    `${same} of ${files.length} files as they were when the run ended`,
    ...(['not verifiable', 'unlisted'] as const).flatMap((state) =>
      count(state) > 0 ? [`${count(state)} ${state}`] : [],
    ),
  ];
  return [
    `verified\t${parts.join(', ')}`,
    ...files
      .filter(({ state }) => state !== 'same')
      .map(({ path, state, what }) => `suspect\t${path}\t${state}: ${what}`),
  ];
}
