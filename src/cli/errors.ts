/** What ends a command: exit codes, and one line on stderr. */

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

/** The command was called in a way that cannot be. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Errors of the engine that are about the command line, by name: to know them, nothing has to be loaded. */
const USAGE = new Set([
  'UsageError',
  'OptionError',
  'ModelNotFoundError',
  'JobNotFoundError',
  'SignalError',
  'QueryError',
]);

/** Errors about what a file holds, by name. */
const INPUT = new Set([
  'RecordingError',
  'InputError',
  'FormatError',
  'PayloadLayoutError',
  'JobError',
  'SavedControlsError',
  'SignalConfigError',
  'ConfigError',
]);

/** Errors about an optional piece that is not installed, by name. */
const MISSING = new Set(['MissingPieceError']);

/** Errors whose message says all there is to say; any other is a mistake of ours, or of the model's file. */
const EXPECTED = new Set([
  ...USAGE,
  ...INPUT,
  ...MISSING,
  'ModelError',
  'HandlerError',
  'WorkerDiedError',
  'OutOfEventMemoryError',
  'RollbackError',
  'SpeculationError',
  'FieldOverflowError',
  'RecordError',
  'CsvError',
  'SamplerError',
  'LogError',
  'StatsFolderError',
  'ServeError',
  'ReportFileError',
  'BrokerError',
  'SpoolError',
  'AbsentSignalError',
  'ControlError',
  'SessionError',
  'RecordingError',
  'ExportError',
  'TimeLimitError',
]);

/** The exit code for a command that ended with `error`. */
export function exitCodeFor(error: unknown): number {
  if (error instanceof Error && INPUT.has(error.name)) return EXIT.input;
  if (error instanceof Error && MISSING.has(error.name)) return EXIT.missing;
  return error instanceof Error && USAGE.has(error.name) ? EXIT.usage : EXIT.failed;
}

/** One line about `error`, whatever it is. */
export function lineFor(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const known = error instanceof Error && EXPECTED.has(error.name);
  const line = `triscope: ${known ? '' : 'unexpected: '}${message || 'an error without a message'}`;
  return line.replace(/\s*[\r\n]+\s*/g, ' ');
}

/** Reports `error` on stderr and returns the exit code. TRISCOPE_DEBUG=1 adds the stack. */
export function report(error: unknown): number {
  process.stderr.write(`${lineFor(error)}\n`);
  if (process.env.TRISCOPE_DEBUG === '1' && error instanceof Error) {
    process.stderr.write(`${error.stack ?? ''}\n`);
    if (error.cause instanceof Error) process.stderr.write(`${error.cause.stack ?? ''}\n`);
  }
  return exitCodeFor(error);
}
