/** Writes a page: whole, or not at all. */
import { TriscopeError } from '../model/error.ts';
import { writeWhole } from '../os/whole-file.ts';

/** The page cannot be written. The message names the file. */
export class ReportFileError extends TriscopeError {
  override readonly name = 'ReportFileError';
}

/** @throws ReportFileError; nothing is left under the final name, or beside it */
export function writePage(file: string, text: string): void {
  try {
    writeWhole(file, text, true);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'its folder does not exist' : message;
    throw new ReportFileError(`--html=${file}: cannot be written: ${why}`);
  }
}
