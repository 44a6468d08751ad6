/**
 * Reads a simulation's options: `--name=value`, `--name value`, `--no-name`, `--args-file=FILE`, and for
 * ROSS's own names any beginning of one before `=`, as ROSS does (`--sync=3`, `--en=50`). `--` ends them.
 */
import { readFileSync } from 'node:fs';
import { type OptionSpec, type OptionSpecs, parseOption, text } from '../model/option.ts';
import {
  ARGS_FILE,
  ENGINE_GROUPS,
  ENGINE_OPTIONS,
  ENGINE_SYNONYMS,
  HELP,
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
  /** Values given, by full name, in the order in which they were given last; what was not given is not there. */
  readonly values: ReadonlyMap<string, OptionValue>;
  /** One line per option that has no effect, or another name now. */
  readonly notes: readonly string[];
  readonly help: boolean;
}

/** The engine's groups, with the defaults that `model` has of its own, without what `model` declares itself. */
export function engineGroups(model: Model | null): OptionGroup[] {
  const own: Readonly<Record<string, number | undefined>> = {
    end: model?.end,
    lookahead: model?.lookahead,
  };
  const engine: OptionSpecs = { ...ENGINE_OPTIONS, ...IGNORED_OPTIONS, ...ENGINE_SYNONYMS };
  const spec = (name: string): OptionSpec => {
    const value = own[name];
    return value === undefined ? engine[name] : { ...engine[name], default: value };
  };
  // A model may have an option of its own in the place of another name of the engine's.
  const shown = (name: string) =>
    !Object.hasOwn(ENGINE_SYNONYMS, name) || model?.options[name] === undefined;
  return ENGINE_GROUPS.map(({ title, names }) => ({
    title,
    options: Object.fromEntries(names.filter(shown).map((name) => [name, spec(name)])),
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

/** What is read here, and is no value of the run. */
const GENERAL: OptionSpecs = {
  [ARGS_FILE]: text('', 'read options from a file', { placeholder: 'FILE' }),
  [HELP]: text('', 'list the options', { bare: '1' }),
};

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
    const all = [...groups.map(({ options }) => options), GENERAL];
    this.specs = new Map(all.flatMap((options) => Object.entries(options)));
    this.prefixed = ROSS_NAMES.filter((name) => this.specs.has(name));
  }

  read(words: readonly Word[], depth = 0): void {
    for (let k = 0; k < words.length; k++) {
      const word = words[k];
      if (word.text === '--') {
        this.end(word, words.length - k - 1);
        return;
      }
      if (word.text === '-h') {
        this.help = true;
        continue;
      }
      if (!word.text.startsWith('--')) this.refuse(word);
      const equals = word.text.indexOf('=');
      const given = word.text.slice(2, equals < 0 ? undefined : equals);
      const glued = equals < 0 ? undefined : word.text.slice(equals + 1);
      const { name, negated } = this.resolve(word, given, glued !== undefined);
      if (negated) {
        if (glued !== undefined) fail(word, `--${given} takes no value`);
        this.put(name, false);
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
      if (name === HELP) this.help = true;
      else if (name === ARGS_FILE) {
        const file = raw ?? fail(word, `--${ARGS_FILE} needs a file`);
        if (depth === DEEPEST) fail(word, `--${ARGS_FILE}=${file}: files name each other`);
        this.read(wordsOfFile(file, word), depth + 1);
      } else this.set(word, name, spec, raw);
    }
  }

  /** What follows `--` is, in ROSS, for the model's program; models here read nothing but options. */
  private end(word: Word, following: number): void {
    if (word.where !== '') fail(word, '-- has no place in a file of options; leave it out');
    if (following === 0) return;
    const what = following === 1 ? 'the word' : `the ${following} words`;
    this.notes.set('--', `${what} after -- ${following === 1 ? 'is' : 'are'} not read`);
  }

  private set(word: Word, name: string, spec: OptionSpec, raw: string | undefined): void {
    const full = spec.as ?? name;
    if (spec.note !== undefined) this.notes.set(name, spec.note);
    if (spec.noEffect !== undefined) {
      this.notes.set(name, `--${name} has no effect here: ${spec.noEffect}`);
    }
    if (raw !== undefined && raw === spec.none) {
      this.values.delete(full);
      return;
    }
    try {
      const value = parseOption(name, spec, raw);
      if (spec.noEffect === undefined) this.put(full, value);
    } catch (error) {
      fail(word, (error as Error).message);
    }
  }

  /** Later wins, and stands where it was given last. */
  private put(name: string, value: OptionValue): void {
    this.values.delete(name);
    this.values.set(name, value);
  }

  /** The full name of the option that was written as `given`. */
  private resolve(word: Word, given: string, glued: boolean): { name: string; negated: boolean } {
    if (this.specs.has(given)) return { name: given, negated: false };
    if (given.startsWith('no-') && this.specs.get(given.slice(3))?.kind === 'bool') {
      return { name: given.slice(3), negated: true };
    }
    const prefixOf = glued && given !== '' && this.prefixed.find((name) => name.startsWith(given));
    if (prefixOf) return { name: prefixOf, negated: false };
    return fail(
      word,
      `unknown option --${given}${didYouMean(given, [...this.specs.keys()], '--')}`,
    );
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
