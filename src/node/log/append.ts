/**
 * Appends record groups to a file so that each is there as a whole or not at all.
 *
 * A group is one write(2). If that writes less than asked (a full disk), the file is cut back at once. A process that
 * is killed inside write(2) can leave a part of a group. So before each write a note goes into the lock file: the
 * file's inode, its length, and its length with the group.
 *
 *     2237409 13318 14309
 *
 * If the file's length is between the two, the next process that appends cuts the file back to the first.
 */
import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import { about, LogError } from './error.ts';

/** Bytes of a note: three numbers of up to 20 digits, padded with blanks. */
const NOTE_BYTES = 64;

const note = Buffer.alloc(NOTE_BYTES);

/**
 * Cuts off the part of a group that a killed process has left. `lock`: the open lock file.
 * @returns the file's length afterwards
 */
export function mend(lock: number, file: number): number {
  const length = readSync(lock, note, 0, NOTE_BYTES, 0);
  const [inode, from, to] = note.toString('latin1', 0, length).trim().split(' ').map(Number);
  const now = fstatSync(file);
  if (inode !== now.ino || now.size <= from || now.size >= to) return now.size;
  ftruncateSync(file, from);
  return from;
}

/** A file that is open for appending. */
interface AppendFile {
  readonly path: string;
  readonly file: number;
  readonly ino: number;
}

/**
 * Appends `bytes` to a file of `size` bytes. `lock`: the lock file, which must be held.
 * @throws LogError if not all could be written; the file is then as before
 */
export function appendWhole(
  lock: number,
  { path, file, ino }: AppendFile,
  size: number,
  bytes: Uint8Array,
): void {
  about(path, () => {
    note.fill(' ');
    note.write(`${ino} ${size} ${size + bytes.length}`, 'latin1');
    note[NOTE_BYTES - 1] = 0x0a;
    writeSync(lock, note, 0, NOTE_BYTES, 0);
    const written = writeSync(file, bytes);
    if (written === bytes.length) return;
    ftruncateSync(file, size);
    throw new LogError(`${path}: its disk or quota is full`);
  });
}
