/** Writes a page: whole, or not at all. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** The page cannot be written. The message names the file. */
export class ReportFileError extends Error {
  override readonly name = 'ReportFileError';
}

/** @throws ReportFileError; nothing is left under the final name, or beside it */
export function writePage(file: string, text: string): void {
  const partial = `${file}.partial-${process.pid}`;
  try {
    const fd = openSync(partial, 'wx');
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'its folder does not exist' : message;
    throw new ReportFileError(`--html=${file}: cannot be written: ${why}`);
  }
}
