/** Writes a file in one piece: whoever reads it sees all of the old text or all of the new. */
import {
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

/** Whether a file may take the place of what is at `path`: nothing, or a file; never a device, a pipe or a folder. */
export function isReplaceable(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() !== false;
}

/**
 * Writes `text` beside `path` and renames it. A device or a pipe, such as /dev/stdout, is written to as it is.
 * @param onDisk waits until it is on the disk
 * @throws the system's error; nothing is left beside
 */
export function writeWhole(path: string, text: string, onDisk = false): void {
  if (isReplaceable(path)) replaceFile(path, text, { onDisk });
  else writeFileSync(path, text);
}

/** Finds out whether `writeWhole` can write there; nothing is left. @throws the system's error */
export function tryWhole(path: string): void {
  // A folder cannot be opened in this way; a pipe can, whoever reads it.
  if (!isReplaceable(path)) closeSync(openSync(path, 'r+'));
  else {
    const beside = `${path}.${process.pid}.tmp`;
    rmSync(beside, { force: true });
    closeSync(openSync(beside, 'wx'));
    rmSync(beside);
  }
}

/**
 * Puts a file of `text` in the place of whatever has the name `path`: no link of that name, or of the draft's, is
 * followed.
 * @throws the system's error; nothing is left beside
 */
export function replaceFile(
  path: string,
  text: string,
  { onDisk = false, mode = 0o666 }: { readonly onDisk?: boolean; readonly mode?: number } = {},
): void {
  const beside = `${path}.${process.pid}.tmp`;
  // Of a dead process of the same number, if any.
  rmSync(beside, { force: true });
  try {
    const file = openSync(beside, 'wx', mode);
    try {
      writeFileSync(file, text);
      if (onDisk) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}
