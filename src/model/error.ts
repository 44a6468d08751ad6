/** Errors that are for the user, and what a command exits with. */

/** 0 is success; `region launch` passes on its child's code instead. */
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
 * An error whose message says all there is to say, in one line: what is wrong, where, and the mend. Any other error that
 * reaches a user is a mistake of ours, or of the model's file. A subclass says its exit code.
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

/** The exit code that an error says; null for one that is not for the user. */
export function exitCodeOf(error: unknown): number | null {
  // Not by class: a model's file may import a second copy of the package.
  if (!(error instanceof Error) || !('exitCode' in error)) return null;
  return typeof error.exitCode === 'number' ? error.exitCode : null;
}
