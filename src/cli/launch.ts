/**
 * The short way to `triscope region launch`, made into one file (`bin/link.mjs`), which `bin/triscope` runs: it stands
 * beside a program that has the CPUs for itself otherwise.
 */
import { callCommand } from './call.ts';
import { regionLaunch } from './commands/region-launch.ts';
import { report } from './errors.ts';
import { leave, tolerateClosedPipes } from './leave.ts';
import { guardTerminals } from './terminal.ts';

/** Runs `triscope region launch …args`, and sets the process's exit code. */
export async function runLaunch(args: readonly string[]): Promise<void> {
  guardTerminals();
  tolerateClosedPipes();
  const fail = (error: unknown) => leave(report(error));
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  try {
    process.exitCode = await callCommand('region launch', regionLaunch, args);
  } catch (error) {
    process.exitCode = report(error);
  }
}
