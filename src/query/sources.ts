/** What a path holds: a recording's folder, or loose files in a folder, or a loose file. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { withoutLinks } from '../formats/files.ts';
import { readRecording, type ToldRecording } from '../formats/joined-recording.ts';
import { readNotes } from '../formats/notes.ts';
import { NOTES_FILE, type Note } from '../model/note.ts';
import { type Recording, RecordingError, type RecordingSource } from '../model/recording.ts';
import { readReason } from '../os/plain-file.ts';
import { InputError } from './errors.ts';

export interface SourceFile {
  readonly path: string;
  /** Name of its format, where the recording says it. */
  readonly format: string | null;
  /** Wall-clock time of its source's time 0, ns since 1970; null where nothing says it. */
  readonly zero: bigint | null;
  /** Nanoseconds that the clock behind its times of day was ahead of the recording's. */
  readonly ahead: bigint;
  /** How good its clock is, in words, where its recording says so. */
  readonly clock: string | null;
  /** Seconds by which its times may be off against those of the other sources; null where nothing says it. */
  readonly bound: number | null;
}

export interface Sources {
  readonly path: string;
  /** Of the folder or file, without `.tri`. */
  readonly name: string;
  /** Null for loose files. */
  readonly recording: Recording | null;
  /** Files that say what the recording is. */
  readonly told: readonly string[];
  readonly files: readonly SourceFile[];
  /** Files that `recording.json` lists and that are not there. */
  readonly missing: readonly string[];
  /** The recording's start, ns since 1970: the earliest of its sources' zeros; null where nothing says it. */
  readonly start: bigint | null;
  readonly notes: KeptNotes;
}

/** What is noted in a recording's folder. */
export interface KeptNotes {
  /** Their file; null where there is none. */
  readonly path: string | null;
  readonly notes: readonly Note[];
  /** Why it cannot be read; null where it can. */
  readonly fault: string | null;
}

/** For paths that are no recording. */
const NO_NOTES: KeptNotes = { path: null, notes: [], fault: null };

/** A loose folder with more files than this is not a folder of measurements. */
const MOST_FILES = 100_000;

/** @throws InputError that names the path */
export function sourcesOf(given: string): Sources {
  if (given === '') throw new InputError("'': the path is empty; . is the current folder");
  const path = resolve(given);
  const name = basename(path).replace(/\.tri$/, '');
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch (error) {
    throw new InputError(`${given}: ${readReason(error)}`);
  }
  if (!isFolder) {
    return {
      path,
      name,
      recording: null,
      told: [],
      files: [looseFile(path)],
      missing: [],
      start: null,
      notes: NO_NOTES,
    };
  }
  const all = filesUnder(path, given);
  const told = recordingOf(path, given);
  if (told === null) {
    return {
      path,
      name,
      recording: null,
      told: [],
      files: all.map(looseFile),
      missing: [],
      start: null,
      notes: NO_NOTES,
    };
  }
  const { recording } = told;
  const notes = notesOf(path, all);
  const tellers = told.told.map((file) => join(path, file));
  const listed = new Map<string, RecordingSource>();
  const formats = new Map<string, string>();
  for (const source of recording.sources) {
    for (const file of source.files) {
      listed.set(join(path, file.path), source);
      formats.set(join(path, file.path), file.format);
    }
  }
  const fallback = BigInt(
    recording.sources[0]?.zero ?? BigInt(Date.parse(recording.started)) * 1000000n,
  );
  const folders = byFolder(listed);
  const files = all
    .filter((file) => !tellers.includes(file) && file !== notes.path)
    .map((file) => {
      const source = listed.get(file) ?? folders.get(dirname(file));
      const zero = source === undefined ? fallback : BigInt(source.zero);
      const format = formats.get(file) ?? null;
      const clock = source?.clock ?? null;
      const bound = source?.bound === undefined ? null : source.bound / 1e9;
      return { path: file, format, zero, ahead: BigInt(source?.ahead ?? 0), clock, bound };
    });
  const start = recording.sources.reduce((least, { zero }) => {
    const own = BigInt(zero);
    return own < least ? own : least;
  }, fallback);
  const there = new Set(all);
  const missing = [...listed.keys()].filter((file) => !there.has(file) && !existsSync(file));
  return { path, name, recording, told: tellers, files, missing, start, notes };
}

/** @param all files in the folder and below it */
function notesOf(folder: string, all: readonly string[]): KeptNotes {
  const path = join(folder, NOTES_FILE);
  if (!all.includes(path)) return NO_NOTES;
  try {
    return { path, notes: readNotes(folder), fault: null };
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    return { path, notes: [], fault: error.message };
  }
}

/** A file that no recording describes. */
const looseFile = (path: string): SourceFile => ({
  ...{ path, format: null, zero: null, ahead: 0n },
  ...{ clock: null, bound: null },
});

/** By folder, the source that wrote into it: a run that was killed may not have listed all its files. */
function byFolder(listed: ReadonlyMap<string, RecordingSource>): Map<string, RecordingSource> {
  const folders = new Map<string, RecordingSource>();
  for (const [path, source] of listed) {
    const folder = dirname(path);
    if (!folders.has(folder)) folders.set(folder, source);
  }
  return folders;
}

/** @throws InputError */
function recordingOf(path: string, given: string): ToldRecording | null {
  try {
    return readRecording(path);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    throw new InputError(join(given, error.message));
  }
}

/**
 * All files in and under a folder but hidden ones, in a fixed order. A file with several names, as a collector's
 * `current`, is taken once, by the first of them.
 */
function filesUnder(folder: string, given: string): string[] {
  const files: string[] = [];
  const visit = (at: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue;
      const path = join(at, entry.name);
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile()) files.push(path);
      if (files.length > MOST_FILES) {
        throw new InputError(
          `${given}: more than ${MOST_FILES} files; name a folder or file in it`,
        );
      }
    }
  };
  try {
    visit(folder);
  } catch (error) {
    throw error instanceof InputError ? error : new InputError(`${given}: ${readReason(error)}`);
  }
  return withoutLinks(files.sort());
}
