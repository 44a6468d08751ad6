/** Ends the process, and notices a model that calls process.exit, which would otherwise look like success. */
import { EXIT } from './errors.ts';

let expected = false;

let alone = false;

/** Tells this module that the process runs one command and ends. */
export function runOneCommand(): void {
  alone = true;
}

export function endsWithCommand(): boolean {
  return alone;
}

/** From here on the process may end: the command is done. */
export function expectExit(): void {
  expected = true;
}

/** Ends the process at once. */
export function leave(code: number): never {
  expected = true;
  process.exit(code);
}

/** Reports an exit that the command did not ask for, and makes it a failure. */
export function watchForStrayExits(): void {
  process.on('exit', () => {
    if (expected) return;
    process.stderr.write('triscope: process.exit() was called before the command had ended\n');
    process.exitCode = EXIT.failed;
  });
}

/** A reader that goes away, as in `| head`, is no error: it does not want the rest. */
export function tolerateClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      leave(0);
    });
  }
}
