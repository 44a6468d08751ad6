/** What can go wrong with a query. Each message is one line for the user. */
import { EXIT, MissingPieceError, TriscopeError } from '../model/error.ts';

/**
 * The SQL is wrong: it does not parse, names something that does not exist, or would change something.
 * @example
 * ```ts
 * import { openRecording, QueryError } from 'triscope/query';
 *
 * const recording = await openRecording('run.tri');
 * try {
 *   await recording.query('SELECT nothing FROM nowhere');
 * } catch (error) {
 *   if (error instanceof QueryError) console.error(error.message); // line and column
 * }
 * await recording.close();
 * ```
 */
export class QueryError extends TriscopeError {
  override readonly name = 'QueryError';
  override readonly exitCode = EXIT.usage;
}

/**
 * A file or folder that cannot be read as a recording. The message names the file and the place.
 * @example
 * ```ts
 * import { InputError, openRecording } from 'triscope/query';
 *
 * try {
 *   await openRecording('nothing.tri');
 * } catch (error) {
 *   if (error instanceof InputError) console.error(error.message); // names the file and the place
 * }
 * ```
 */
export class InputError extends TriscopeError {
  override readonly name = 'InputError';
  override readonly exitCode = EXIT.input;
}

/**
 * A query took longer than it may.
 * @example
 * ```ts
 * import { openRecording, TimeLimitError } from 'triscope/query';
 *
 * const recording = await openRecording(['run.tri'], { isolated: true, timeLimit: 5 }); // seconds
 * await recording.query('SELECT * FROM ross_event').catch((error: unknown) => {
 *   if (!(error instanceof TimeLimitError)) throw error;
 * });
 * await recording.close();
 * ```
 */
export class TimeLimitError extends TriscopeError {
  override readonly name = 'TimeLimitError';
}

export { MissingPieceError };

/**
 * A query took more memory than it may, and was ended with its process.
 * @example
 * ```ts
 * import { MemoryLimitError, openRecording } from 'triscope/query';
 *
 * const recording = await openRecording(['run.tri'], { isolated: true, memory: '256MiB' });
 * await recording.query("SELECT repeat('x', 2000000000)").catch((error: unknown) => {
 *   if (!(error instanceof MemoryLimitError)) throw error;
 * });
 * await recording.close();
 * ```
 */
export class MemoryLimitError extends TriscopeError {
  override readonly name = 'MemoryLimitError';
}

const CLASSES = [QueryError, InputError, MissingPieceError, TimeLimitError, MemoryLimitError];

/** An error as it crosses from the worker. */
export interface ErrorMessage {
  readonly name: string;
  readonly message: string;
}

export function messageOf(error: unknown): ErrorMessage {
  return error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: 'Error', message: String(error) };
}

/** The error that a message was made from. */
export function errorFrom({ name, message }: ErrorMessage): Error {
  const known = CLASSES.find((one) => one.name === name);
  return known === undefined ? new Error(message) : new known(message);
}
