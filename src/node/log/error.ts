/** Errors of the collector's files. */
import { TriscopeError } from '../../model/error.ts';

/**
 * A record group could not be written, or a file of the log could not be handled. The message names the file.
 * @example
 * ```ts
 * import { LogError, NodeLog } from 'triscope/node';
 *
 * try {
 *   new NodeLog('/var/log/triscope').rotate();
 * } catch (error) {
 *   if (error instanceof LogError) console.error(error.message); // names the file
 * }
 * ```
 */
export class LogError extends TriscopeError {
  override readonly name = 'LogError';
}

const MENDS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on its disk',
  EDQUOT: 'the quota of its disk is used up',
  EFBIG: 'it may not become larger (ulimit -f)',
  EROFS: 'its disk is read-only',
  EACCES: 'permission denied; run as root, or choose another folder (--dir)',
  EPERM: 'permission denied',
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EXDEV: 'its folder is on another disk',
  EMFILE: 'too many files are open',
  ELOOP: 'is a symbolic link and may lead anywhere',
};

/** Whether there was no space: on the disk, in a quota, or below a limit. */
export function isFull(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code);
}

/** Says in words what the system refused to do. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as NodeJS.ErrnoException).code;
  return (code !== undefined && MENDS[code]) || error.message;
}

/** Runs `work`; errors of the system name `path`. @throws LogError */
export function about<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof LogError) throw error;
    throw new LogError(`${path}: ${reasonOf(error)}`, { cause: error });
  }
}
