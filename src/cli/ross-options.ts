/**
 * Reads a simulation's options: `--name=value`, `--name value`, `--no-name`, `--args-file=FILE`, and for
 * ROSS's own names any beginning of one before `=`, as ROSS does (`--sync=3`, `--en=50`).
 */
import { readFileSync } from 'node:fs';
import { type OptionSpec, type OptionSpecs, parseOption } from '../model/option.ts';
import {
  ENGINE_GROUPS,
  ENGINE_OPTIONS,
  IGNORED_OPTIONS,
  ROSS_NAMES,
} from '../sim/engine-options.ts';
import type { Model } from '../sim/model.ts';
import { UsageError } from './errors.ts';
import { didYouMean } from './nearest.ts';

/** Options under one title of `--help`, in order. */
export interface OptionGroup {
  readonly title: string;
  readonly options: OptionSpecs;
}

export type OptionValue = number | boolean | string;

export interface ParsedOptions {
  /** Values given, by full name; what was not given is not there. */
  readonly values: ReadonlyMap<string, OptionValue>;
  /** One line per option that has no effect. */
  readonly notes: readonly string[];
  readonly help: boolean;
}

/** The engine's groups, with the defaults that `model` has of its own. */
export function engineGroups(model: Model | null): OptionGroup[] {
  const own: Readonly<Record<string, number | undefined>> = {
    end: model?.end,
    lookahead: model?.lookahead,
  };
  const ignored: Readonly<Record<string, string>> = IGNORED_OPTIONS;
  const engine: OptionSpecs = ENGINE_OPTIONS;
  const spec = (name: string): OptionSpec => {
    if (name in ignored) {
      const help = `no effect: ${ignored[name]}`;
      return { kind: 'string', default: '', help, placeholder: 'N' };
    }
    const value = own[name];
    return value === undefined ? engine[name] : { ...engine[name], default: value };
  };
  return ENGINE_GROUPS.map(({ title, names }) => ({
    title,
    options: Object.fromEntries(names.map((name) => [name, spec(name)])),
  }));
}

/** An argument and where it stands, for messages: `FILE:LINE: `, or nothing for the command line. */
interface Word {
  readonly text: string;
  readonly where: string;
}

const fail = (word: Word, message: string): never => {
  throw new UsageError(word.where + message);
};

const ARGS_FILE = 'args-file';
/** Files that name files that name files… */
const DEEPEST = 8;

/** The words of an options file: any number a line, `#` starts a comment. */
function wordsOfFile(file: string, from: Word): Word[] {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    return fail(from, `--${ARGS_FILE}=${file}: cannot be read: ${(error as Error).message}`);
  }
  return content.split(/\r?\n/).flatMap((line, k) =>
    line
      .replace(/(^|\s)#.*$/, '')
      .split(/\s+/)
      .filter((text) => text !== '')
      .map((text) => ({ text, where: `${file}:${k + 1}: ` })),
  );
}

class Parser {
  private readonly specs: ReadonlyMap<string, OptionSpec>;
  /** Names that a prefix may stand for, in ROSS's order. */
  private readonly prefixed: readonly string[];
  readonly values = new Map<string, OptionValue>();
  readonly notes = new Map<string, string>();
  help = false;

  constructor(groups: readonly OptionGroup[]) {
    this.specs = new Map(groups.flatMap(({ options }) => Object.entries(options)));
    this.prefixed = ROSS_NAMES.filter((name) => this.specs.has(name));
  }

  read(words: readonly Word[], depth = 0): void {
    for (let k = 0; k < words.length; k++) {
      const word = words[k];
      if (word.text === '-h' || word.text === '--help') {
        this.help = true;
        continue;
      }
      if (!word.text.startsWith('--') || word.text === '--') this.refuse(word);
      const equals = word.text.indexOf('=');
      const given = word.text.slice(2, equals < 0 ? undefined : equals);
      const glued = equals < 0 ? undefined : word.text.slice(equals + 1);
      if (given === ARGS_FILE) {
        const file = glued ?? words[++k]?.text ?? fail(word, `--${ARGS_FILE} needs a file`);
        if (depth === DEEPEST) fail(word, `--${ARGS_FILE}=${file}: files name each other`);
        this.read(wordsOfFile(file, word), depth + 1);
        continue;
      }
      const { name, negated } = this.resolve(word, given, glued !== undefined);
      if (negated) {
        if (glued !== undefined) fail(word, `--${given} takes no value`);
        this.values.set(name, false);
        continue;
      }
      const spec = this.specs.get(name) as OptionSpec;
      let raw = glued;
      // A switch stands alone; any other option takes the next word, unless that is an option too.
      const alone = spec.kind === 'bool' || spec.bare !== undefined;
      const next = words[k + 1]?.text;
      if (raw === undefined && !alone && next !== undefined && !next.startsWith('--')) {
        raw = next;
        k++;
      }
      this.set(word, name, spec, raw);
    }
  }

  private set(word: Word, name: string, spec: OptionSpec, raw: string | undefined): void {
    if (Object.hasOwn(IGNORED_OPTIONS, name)) {
      if (raw === undefined) fail(word, `--${name} needs a value`);
      const why = IGNORED_OPTIONS[name as keyof typeof IGNORED_OPTIONS];
      this.notes.set(name, `--${name} has no effect here: ${why}`);
      return;
    }
    try {
      this.values.set(name, parseOption(name, spec, raw));
    } catch (error) {
      fail(word, (error as Error).message);
    }
  }

  /** The full name of the option that was written as `given`. */
  private resolve(word: Word, given: string, glued: boolean): { name: string; negated: boolean } {
    if (this.specs.has(given)) return { name: given, negated: false };
    if (given.startsWith('no-') && this.specs.get(given.slice(3))?.kind === 'bool') {
      return { name: given.slice(3), negated: true };
    }
    const prefixOf = glued && given !== '' && this.prefixed.find((name) => name.startsWith(given));
    if (prefixOf) return { name: prefixOf, negated: false };
    const names = [...this.specs.keys(), ARGS_FILE, 'help'];
    return fail(word, `unknown option --${given}${didYouMean(given, names, '--')}`);
  }

  private refuse(word: Word): never {
    const bare = word.text.replace(/^-+/, '').replace(/=.*$/, '');
    const hint = this.specs.has(bare) ? `; did you mean --${bare}?` : '';
    const what = word.text.startsWith('-') ? 'unknown option' : 'unexpected argument';
    return fail(word, `${what} ${word.text}${hint}`);
  }
}

/**
 * Reads `args`, all of which must be options of `groups`. What stands later wins.
 * @throws UsageError that names the option, its value and what is allowed, or the nearest option there is
 */
export function parseOptions(
  args: readonly string[],
  groups: readonly OptionGroup[],
): ParsedOptions {
  const parser = new Parser(groups);
  parser.read(args.map((text) => ({ text, where: '' })));
  return { values: parser.values, notes: [...parser.notes.values()], help: parser.help };
}
