/** Declared options: one table feeds the parser, `--help`, the types and the checks. */
import { EXIT, TriscopeError } from './error.ts';

type OptionKind = 'int' | 'float' | 'size' | 'bool' | 'string';

/**
 * A declared option: its kind and default, its allowed values, and its line of help. The kinds are `int`, `number`, `flag`,
 * `choice`, `text` and `size` (bytes).
 */
export interface OptionSpec<V extends number | boolean | string = number | boolean | string> {
  /** What values it takes. */
  readonly kind: OptionKind;
  /** The value where it is not given. */
  readonly default: V;
  /** Its line in `--help`. */
  readonly help: string;
  /** Minimum, in its unit. */
  readonly min?: number;
  /** Maximum, in its unit. */
  readonly max?: number;
  /** Unit of the value, for `--help`. */
  readonly unit?: string;
  /** The placeholder of the value in `--help`: FILE. */
  readonly placeholder?: string;
  /** The default in `--help`, if it depends on the machine or on other options. */
  readonly fallback?: string;
  /** The value of an option without one; if absent, the option requires a value. */
  readonly bare?: string;
  /** The allowed words of a `string` option, with the number that may replace each. */
  readonly words?: Readonly<Record<string, number>>;
  /** The option of which this is another name: a value of either replaces the other's. */
  readonly as?: string;
  /** A message that a command prints when the option is used. */
  readonly note?: string;
  /** Words for numbers that cannot be written, such as infinity. */
  readonly named?: Readonly<Record<string, number>>;
  /** The option is checked and has no effect: the reason. */
  readonly noEffect?: string;
  /** The text that means “not given”, as in ROSS, whose options always have a value. */
  readonly none?: string;
  /** The allowed texts, if they have no numbers. */
  readonly choices?: readonly V[];
  /** A letter that is equivalent after a single dash. */
  readonly short?: string;
  /** May be given several times. */
  readonly many?: true;
  /** The environment variable with the same meaning; the option has precedence. */
  readonly variable?: string;
  /** The option is spelled `--name.VALUE`. */
  readonly dotted?: true;
  /** A command requires it. */
  readonly required?: true;
  /** The kind of name that its value is, for completion; an `input` must exist. */
  readonly names?: Named;
  /** It is accepted but not in `--help`: another program's name for the same. */
  readonly hidden?: true;
}

/** The kinds of names on the command line. */
export type Named =
  | 'path'
  | 'input'
  | 'folder'
  | 'model'
  | 'table'
  | 'job'
  | 'type'
  | 'signal'
  | 'domain'
  | 'control'
  | 'shim'
  | 'command';

/** Options by name, without the `--`. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The value of an option in a program: one of its choices, or a value of its kind. */
export type OptionValueOf<S extends OptionSpec> = S extends { readonly many: true }
  ? readonly string[]
  : S extends { readonly choices: readonly (infer C)[] }
    ? C
    : Widened<S['default']>;

type Widened<V> = V extends number
  ? number
  : V extends boolean
    ? boolean
    : V extends string
      ? string
      : never;

export type OptionValues<O extends OptionSpecs> = {
  readonly [K in keyof O]: Widened<O[K]['default']>;
};

/** Properties that a declaration may add to kind and default; `many`, `dotted` and `choices` change the type of a value, and are spread beside it. */
type More = Partial<
  Omit<OptionSpec, 'kind' | 'default' | 'help' | 'many' | 'dotted' | 'choices' | 'words'>
>;

/**
 * An integer option (decimal; also 1e6).
 * @param fallback the default; `more` may name its unit
 * @example
 * ```ts
 * import { int } from 'triscope/sim';
 *
 * const options = { servers: int(4, 'how many servers there are', { min: 1, max: 64 }) }; // --servers=8
 * ```
 */
export function int(fallback: number, help: string, more: More = {}): OptionSpec<number> {
  return { kind: 'int', default: fallback, help, ...more };
}

/**
 * A finite floating-point option.
 * @param fallback the default; `more` may name its unit
 * @example
 * ```ts
 * import { float } from 'triscope/sim';
 *
 * const options = { mean: float(2, 'mean service time', { min: 0 }) }; // --mean=2.5
 * ```
 */
export function float(fallback: number, help: string, more: More = {}): OptionSpec<number> {
  return { kind: 'float', default: fallback, help, ...more };
}

/**
 * A number of bytes, plain or with K, M, G or T (powers of 1024).
 * @param fallback the default, in bytes
 * @example
 * ```ts
 * import { size } from 'triscope/sim';
 *
 * const options = { buffer: size(65536, 'bytes of a buffer') }; // --buffer=64K
 * ```
 */
export function size(fallback: number, help: string, more: More = {}): OptionSpec<number> {
  return { kind: 'size', default: fallback, help, ...more };
}

/**
 * A switch: `--name`, `--name=1`, `--name=0`, `--no-name`.
 * @example
 * ```ts
 * import { flag } from 'triscope/sim';
 *
 * const options = { trace: flag(false, 'print each arrival') }; // --trace, --no-trace
 * ```
 */
export function flag(fallback: boolean, help: string, more: More = {}): OptionSpec<boolean> {
  return { kind: 'bool', default: fallback, help, ...more };
}

/**
 * One of some words; on the command line also the number of one.
 * @example
 * ```ts
 * import { oneOf } from 'triscope/sim';
 *
 * const options = { routing: oneOf({ uniform: 0, next: 1 }, 'uniform', 'where customers go') }; // --routing=next
 * ```
 */
export function oneOf(
  words: Readonly<Record<string, number>>,
  initial: string,
  help: string,
  more: More = {},
): OptionSpec<string> {
  return { kind: 'string', default: initial, help, words, ...more };
}

/**
 * Free text.
 * @example
 * ```ts
 * import { text } from 'triscope/sim';
 *
 * const options = { label: text('', 'a name for the run') }; // --label=first
 * ```
 */
export function text(initial: string, help: string, more: More = {}): OptionSpec<string> {
  return { kind: 'string', default: initial, help, ...more };
}

/** One of some texts. @param initial the default; '' for nothing */
export function choice<const V extends string>(
  choices: readonly V[],
  initial: NoInfer<V> | '',
  help: string,
  more: More = {},
): OptionSpec<V> & { readonly choices: readonly V[] } {
  return { kind: 'string', default: initial as V, help, choices, ...more };
}

/** `spec` under another name. @param note a message that is printed if it is used */
export function alias<V extends number | boolean | string>(
  as: string,
  spec: OptionSpec<V>,
  help: string,
  note?: string,
): OptionSpec<V> {
  return { ...spec, help, as, ...(note !== undefined && { note }) };
}

/** An integer option of another program that has no effect here. @param fallback its default there */
export function noEffect(fallback: number, why: string): OptionSpec<number> {
  return { kind: 'int', default: fallback, help: `no effect: ${why}`, noEffect: why, none: '' };
}

/**
 * An invalid value of an option. The message is for the user.
 * @example
 * ```ts
 * import { OptionError, simulate } from 'triscope/sim';
 *
 * try {
 *   await simulate('phold', { pes: 0 });
 * } catch (error) {
 *   if (error instanceof OptionError) console.error(error.message); // names the option and what it may be
 * }
 * ```
 */
export class OptionError extends TriscopeError {
  override readonly name = 'OptionError';
  override readonly exitCode = EXIT.usage;
}

/**
 * Reads one option's value from the command line.
 * @param raw the text after `=`; undefined where the option stands alone
 * @throws OptionError that names the option, the value and what is allowed
 */
export function parseOption(
  name: string,
  spec: OptionSpec,
  raw: string | undefined,
): number | boolean | string {
  if (raw === undefined && spec.bare !== undefined) return spec.bare;
  if (raw === undefined && spec.kind !== 'bool') {
    throw new OptionError(`--${name} needs a value: it ${allowed(spec)}`);
  }
  const wrong = () => new OptionError(`--${name}=${raw ?? ''}: ${allowed(spec)}`);
  switch (spec.kind) {
    case 'bool':
      if (raw === undefined || raw === '1' || raw === 'true' || raw === 'yes') return true;
      if (raw === '0' || raw === 'false' || raw === 'no') return false;
      throw wrong();
    case 'string': {
      const given = raw ?? '';
      if (spec.choices !== undefined) {
        if (spec.choices.includes(given)) return given;
        throw wrong();
      }
      if (spec.words === undefined || Object.hasOwn(spec.words, given)) return given;
      const word = Object.entries(spec.words).find(([, number]) => String(number) === given);
      if (word === undefined) throw wrong();
      return word[0];
    }
    case 'int':
    case 'float':
      return spec.named?.[raw ?? ''] ?? checkNumber(name, spec, numberOf(raw ?? ''), raw);
    case 'size': {
      const [, digits, unit] = /^(.*?)([kmgt])?(?:i?b)?$/i.exec((raw ?? '').trim()) ?? [];
      const factor = 1024 ** ' kmgt'.indexOf(unit?.toLowerCase() ?? ' ');
      return checkNumber(name, spec, Math.floor(numberOf(digits) * factor), raw);
    }
  }
}

/** A decimal number, and nothing else; NaN for other text. */
function numberOf(text: string): number {
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text.trim()) ? Number(text) : Number.NaN;
}

/** What an option's value must be, in words: “must be an integer from 1 to 1024”. */
export function allowed(spec: OptionSpec): string {
  switch (spec.kind) {
    case 'bool':
      return 'must be 1 or 0';
    case 'string': {
      if (spec.choices !== undefined) return `must be one of ${spec.choices.join(', ')}`;
      if (spec.words === undefined) return 'must be a text';
      const words = Object.entries(spec.words).map(([word, number]) => `${number} ${word}`);
      return `must be one of ${words.join(', ')}`;
    }
    case 'int':
    case 'float':
    case 'size': {
      const what = {
        int: 'an integer',
        float: 'a finite number',
        size: 'a number of bytes, or of K, M, G or T,',
      }[spec.kind];
      const { min, max } = spec;
      if (min === Number.MIN_VALUE) return `must be ${what} greater than 0`;
      if (min !== undefined && max !== undefined) return `must be ${what} from ${min} to ${max}`;
      if (min !== undefined) return `must be ${what} of at least ${min}`;
      if (max !== undefined) return `must be ${what} of at most ${max}`;
      return `must be ${what}`.replace(/,$/, '');
    }
  }
}

/** @throws OptionError if `spec` does not allow the number. */
export function checkNumber(
  name: string,
  spec: OptionSpec,
  value: number,
  raw = String(value),
): number {
  const { kind, min = -Infinity, max = Infinity } = spec;
  const whole = kind !== 'int' || Number.isSafeInteger(value);
  if (Number.isFinite(value) && whole && value >= min && value <= max) return value;
  throw new OptionError(`--${name}=${raw}: ${allowed(spec)}`);
}

/** The declared defaults. */
export function defaultsOf<O extends OptionSpecs>(specs: O): OptionValues<O> {
  return Object.fromEntries(
    Object.entries(specs).map(([k, s]) => [k, s.default]),
  ) as OptionValues<O>;
}
