/** What may stand at the end of a command line: commands, options, their values, and names that are looked up. */
import type { Named, OptionSpec, OptionSpecs } from '../model/option.ts';
import { type Command, groupsOf, HELP } from './command.ts';
import { type CommandEntry, findCommand, firstWords, GROUPS } from './entries.ts';

const FILES = [':files'];
const FOLDERS = [':folders'];

/** The words of a line, as a shell would part them; the last is what is being typed. */
export function wordsOf(line: string): string[] {
  const words = [''];
  let quote = '';
  for (let k = 0; k < line.length; k++) {
    const letter = line[k];
    const last = words.length - 1;
    if (quote !== '') {
      if (letter === quote) quote = '';
      else words[last] += letter;
    } else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === '\\' && k + 1 < line.length) words[last] += line[++k];
    else if (/\s/.test(letter)) {
      if (words[last] !== '') words.push('');
    } else words[last] += letter;
  }
  return words;
}

/** The value of an option among words. */
function givenTo(words: readonly string[], name: string): string | undefined {
  const glued = words.find((word) => word.startsWith(`--${name}=`));
  if (glued !== undefined) return glued.slice(name.length + 3);
  const at = words.indexOf(`--${name}`);
  return at < 0 ? undefined : words[at + 1];
}

async function tables(paths: readonly string[]): Promise<readonly string[]> {
  const { openRecording } = await import('../query/index.ts');
  const { TABLES } = await import('./commands/query.ts');
  const recording = await openRecording(paths, {});
  try {
    const rows = await recording.query<{ readonly table: string }>(TABLES);
    return rows.map(({ table }) => table);
  } finally {
    await recording.close();
  }
}

async function jobs(archive: string | undefined): Promise<readonly string[]> {
  if (archive === undefined) return [];
  const { listJobs, openArchive } = await import('../findings/job/index.ts');
  const [from, to] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const list = await listJobs(openArchive(archive), { from, to, foreign: false });
  return [...new Set(list.jobs.map(({ id }) => id))];
}

async function signals(names: 'signal' | 'domain' | 'control'): Promise<readonly string[]> {
  const { Platform, SIGNAL_DOMAINS } = await import('../region/signals/index.ts');
  if (names === 'domain') return SIGNAL_DOMAINS;
  const platform = Platform.open({});
  try {
    return (names === 'signal' ? platform.signals() : platform.controls.list()).map(
      ({ name }) => name,
    );
  } finally {
    platform.close();
  }
}

/** What a word may name. `before`: the words of the command before it. */
async function named(
  commands: readonly CommandEntry[],
  names: Named | undefined,
  before: readonly string[],
): Promise<readonly string[]> {
  switch (names) {
    case 'path':
    case 'input':
      return FILES;
    case 'folder':
      return FOLDERS;
    case 'model':
      return Object.keys((await import('../sim/models/index.ts')).BUILT_IN);
    case 'type':
      return (await import('../node/types/index.ts')).NODE_TYPES.map(({ name }) => name);
    case 'shim':
      return Object.keys((await import('../region/shims.ts')).SHIMS);
    case 'signal':
    case 'domain':
    case 'control':
      return signals(names);
    case 'job':
      return jobs(givenTo(before, 'archive'));
    case 'table': {
      const paths = before.filter((word, k) => !/^-/.test(word) && !/^-[^=]*$/.test(before[k - 1]));
      return paths.length === 0 ? [] : tables(paths);
    }
    case 'command':
      return firstWords(commands);
    default:
      return [];
  }
}

/** Values that an option may have. */
async function values(
  commands: readonly CommandEntry[],
  spec: OptionSpec,
  before: readonly string[],
): Promise<readonly string[]> {
  if (spec.choices !== undefined) return spec.choices.map(String);
  if (spec.words !== undefined) return Object.keys(spec.words);
  if (spec.kind === 'bool') return ['0', '1'];
  return named(commands, spec.names, before);
}

const takesValue = (spec: OptionSpec | undefined) =>
  spec !== undefined && spec.kind !== 'bool' && spec.bare === undefined && !spec.dotted;

async function optionsOf(command: Command, first: string | undefined): Promise<OptionSpecs> {
  const { extend } = command;
  if (extend === undefined) return Object.assign({}, ...groupsOf(command).map((g) => g.options));
  const known = first === undefined || first.startsWith('-') ? null : first;
  const extension = await extend(known, []).catch(() => extend(null, []));
  try {
    return Object.assign({}, ...groupsOf(command, extension.groups).map((g) => g.options));
  } finally {
    extension.dispose();
  }
}

/** Candidates of a command, for the last of its words. */
async function ofCommand(
  commands: readonly CommandEntry[],
  command: Command,
  words: readonly string[],
): Promise<readonly string[]> {
  const before = words.slice(0, -1);
  const last = words[words.length - 1];
  const previous = before[before.length - 1] ?? '';
  const options = await optionsOf(command, before[0]);
  const isAfter = /^--[^=]+$/.test(previous) || /^-\w$/.test(previous);
  const spec = isAfter
    ? Object.entries(options).find(
        ([name, { short }]) => previous === `--${name}` || previous === `-${short}`,
      )?.[1]
    : undefined;
  if (spec !== undefined && takesValue(spec)) return values(commands, spec, before.slice(0, -1));
  const glued = /^--([^=]+)=/.exec(last);
  if (glued !== null) {
    const of = options[glued[1]];
    const found = of === undefined ? [] : await values(commands, of, before);
    return found.map((one) => (one.startsWith(':') ? one : `${glued[0]}${one}`));
  }
  if (last.startsWith('-')) {
    const shown = Object.entries(options).filter(([, { hidden }]) => !hidden);
    return [
      ...shown.map(([name, of]) =>
        of.dotted ? `--${name}.` : takesValue(of) ? `--${name}=` : `--${name}`,
      ),
      `--${HELP}`,
    ];
  }
  const args = command.arguments ?? [];
  const count = before.filter((word, k) => {
    const of = options[/^--([^=]+)$/.exec(before[k - 1] ?? '')?.[1] ?? ''];
    return !word.startsWith('-') && !takesValue(of);
  }).length;
  const many = args.find((arg) => arg.many);
  return named(commands, (args[count] ?? many)?.names, before);
}

/** Whole words for the end of `line`, which begins with the program; or `:files`, `:folders`. */
export async function candidates(
  commands: readonly CommandEntry[],
  line: string,
): Promise<readonly string[]> {
  const words = wordsOf(line).slice(1);
  const last = words[words.length - 1] ?? '';
  const found = words.length > 1 ? findCommand(commands, words.slice(0, -1)) : null;
  let all: readonly string[];
  try {
    if (found !== null) {
      all = await ofCommand(commands, await found.entry.load(), [...found.rest, last]);
    } else if (words.length > 1 && Object.hasOwn(GROUPS, words[0])) {
      all = commands.flatMap(({ name }) => {
        const [group, second] = name.split(' ');
        return group === words[0] && second !== undefined ? [second] : [];
      });
    } else if (words.length > 1) all = [];
    else all = [...firstWords(commands), '--help', '--version'];
  } catch {
    // Names that cannot be looked up are not completed.
    return [];
  }
  return all.filter((one) => one.startsWith(':') || one.startsWith(last));
}
