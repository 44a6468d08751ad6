/** Writes a page as a whole, or not at all. */
import { TriscopeError } from '../model/error.ts';
import { tryWhole, writeWhole } from '../os/whole-file.ts';

/** The page cannot be written. The message names the file. */
export class ReportFileError extends TriscopeError {
  override readonly name = 'ReportFileError';
}

/** @param option the one that named the file @throws ReportFileError */
function refused(option: string, file: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'its folder does not exist' : message;
    throw new ReportFileError(`${option}=${file}: cannot be written: ${why}`);
  }
}

/** @throws ReportFileError; nothing is left under the final name, or beside it */
export const writePage = (file: string, text: string, option = '--html'): void =>
  refused(option, file, () => writeWhole(file, text, true));

/**
 * Checks whether a page can be written there, before the work whose result it will show. @throws ReportFileError
 */
export const checkPage = (file: string, option: string): void =>
  refused(option, file, () => tryWhole(file));
