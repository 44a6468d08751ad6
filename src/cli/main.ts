/** The command `triscope`: finds the command that is meant, and runs it. */

import { didYouMean } from '../model/nearest.ts';
import { callCommand } from './call.ts';
import { COMMANDS } from './commands/index.ts';
import { findCommand, firstWords, GROUPS } from './entries.ts';
import { EXIT, report, UsageError } from './errors.ts';
import {
  expectExit,
  leave,
  runOneCommand,
  tolerateClosedPipes,
  watchForStrayExits,
} from './leave.ts';
import { guardTerminals } from './terminal.ts';
import { version } from './version.ts';

/** The list of commands, of `group` alone where one is given. */
async function listing(group = ''): Promise<string> {
  const { helpWidth, listText } = await import('./help.ts');
  const entries = COMMANDS.filter(({ name }) => group === '' || name.startsWith(`${group} `));
  return listText(group, GROUPS[group] ?? '', entries, helpWidth());
}

/** The error for words that call no command. */
function unknownCommand([first = '', second = '']: readonly string[]): UsageError {
  if (first.startsWith('-')) {
    return new UsageError(`unknown option ${first}${didYouMean(first, ['--help', '--version'])}`);
  }
  const isGroup = Object.hasOwn(GROUPS, first);
  const wrong = isGroup ? second : first;
  const ofGroup = COMMANDS.map(({ name }) => name.split(' ')).filter(([one]) => one === first);
  const names = isGroup ? ofGroup.map(([, two]) => two) : firstWords(COMMANDS);
  return new UsageError(`unknown command ${wrong}${didYouMean(wrong, names)}`);
}

/** Adds to a memory-limit error how the limit is raised, where the command has that option. */
function raisable(error: unknown, isOption: boolean): unknown {
  if (!isOption || !(error instanceof Error) || error.name !== 'MemoryLimitError') return error;
  error.message += '; raise it with --memory, such as --memory=2GB';
  return error;
}

/** Runs the command that `args` call, the words after `triscope`; resolves to its exit code. */
export async function runWords(args: readonly string[]): Promise<number> {
  try {
    const found = findCommand(COMMANDS, args);
    if (found !== null) {
      const called = await found.entry.load();
      try {
        return await callCommand(found.entry.name, called, found.rest);
      } catch (error) {
        throw raisable(error, Object.hasOwn(called.options, 'memory'));
      }
    }
    const [first, second] = args;
    const isGroup = Object.hasOwn(GROUPS, first ?? '');
    const asked = isGroup ? second : first;
    if (asked === '--help' || asked === '-h') {
      process.stdout.write(await listing(isGroup ? first : ''));
      return 0;
    }
    if (first === '--version' || first === '-V') {
      process.stdout.write(`${version()}\n`);
      return 0;
    }
    if (asked !== undefined) throw unknownCommand(args);
    process.stderr.write(await listing(first));
    return EXIT.usage;
  } catch (error) {
    return report(error);
  }
}

/** Runs the command as this process: sets the exit code, and ends the process on an error outside of the awaited call. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  guardTerminals();
  runOneCommand();
  tolerateClosedPipes();
  watchForStrayExits();
  const fail = (error: unknown) => leave(report(error));
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  process.exitCode = await runWords(args);
  expectExit();
}
