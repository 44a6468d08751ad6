/**
 * A command is declared once. The declaration is what its words are read by, what `--help`, completion, man pages and
 * docs/command-line.md are made from, and what the type of its settings follows from: a misspelt key does not compile.
 */
import type { Named, OptionSpecs, OptionValueOf } from '../model/option.ts';

/** Options under one title of `--help`, in order. */
export interface OptionGroup {
  readonly title: string;
  readonly options: OptionSpecs;
}

export type SingleValue = number | boolean | string;
export type OptionValue = SingleValue | readonly string[];

/** The options that were given, by name; what was not given is not there. */
export type Given<O extends OptionSpecs> = {
  readonly [K in keyof O]?: OptionValueOf<O[K]>;
};

/** A word of a command that is no option. */
export interface Argument {
  /** As it is shown: PATH. */
  readonly name: string;
  readonly help: string;
  readonly optional?: boolean;
  /** This one and all that follow. */
  readonly many?: boolean;
  readonly names?: Named;
  /** What is asked for where it is missing: “which model?”. Its name where absent. */
  readonly noun?: string;
}

/** What is opened: any number of recordings, or of files and folders. */
const paths = (help: string, noun: string) =>
  ({ name: 'PATH', help, many: true, names: 'path', noun }) as const satisfies Argument;
export const RECORDINGS = paths('recording, folder or file', 'recording');
export const FILES = paths('files and folders', 'file');

/** Options that only the first argument tells: those of a model. */
export interface Extension<X> {
  readonly groups: readonly OptionGroup[];
  /** What help says of it; '' for nothing. */
  readonly about: string;
  readonly value: X;
  dispose(): void;
}

/** How a command was called. */
export interface Call<O extends OptionSpecs, X> {
  /** The arguments, without options. */
  readonly words: readonly string[];
  readonly given: Given<O>;
  /** The same in the order in which they were given last, those of the extension too. */
  readonly values: ReadonlyMap<string, OptionValue>;
  /** Every word as it was given. */
  readonly args: readonly string[];
  /** Lines about options that have no effect, or another name now: the command says them on stderr. */
  readonly notes: readonly string[];
  readonly extension: X;
}

interface CommandSpec<O extends OptionSpecs, X> {
  /** What it does, in paragraphs with an empty line between. */
  readonly about: string;
  readonly arguments?: readonly Argument[];
  readonly options: O;
  /** Titles of some of the options; the others are under “Options”. */
  readonly groups?: readonly OptionGroup[];
  /** Arguments are a command line: options end at the first word that is none. */
  readonly wraps?: boolean;
  /** Options are long also after one dash, as in GEOPM. */
  readonly oneDash?: boolean;
  /** Names of which a beginning is enough before `=`, in the order in which they match. */
  readonly prefixes?: readonly string[];
  /** The option that names a file of more options. */
  readonly argsFile?: string;
  /** Of the first argument; null is for help without one. @param rest the words after it */
  readonly extend?: (first: string | null, rest: readonly string[]) => Promise<Extension<X>>;
  /** What replaces a first argument that is not given, for commands with an extension; null: nothing does. */
  readonly firstOf?: (args: readonly string[]) => string | null;
  /** Wraps a call, including the reading of its words. */
  readonly around?: (run: () => Promise<number>) => Promise<number>;
  /** Calls that can be tried, without `triscope`. */
  readonly examples: readonly string[];
  /** Returns the exit code. @throws TriscopeError */
  readonly run: (call: Call<O, X>) => Promise<number>;
}

/** A command whose option types do not matter to the caller. */
export type Command = CommandSpec<OptionSpecs, unknown>;

/** Declares a command. */
export function command<const O extends OptionSpecs, X = null>(spec: CommandSpec<O, X>): Command {
  // Its words are read by its own declaration: what `run` gets is what it says.
  return spec as unknown as Command;
}

/** `--help` and `-h`, of every command. */
export const HELP = 'help';

/** The options that are shown, under their titles. */
export function groupsOf(
  { options, groups = [] }: Pick<Command, 'options' | 'groups'>,
  more: readonly OptionGroup[] = [],
): OptionGroup[] {
  const titled = new Set(groups.flatMap((group) => Object.keys(group.options)));
  const own = Object.entries(options).filter(([name]) => !titled.has(name));
  const all = [...more, ...groups, { title: 'Options', options: Object.fromEntries(own) }];
  return all.filter((group) => Object.keys(group.options).length > 0);
}

/** `sim run MODEL [options]`: the words that call it. */
export function usageOf(name: string, { arguments: args = [], options, wraps }: Command): string {
  const words = args.map(({ name, optional, many }) => {
    const word = many ? `${name}…` : name;
    return optional ? `[${word}]` : word;
  });
  const required = Object.entries(options)
    .filter(([, spec]) => spec.required)
    .map(([option, { placeholder, short }]) =>
      short === undefined ? `--${option} ${placeholder}` : `-${short} ${placeholder}`,
    );
  const parts = wraps
    ? ['[options]', '--', ...words]
    : [...words, ...required, ...(Object.keys(options).length > 0 ? ['[options]'] : [])];
  return [name, ...parts].join(' ');
}
