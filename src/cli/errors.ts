/** What ends a command: exit codes, and one line on stderr. */
import { EXIT, exitCodeOf, TriscopeError } from '../model/error.ts';
import { readReason } from '../os/plain-file.ts';
import { oneLine } from './terminal.ts';

export { EXIT };

/** The command line is wrong. */
export class UsageError extends TriscopeError {
  override readonly name = 'UsageError';
  override readonly exitCode = EXIT.usage;
}

/** The system refused access to a file in an unexpected place. */
class RefusedError extends TriscopeError {
  override readonly exitCode = EXIT.input;
}

const REFUSALS = 'EMFILE|ENFILE|EACCES|EPERM|EISDIR|ENOTDIR|ELOOP|ENAMETOOLONG|EIO';
/** Errors of other threads arrive as messages only. */
const REFUSED = new RegExp(`\\b(${REFUSALS})\\b(?:: ([^,]+), (\\w+)(?: '(.+?)')?)?`);

/** Turns a system refusal into an error for the user; other errors stay as they are. */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof Error) || exitCodeOf(error) !== null) return error;
  const [, code, words = '', call, path = 'a thread of ours'] = REFUSED.exec(error.message) ?? [];
  if (code === undefined) return error;
  const why = /^E[MN]FILE$/.test(code) ? readReason({ code }) : `${words} (${call})`;
  return Object.assign(new RefusedError(`${path}: ${why}`), { stack: error.stack });
}

/** The exit code for a command that ended with `error`. */
export const exitCodeFor = (error: unknown): number => exitCodeOf(asRefusal(error)) ?? EXIT.failed;

/** One line about `error`, whatever it is. */
export function lineFor(thrown: unknown): string {
  const error = asRefusal(thrown);
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
