/**
 * Reads the words of a command by its declaration: `--name=value`, `--name value`, `--no-name` for switches, `-n value`,
 * `--name.VALUE`, and for ROSS's own names any beginning of one before `=`, as ROSS does (`--sync=3`, `--en=50`).
 * `--` ends options. What stands later wins.
 */

import { didYouMean } from '../model/nearest.ts';
import { type OptionSpec, parseOption, text } from '../model/option.ts';
import { readPlain, readReason } from '../os/plain-file.ts';
import { HELP, type OptionGroup, type OptionValue } from './command.ts';
import { UsageError } from './errors.ts';
import { checkPath } from './missing-path.ts';

export interface ParsedWords {
  /** Values given, by full name, in the order in which they were given last; what was not given is not there. */
  readonly values: ReadonlyMap<string, OptionValue>;
  /** Words that are no options. */
  readonly words: readonly string[];
  /** One line per option that has no effect, or another name now. */
  readonly notes: readonly string[];
  readonly help: boolean;
}

/** How a command wants its words read. */
interface Spelling {
  /** `none`: every word is an option; `wrapped`: options end at the first word that is none. */
  readonly arguments: 'none' | 'any' | 'wrapped';
  readonly oneDash?: boolean;
  readonly prefixes?: readonly string[];
  readonly argsFile?: string;
}

/** An argument and where it stands, for messages: `FILE:LINE: `, or nothing for the command line. */
interface Word {
  readonly text: string;
  readonly where: string;
}

const fail = (word: Word, message: string): never => {
  throw new UsageError(word.where + message);
};

const SHOW_HELP = text('', 'print this help', { bare: '1', short: 'h' });

/** Files that name files that name files… */
const DEEPEST = 8;

/** The words of an options file: any number a line, `#` starts a comment. */
function wordsOfFile(option: string, file: string, from: Word): Word[] {
  let content: string;
  checkPath(file);
  try {
    content = readPlain(file);
  } catch (error) {
    return fail(from, `--${option}=${file}: cannot be read: ${readReason(error)}`);
  }
  return content.split(/\r?\n/).flatMap((line, k) =>
    line
      .replace(/(^|\s)#.*$/, '')
      .split(/\s+/)
      .filter((text) => text !== '')
      .map((text) => ({ text, where: `${file}:${k + 1}: ` })),
  );
}

/** Whether a word can be the value of the option before it: an option cannot, a negative number can. */
const isValue = (word: string | undefined): word is string =>
  word !== undefined && (!word.startsWith('-') || word === '-' || /^-[\d.]/.test(word));

class Parser {
  private readonly specs: ReadonlyMap<string, OptionSpec>;
  /** Names that a prefix may stand for, in order. */
  private readonly prefixed: readonly string[];
  readonly values = new Map<string, OptionValue>();
  readonly notes = new Map<string, string>();
  readonly words: string[] = [];
  help = false;

  private readonly spelling: Spelling;

  constructor(groups: readonly OptionGroup[], spelling: Spelling) {
    this.spelling = spelling;
    const all = [...groups.map(({ options }) => options), { [HELP]: SHOW_HELP }];
    this.specs = new Map(all.flatMap((options) => Object.entries(options)));
    this.prefixed = (spelling.prefixes ?? []).filter((name) => this.specs.has(name));
  }

  read(words: readonly Word[], depth = 0): void {
    for (let k = 0; k < words.length; k++) {
      const word = words[k];
      if (word.text === '--') {
        this.end(word, words.slice(k + 1));
        return;
      }
      if (!/^-[^\d.]/.test(word.text)) {
        if (this.spelling.arguments === 'none') fail(word, this.strayWord(word.text));
        if (this.spelling.arguments === 'wrapped') {
          this.words.push(...words.slice(k).map(({ text }) => text));
          return;
        }
        this.words.push(word.text);
        continue;
      }
      const long = word.text.startsWith('--') || this.isOneDash(word.text);
      k += long ? this.long(word, words[k + 1], depth) : this.short(word, words[k + 1]);
    }
  }

  private isOneDash(text: string): boolean {
    return this.spelling.oneDash === true && this.specs.has(text.slice(1).replace(/=.*$/s, ''));
  }

  /** Returns how many words it took besides its own. */
  private long(word: Word, next: Word | undefined, depth: number): number {
    const body = word.text.replace(/^--?/, '');
    const equals = body.indexOf('=');
    const given = equals < 0 ? body : body.slice(0, equals);
    const glued = equals < 0 ? undefined : body.slice(equals + 1);
    const dotted = this.dotted(given);
    if (dotted !== null) {
      if (glued !== undefined) fail(word, `--${given} takes no value`);
      this.add(dotted.name, dotted.value);
      return 0;
    }
    const { name, negated } = this.resolve(word, given, glued !== undefined);
    if (negated) {
      if (glued !== undefined) fail(word, `--${given} takes no value`);
      this.put(name, false);
      return 0;
    }
    const spec = this.specs.get(name) as OptionSpec;
    // A switch stands alone; any other option takes the next word, unless that is an option too.
    const alone = spec.kind === 'bool' || spec.bare !== undefined;
    const takes = glued === undefined && !alone && isValue(next?.text);
    const raw = takes ? next?.text : glued;
    if (name === HELP) this.help = true;
    else if (name === this.spelling.argsFile) {
      const file = raw ?? fail(word, `--${name} needs a file`);
      if (depth === DEEPEST) fail(word, `--${name}=${file}: files name each other`);
      this.read(wordsOfFile(name, file, word), depth + 1);
    } else this.set(word, name, spec, raw);
    return takes ? 1 : 0;
  }

  /** `-n VALUE`, `-nVALUE`; switches together: `-ab`. Returns how many words it took besides its own. */
  private short(word: Word, next: Word | undefined): number {
    for (let at = 1; at < word.text.length; at++) {
      const letter = word.text[at];
      const [name, spec] = [...this.specs].find(([, { short }]) => short === letter) ?? [];
      if (name === undefined || spec === undefined) return this.refuseShort(word);
      if (name === HELP) this.help = true;
      else if (spec.kind === 'bool') this.put(name, true);
      else {
        const glued = word.text.slice(at + 1);
        const takes = glued === '' && isValue(next?.text);
        if (glued === '' && !takes) {
          fail(word, `-${letter} needs a value: -${letter} ${spec.placeholder ?? 'VALUE'}`);
        }
        this.set(word, name, spec, takes ? next?.text : glued);
        return takes ? 1 : 0;
      }
    }
    return 0;
  }

  private end(word: Word, following: readonly Word[]): void {
    if (word.where !== '') fail(word, '-- has no place in a file of options; leave it out');
    if (this.spelling.arguments !== 'none') {
      this.words.push(...following.map(({ text }) => text));
      return;
    }
    // In ROSS they are for the model's program; models here read nothing but options.
    const count = following.length;
    const what = count === 1 ? 'the word' : `the ${count} words`;
    if (count > 0) this.notes.set('--', `${what} after -- ${count === 1 ? 'is' : 'are'} not read`);
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
    if (spec.kind === 'string' && raw === undefined && spec.bare === undefined && !spec.choices) {
      if (spec.placeholder) fail(word, `--${name} needs a value: --${name}=${spec.placeholder}`);
    }
    try {
      const value = parseOption(name, spec, raw);
      if (spec.noEffect !== undefined) return;
      if (spec.many) this.add(full, String(value));
      else this.put(full, value);
    } catch (error) {
      const known = spec.choices?.map(String) ?? Object.keys(spec.words ?? {});
      fail(word, (error as Error).message + didYouMean(raw ?? '', known));
    }
  }

  /** Later wins, and stands where it was given last. */
  private put(name: string, value: OptionValue): void {
    this.values.delete(name);
    this.values.set(name, value);
  }

  private add(name: string, value: string): void {
    const before = this.values.get(name);
    this.put(name, [...(Array.isArray(before) ? (before as readonly string[]) : []), value]);
  }

  /** `type.cpu` as the option and its value. */
  private dotted(given: string): { name: string; value: string } | null {
    const dot = given.indexOf('.');
    const name = given.slice(0, Math.max(0, dot));
    const isOne = dot > 0 && this.specs.get(name)?.dotted === true && dot + 1 < given.length;
    return isOne ? { name, value: given.slice(dot + 1) } : null;
  }

  /** The full name of the option that was written as `given`. */
  private resolve(word: Word, given: string, glued: boolean): { name: string; negated: boolean } {
    if (this.specs.has(given)) return { name: given, negated: false };
    if (given.startsWith('no-') && this.specs.get(given.slice(3))?.kind === 'bool') {
      return { name: given.slice(3), negated: true };
    }
    const prefixOf = glued && given !== '' && this.prefixed.find((name) => name.startsWith(given));
    if (prefixOf) return { name: prefixOf, negated: false };
    return fail(word, `unknown option --${given}${didYouMean(given, this.shown(), '--')}`);
  }

  private shown(): string[] {
    return [...this.specs].filter(([, { hidden }]) => !hidden).map(([name]) => name);
  }

  private strayWord(text: string): string {
    const hint = this.specs.has(text.replace(/=.*$/s, ''))
      ? `; did you mean --${text.replace(/=.*$/s, '')}?`
      : '';
    return `unexpected argument ${text}${hint}`;
  }

  private refuseShort(word: Word): never {
    const bare = word.text.replace(/^-+/, '').replace(/=.*$/s, '');
    return fail(word, `unknown option ${word.text}${didYouMean(bare, this.shown(), '--')}`);
  }
}

/**
 * Reads `args`, whose options must be of `groups`.
 * @throws UsageError that names the option, its value and what is allowed, or the nearest option there is
 */
export function readWords(
  args: readonly string[],
  groups: readonly OptionGroup[],
  spelling: Spelling,
): ParsedWords {
  const parser = new Parser(groups, spelling);
  parser.read(args.map((text) => ({ text, where: '' })));
  const { values, words, notes, help } = parser;
  return { values, words, notes: [...notes.values()], help };
}
