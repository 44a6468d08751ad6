/** Declared options: one table feeds the parser, `--help`, the types and the checks. */

export type OptionKind = 'int' | 'float' | 'bool' | 'string';

export interface OptionSpec<V extends number | boolean | string = number | boolean | string> {
  readonly kind: OptionKind;
  readonly default: V;
  readonly help: string;
  readonly min?: number;
  readonly max?: number;
  /** Unit of the value, for `--help`. */
  readonly unit?: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

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

interface Bounds {
  readonly min?: number;
  readonly max?: number;
  readonly unit?: string;
}

/** An integer option (decimal; also 1e6). */
export function int(fallback: number, help: string, bounds: Bounds = {}): OptionSpec<number> {
  return { kind: 'int', default: fallback, help, ...bounds };
}

/** A finite floating-point option. */
export function float(fallback: number, help: string, bounds: Bounds = {}): OptionSpec<number> {
  return { kind: 'float', default: fallback, help, ...bounds };
}

/** A switch: `--name`, `--name=1`, `--name=0`, `--no-name`. */
export function flag(fallback: boolean, help: string): OptionSpec<boolean> {
  return { kind: 'bool', default: fallback, help };
}

/** Free text. */
export function text(fallback: string, help: string): OptionSpec<string> {
  return { kind: 'string', default: fallback, help };
}

/** A value that an option cannot take. The message is for the user. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
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
  const wrong = (what: string) => new OptionError(`--${name}=${raw ?? ''}: ${what}`);
  switch (spec.kind) {
    case 'bool':
      if (raw === undefined || raw === '1' || raw === 'true' || raw === 'yes') return true;
      if (raw === '0' || raw === 'false' || raw === 'no') return false;
      throw wrong('use 1 or 0');
    case 'string':
      if (raw === undefined) throw new OptionError(`--${name} needs a value: --${name}=TEXT`);
      return raw;
    case 'int':
    case 'float': {
      if (raw === undefined) throw new OptionError(`--${name} needs a value: --${name}=NUMBER`);
      const value = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(raw.trim())
        ? Number(raw)
        : Number.NaN;
      return checkNumber(name, spec, value, raw);
    }
  }
}

/** @throws OptionError where a number is not what `spec` allows. */
export function checkNumber(
  name: string,
  spec: OptionSpec,
  value: number,
  raw = String(value),
): number {
  const wrong = (what: string) => new OptionError(`--${name}=${raw}: ${what}`);
  if (!Number.isFinite(value)) throw wrong('not a finite number');
  if (spec.kind === 'int' && !Number.isSafeInteger(value)) throw wrong('must be an integer');
  if (spec.min !== undefined && value < spec.min) throw wrong(`must be at least ${spec.min}`);
  if (spec.max !== undefined && value > spec.max) throw wrong(`must be at most ${spec.max}`);
  return value;
}

/** The declared defaults. */
export function defaultsOf<O extends OptionSpecs>(specs: O): OptionValues<O> {
  return Object.fromEntries(
    Object.entries(specs).map(([k, s]) => [k, s.default]),
  ) as OptionValues<O>;
}
