/** Calls a command: reads its words by its declaration, checks what can be checked by that, and runs it. */
import type { Named } from '../model/option.ts';
import { type Command, type Extension, groupsOf, type OptionGroup, usageOf } from './command.ts';
import { UsageError } from './errors.ts';
import { checkPath } from './missing-path.ts';
import { type ParsedWords, readWords } from './words.ts';

const isPath = (names: Named | undefined) => names === 'path' || names === 'input';

/** @throws UsageError */
function checkArguments(name: string, command: Command, words: readonly string[]): void {
  const args = command.arguments ?? [];
  const missing = args.find((arg, k) => k >= words.length && !arg.optional);
  if (missing !== undefined) {
    const noun = missing.noun ?? missing.name.toLowerCase();
    throw new UsageError(`which ${noun}? usage: triscope ${usageOf(name, command)}`);
  }
  const many = args.find((arg) => arg.many);
  if (words.length > args.length && many === undefined) {
    const takes = args.length === 0 ? 'only options' : args.map((arg) => arg.name).join(' ');
    throw new UsageError(`unexpected ${words[args.length]}; ${name} takes ${takes}`);
  }
  if (command.wraps) return;
  words.forEach((word, k) => {
    // The last word of a query is no path.
    if (isPath((many ?? args[k])?.names) && !/\s/.test(word)) checkPath(word);
  });
}

/** @throws UsageError */
function checkOptions(name: string, command: Command, { values }: ParsedWords): void {
  for (const [option, spec] of Object.entries(command.options)) {
    const value = values.get(option);
    if (spec.required && (value === undefined || value === '')) {
      const told = spec.short === undefined ? `--${option}` : `-${spec.short}`;
      throw new UsageError(
        `${told} ${spec.placeholder} is missing; usage: triscope ${usageOf(name, command)}`,
      );
    }
    if (spec.names === 'input' && typeof value === 'string') checkPath(value);
  }
}

/** The words before the wrapped command, where a command wraps another: its options end at that command's name. */
function ownWords(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end < 0 ? args : args.slice(0, end);
}

const asksForHelp = (args: readonly string[]) =>
  ownWords(args).some((word) => word === '--help' || word === '-h');

async function showHelp(
  name: string,
  command: Command,
  extension: Extension<unknown> | null,
): Promise<number> {
  const { helpPage, helpWidth, pageText } = await import('./help.ts');
  process.stdout.write(pageText(helpPage(name, command, extension), helpWidth()));
  return 0;
}

/** Runs `triscope NAME …args`. Returns the exit code. @throws UsageError, and whatever the command throws */
export function callCommand(
  name: string,
  command: Command,
  args: readonly string[],
): Promise<number> {
  const run = () => readAndRun(name, command, args);
  return command.around?.(run) ?? run();
}

async function readAndRun(
  name: string,
  command: Command,
  args: readonly string[],
): Promise<number> {
  const { extend, wraps } = command;
  if (extend === undefined) {
    if (!wraps && asksForHelp(args)) return showHelp(name, command, null);
    const parsed = parse(command, args, groupsOf(command));
    if (parsed.help) return showHelp(name, command, null);
    return runParsed(name, command, parsed, args, null);
  }
  if (args[0] === undefined) checkArguments(name, command, []);
  const leftOut = args[0].startsWith('-');
  if (leftOut && asksForHelp(args.slice(0, 1)))
    return showHelp(name, command, await extend(null, []));
  const first = leftOut ? (command.firstOf?.(args) ?? null) : args[0];
  if (first === null)
    throw new UsageError(`the model comes first, then options such as ${args[0]}`);
  const rest = leftOut ? args : args.slice(1);
  const extension = await extend(first, rest);
  try {
    const parsed = parse(command, rest, groupsOf(command, extension.groups));
    if (parsed.help) return await showHelp(name, command, extension);
    return await runParsed(name, command, parsed, args, extension);
  } finally {
    extension.dispose();
  }
}

/** Options set by environment variables. Words of the command line come after them, and so take precedence. */
function fromEnvironment({ options }: Command): string[] {
  return Object.entries(options).flatMap(([name, { variable, kind, noEffect }]) => {
    const value = variable === undefined ? '' : (process.env[variable] ?? '');
    if (value === '' || noEffect !== undefined) return [];
    return [kind === 'bool' ? `--${name}` : `--${name}=${value}`];
  });
}

function parse(
  command: Command,
  args: readonly string[],
  groups: readonly OptionGroup[],
): ParsedWords {
  const { wraps, extend, oneDash, prefixes, argsFile } = command;
  return readWords([...fromEnvironment(command), ...args], groups, {
    arguments: wraps ? 'wrapped' : extend === undefined ? 'any' : 'none',
    ...(oneDash && { oneDash }),
    ...(prefixes !== undefined && { prefixes }),
    ...(argsFile !== undefined && { argsFile }),
  });
}

async function runParsed(
  name: string,
  command: Command,
  parsed: ParsedWords,
  args: readonly string[],
  extension: Extension<unknown> | null,
): Promise<number> {
  const words = extension === null ? parsed.words : args.slice(0, 1);
  if (extension === null) checkArguments(name, command, words);
  checkOptions(name, command, parsed);
  const { values, notes } = parsed;
  // By the declaration each value is of its option's type.
  const given = Object.fromEntries(values) as never;
  return command.run({ words, given, values, args, notes, extension: extension?.value ?? null });
}
