/** What ends a command: exit codes, and one line on stderr. */
import { EXIT, exitCodeOf, TriscopeError } from '../model/error.ts';
import { oneLine } from './terminal.ts';

export { EXIT };

/** The command was called in a way that cannot be. */
export class UsageError extends TriscopeError {
  override readonly name = 'UsageError';
  override readonly exitCode = EXIT.usage;
}

/** The exit code for a command that ended with `error`. */
export const exitCodeFor = (error: unknown): number => exitCodeOf(error) ?? EXIT.failed;

/** One line about `error`, whatever it is. */
export function lineFor(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const line = `triscope: ${exitCodeOf(error) === null ? 'unexpected: ' : ''}${message || 'an error without a message'}`;
  return oneLine(line.replace(/\s*[\r\n]+\s*/g, ' '));
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
