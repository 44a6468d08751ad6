/** `triscope completion SHELL`: what makes a shell complete. */

import { didYouMean } from '../../model/nearest.ts';
import { text } from '../../model/option.ts';
import { type Call, command } from '../command.ts';
import { candidates } from '../complete.ts';
import type { CommandEntry } from '../entries.ts';
import { UsageError } from '../errors.ts';
import { SHELLS } from '../shells.ts';

const OPTIONS = {
  line: text('', 'print the possible completions of this command line, one per line', {
    placeholder: 'LINE',
  }),
};

/** Prints it. Returns the exit code. @throws UsageError */
async function run(
  commands: readonly CommandEntry[],
  { words: [shell], given }: Call<typeof OPTIONS, null>,
): Promise<number> {
  if (given.line !== undefined) {
    const found = await candidates(commands, given.line);
    process.stdout.write(found.map((one) => `${one}\n`).join(''));
    return 0;
  }
  const names = Object.keys(SHELLS);
  if (shell === undefined) throw new UsageError(`which shell? one of ${names.join(', ')}`);
  if (!Object.hasOwn(SHELLS, shell)) {
    throw new UsageError(
      `there is no completion for '${shell}'; use one of ${names.join(', ')}${didYouMean(shell, names)}`,
    );
  }
  process.stdout.write(SHELLS[shell]);
  return 0;
}

/** The command that completes these. */
export const completionOf = (commands: readonly CommandEntry[]) =>
  command({
    about:
      'Prints a script with which a shell completes commands, options and their values, models, tables of recordings, jobs of an archive. For bash, in ~/.bashrc: source <(triscope completion bash). For zsh, in ~/.zshrc, after compinit: source <(triscope completion zsh). For fish: triscope completion fish > ~/.config/fish/completions/triscope.fish',
    arguments: [{ name: 'SHELL', help: 'bash, zsh or fish', optional: true }],
    options: OPTIONS,
    examples: ['completion bash'],
    run: (call: Call<typeof OPTIONS, null>) => run(commands, call),
  });
