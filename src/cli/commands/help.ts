/** `triscope help COMMAND`: help of a command; man pages. */

import { didYouMean } from '../../model/nearest.ts';
import { flag } from '../../model/option.ts';
import { type Call, command } from '../command.ts';
import { manPage } from '../docs.ts';
import { UsageError } from '../errors.ts';
import { helpPage, helpWidth, listText, type Page, pageText } from '../help.ts';
import { version } from '../version.ts';
import { COMMANDS, GROUPS } from './index.ts';

const OPTIONS = {
  man: flag(false, 'as a man page: triscope help --man sim run | man -l -'),
  json: flag(false, 'an array of objects: every command with its arguments and options'),
};

/** The commands that words mean: one, those of a group, or all. @throws UsageError with the nearest */
function entriesFor(name: string) {
  const entries = COMMANDS.filter(
    (one) => name === '' || one.name === name || one.name.startsWith(`${name} `),
  );
  if (entries.length > 0) return entries;
  const names = [...COMMANDS.map((one) => one.name), ...Object.keys(GROUPS)];
  throw new UsageError(`unknown command ${name}${didYouMean(name, names)}`);
}

async function pageOf(name: string, load: (typeof COMMANDS)[number]['load']) {
  const of = await load();
  return helpPage(name, of, (await of.extend?.(null, [])) ?? null);
}

/** The pages of all commands. */
export async function allPages(): Promise<Page[]> {
  const pages: Page[] = [];
  for (const { name, load } of COMMANDS) pages.push(await pageOf(name, load));
  return pages;
}

/** Prints it. Returns the exit code. @throws UsageError */
async function run({ words, given }: Call<typeof OPTIONS, null>): Promise<number> {
  const name = words.join(' ');
  const entries = entriesFor(name);
  const isOne = entries.length === 1 && entries[0].name === name;
  if (given.json || given.man || isOne) {
    const pages = [];
    for (const { name, load } of entries) pages.push(await pageOf(name, load));
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

export const help = command({
  about:
    'Prints the help of a command, as its --help does; of a group of commands, or of all, what there is.',
  arguments: [
    { name: 'COMMAND', help: 'such as sim run', optional: true, many: true, names: 'command' },
  ],
  options: OPTIONS,
  examples: ['help sim run', 'help --man node daemon'],
  run,
});
