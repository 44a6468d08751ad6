/** Errors that are for the user, and the exit codes of commands. */

/** 0 is success; `region launch` passes on its command's code. */
export const EXIT = {
  /** The run or the check failed. */
  failed: 1,
  usage: 2,
  /** Unreadable or corrupt input. */
  input: 3,
  /** An optional piece is missing; the message says which command installs it. */
  missing: 4,
  interrupted: 130,
} as const;

/**
 * An error whose message is complete, in one line: what is wrong, where, and the remedy. Any other error that
 * reaches a user is a bug, of ours or of the model's file. Subclasses set their exit code.
 * @example
 * ```ts
 * import { simulate, TriscopeError } from 'triscope/sim';
 *
 * try {
 *   await simulate('phold', { end: -1 });
 * } catch (error) {
 *   if (!(error instanceof TriscopeError)) throw error;
 *   console.error(error.message);
 *   process.exitCode = error.exitCode;
 * }
 * ```
 */
export class TriscopeError extends Error {
  /** Exit code of a command that ends with this error. */
  readonly exitCode: number = EXIT.failed;
}

/**
 * An optional piece is missing; the message says how to install it.
 * @example
 * ```ts
 * import { MissingPieceError } from 'triscope/sim';
 * import { openRecording } from 'triscope/query';
 *
 * try {
 *   await openRecording('run.tri');
 * } catch (error) {
 *   if (error instanceof MissingPieceError) console.error(error.message); // what to install
 * }
 * ```
 */
export class MissingPieceError extends TriscopeError {
  override readonly name = 'MissingPieceError';
  override readonly exitCode = EXIT.missing;
}

/** The exit code of an error; null for an error that is not for the user. */
export function exitCodeOf(error: unknown): number | null {
  // Not by class, because a model's file may import a second copy of the package.
  if (!(error instanceof Error) || !('exitCode' in error)) return null;
  return typeof error.exitCode === 'number' ? error.exitCode : null;
}
