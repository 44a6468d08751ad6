/** `triscope help COMMAND`: help of a command; man pages. */

import { didYouMean } from '../../model/nearest.ts';
import { flag } from '../../model/option.ts';
import { type Call, command } from '../command.ts';
import { manPage } from '../docs.ts';
import { type CommandEntry, GROUPS } from '../entries.ts';
import { UsageError } from '../errors.ts';
import { type HelpPage, helpPage, helpWidth, listText, pageText } from '../help.ts';
import { version } from '../version.ts';

const OPTIONS = {
  man: flag(false, 'as a man page: triscope help --man sim run | man -l -'),
  json: flag(false, 'an array of objects: every command with its arguments and options'),
};

/** The commands that words mean: one, those of a group, or all. @throws UsageError with the nearest */
function entriesFor(commands: readonly CommandEntry[], name: string) {
  const entries = commands.filter(
    (one) => name === '' || one.name === name || one.name.startsWith(`${name} `),
  );
  if (entries.length > 0) return entries;
  const names = [...commands.map((one) => one.name), ...Object.keys(GROUPS)];
  throw new UsageError(`unknown command ${name}${didYouMean(name, names)}`);
}

async function pageOf({ name, load }: CommandEntry) {
  const of = await load();
  return helpPage(name, of, (await of.extend?.(null, [])) ?? null);
}

/** The pages of commands, in their order. */
export async function pagesOf(commands: readonly CommandEntry[]): Promise<HelpPage[]> {
  const pages: HelpPage[] = [];
  for (const one of commands) pages.push(await pageOf(one));
  return pages;
}

/** Prints it. Returns the exit code. @throws UsageError */
async function run(
  commands: readonly CommandEntry[],
  { words, given }: Call<typeof OPTIONS, null>,
): Promise<number> {
  const name = words.join(' ');
  const entries = entriesFor(commands, name);
  const isOne = entries.length === 1 && entries[0].name === name;
  if (given.json || given.man || isOne) {
    const pages = await pagesOf(entries);
    const text = given.json
      ? `${JSON.stringify(pages, null, 2)}\n`
      : pages
          .map((page, k) =>
            given.man ? manPage(page, entries[k].summary, version()) : pageText(page, helpWidth()),
          )
          .join('\n');
    process.stdout.write(text);
    return 0;
  }
  process.stdout.write(listText(name, GROUPS[name] ?? '', entries, helpWidth()));
  return 0;
}

/** The command that tells of these. */
export const helpOf = (commands: readonly CommandEntry[]) =>
  command({
    about:
      'Prints the help of a command, as its --help does, or lists the commands, all or those of a group.',
    arguments: [
      { name: 'COMMAND', help: 'such as sim run', optional: true, many: true, names: 'command' },
    ],
    options: OPTIONS,
    examples: ['help sim run', 'help --man node daemon'],
    run: (call: Call<typeof OPTIONS, null>) => run(commands, call),
  });
