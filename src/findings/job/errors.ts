/** An archive, an accounting file or a job that cannot be read or found. The message says all there is to say. */
export class JobError extends Error {
  override readonly name = 'JobError';
}

/** A job that is not in the archive, or that is there more than once. The message says all there is to say. */
export class JobNotFoundError extends Error {
  override readonly name = 'JobNotFoundError';
}
