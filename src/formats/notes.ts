/** The notes in a recording's folder, read and written. */
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, TriscopeError } from '../model/error.ts';
import { checkNotes, NOTES_FILE, type Note } from '../model/note.ts';
import { RecordingError } from '../model/recording.ts';
import { canLock, tryLock } from '../os/flock.ts';
import { readPlain, readReason } from '../os/plain-file.ts';

/** Most bytes of a `notes.json` that is read: all notes that are allowed take less. */
const MOST_BYTES = 4 * 2 ** 20;

/** The file cannot be written. The message says which, and why. */
class NotesFileError extends TriscopeError {
  override readonly name = 'NotesFileError';
  override readonly exitCode = EXIT.input;
}

/** Sorted by time; empty if there is no file. @throws RecordingError that says what is wrong with the file */
export function readNotes(folder: string): readonly Note[] {
  let text: string;
  try {
    text = readPlain(join(folder, NOTES_FILE), MOST_BYTES);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new RecordingError(readReason(error));
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new RecordingError(`not JSON: ${readReason(error)}`);
  }
  return checkNotes(value);
}

/** Milliseconds to wait for another process that changes the notes, and between two looks. */
const LOCK_WAIT_MS = 10_000;
const LOOK_MS = 20;

/**
 * Works while no other process changes the notes of a folder, so that of two at once neither loses the other's. If folders
 * cannot be locked, it works all the same.
 * @throws NotesFileError if the other process is not done in time; what the work throws
 */
export async function aloneWithNotes<T>(folder: string, work: () => T): Promise<T> {
  let lock: number;
  try {
    lock = openSync(folder, 'r');
  } catch (error) {
    throw new NotesFileError(`${folder}: ${readReason(error)}`);
  }
  try {
    for (let waited = 0; canLock() && !tryLock(lock); waited += LOOK_MS) {
      if (waited >= LOCK_WAIT_MS) {
        throw new NotesFileError(`${folder}: another process is changing its notes; try again`);
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return work();
  } finally {
    closeSync(lock);
  }
}

/** Replaces the file as a whole; removes it if no note is left. @throws NotesFileError */
export function writeNotes(folder: string, notes: readonly Note[]): void {
  const path = join(folder, NOTES_FILE);
  // Hidden, so that it does not count as a file of the recording.
  const made = join(folder, `.${NOTES_FILE}.${process.pid}.tmp`);
  try {
    if (notes.length === 0) {
      rmSync(path, { force: true });
      return;
    }
    writeFileSync(made, `${JSON.stringify(notes, null, 2)}\n`, { flag: 'wx' });
    renameSync(made, path);
  } catch (error) {
    rmSync(made, { force: true });
    throw new NotesFileError(`${path}: cannot be written: ${readReason(error)}`);
  }
}
