/** Entries of the list of commands, and how one is found. The list itself is in commands/index.ts. */
import type { Command } from './command.ts';

export interface CommandEntry {
  /** The words that call it. */
  readonly name: string;
  readonly summary: string;
  /** Loads its declaration: only the file of the called command is loaded. */
  readonly load: () => Promise<Command>;
}

/** What a group of commands is about. */
export const GROUPS: Readonly<Record<string, string>> = {
  sim: 'the parallel discrete-event simulator',
  region: 'regions of programs: marked, sampled, reported as GEOPM does',
  signal: 'what the machine tells of itself: energy, frequency, temperature, load',
  node: 'counters of the machine, in the raw format of tacc_stats',
};

/** The command that `args` begin with, and its own words; null where there is none of this name. */
export function findCommand(
  commands: readonly CommandEntry[],
  args: readonly string[],
): { readonly entry: CommandEntry; readonly rest: readonly string[] } | null {
  for (const count of [1, 2]) {
    const name = args.slice(0, count).join(' ');
    const entry = commands.find((one) => one.name === name);
    if (entry !== undefined) return { entry, rest: args.slice(count) };
  }
  return null;
}

/** The first words of commands: `demo`, `sim`. */
export const firstWords = (commands: readonly CommandEntry[]): string[] => [
  ...new Set(commands.map(({ name }) => name.split(' ')[0])),
];
