/** Writes a file as a whole: readers see all of the old text or all of the new. */
import {
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

/** Whether a file may replace what is at `path`: nothing or a file, but never a device, a pipe or a folder. */
export function isReplaceable(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() !== false;
}

/**
 * Writes `text` to a file beside `path` and renames it. Devices and pipes, such as /dev/stdout, are written to directly.
 * @param onDisk wait until it is on the disk
 * @throws the system's error; no other file is left behind
 */
export function writeWhole(path: string, text: string, onDisk = false): void {
  if (isReplaceable(path)) replaceFile(path, text, { onDisk });
  else writeFileSync(path, text);
}

/** Checks that `writeWhole` can write there; leaves nothing behind. @throws the system's error */
export function tryWhole(path: string): void {
  // A folder cannot be opened this way; a pipe can, whoever reads it.
  if (!isReplaceable(path)) closeSync(openSync(path, 'r+'));
  else {
    const beside = `${path}.${process.pid}.tmp`;
    rmSync(beside, { force: true });
    closeSync(openSync(beside, 'wx'));
    rmSync(beside);
  }
}

/**
 * Replaces whatever has the name `path` by a file with `text`. No link at `path`, or at the temporary name, is
 * followed.
 * @throws the system's error; no other file is left behind
 */
export function replaceFile(
  path: string,
  text: string,
  { onDisk = false, mode = 0o666 }: { readonly onDisk?: boolean; readonly mode?: number } = {},
): void {
  const beside = `${path}.${process.pid}.tmp`;
  // Left by a dead process of the same number, if it is there.
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
