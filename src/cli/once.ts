/**
 * The short way to the commands that a scheduler and cron call: `triscope node begin|collect|end|mark|rotate`. This file
 * and all that it needs are made into one (`bin/link.mjs`), which `bin/triscope` runs: to load a hundred files one by
 * one takes longer than the rest of the command.
 */
import { callCommand } from './call.ts';
import type { Command } from './command.ts';
import { nodeBegin, nodeCollect, nodeEnd, nodeMark, nodeRotate } from './commands/node.ts';
import { report } from './errors.ts';
import { guardTerminals } from './terminal.ts';

const COMMANDS: Readonly<Record<string, Command>> = {
  begin: nodeBegin,
  collect: nodeCollect,
  end: nodeEnd,
  mark: nodeMark,
  rotate: nodeRotate,
};

/** Runs `triscope node COMMAND …args`, and sets the process's exit code. */
export async function runOnce(command: string, args: readonly string[]): Promise<void> {
  guardTerminals();
  try {
    process.exitCode = await callCommand(`node ${command}`, COMMANDS[command], args);
  } catch (error) {
    process.exitCode = report(error);
  }
}
