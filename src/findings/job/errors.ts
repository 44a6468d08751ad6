/**
 * An archive, an accounting file or a job that cannot be read or found. The message is one line for the user.
 */
import { EXIT, TriscopeError } from '../../model/error.ts';

export class JobError extends TriscopeError {
  override readonly name = 'JobError';
  override readonly exitCode = EXIT.input;
}

/** A job that is not in the archive, or that is in it more than once. The message says everything. */
export class JobNotFoundError extends TriscopeError {
  override readonly name = 'JobNotFoundError';
  override readonly exitCode = EXIT.usage;
}
