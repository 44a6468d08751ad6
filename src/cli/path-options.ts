/** Options of commands that take paths: `--name value`, `--name=value`, switches. */
import { parseArgs } from 'node:util';
import { UsageError } from './errors.ts';
import { didYouMean } from './nearest.ts';

export type PathOptionSpecs = Readonly<Record<string, 'text' | 'switch'>>;

export interface PathOptions {
  readonly paths: readonly string[];
  text(name: string): string | undefined;
  on(name: string): boolean;
}

/** What Node's parser refused, in our words. */
function refusalOf({ message }: Error, specs: PathOptionSpecs): string {
  const name = /--([\w-]+)/.exec(message)?.[1] ?? '';
  if (specs[name] === 'switch') return `--${name} takes no value`;
  if (specs[name] === 'text') return `--${name} needs a value: --${name}=…`;
  return message.split('. ')[0];
}

/**
 * Reads the words. For `--help` prints `usage` and gives null. `noun`: what a path stands for.
 * @throws UsageError for options that are not in `specs`, and where no path is given
 */
export function readPathOptions(
  args: readonly string[],
  specs: PathOptionSpecs,
  usage: string,
  noun = 'file',
): PathOptions | null {
  if (args.some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(`${usage}\n`);
    return null;
  }
  const known = Object.keys(specs);
  for (const word of args) {
    if (word === '--') break;
    const name = /^--([^=]+)/.exec(word)?.[1];
    if (name !== undefined && !known.includes(name)) {
      const near = didYouMean(
        `--${name}`,
        known.map((k) => `--${k}`),
      );
      throw new UsageError(`unknown option --${name}${near}`);
    }
    if (/^-[^-]/.test(word) && !/^-[\d.]/.test(word)) {
      throw new UsageError(`unknown option ${word}; options begin with two dashes`);
    }
  }
  const options = Object.fromEntries(
    known.map((name) => [name, { type: specs[name] === 'text' ? 'string' : 'boolean' } as const]),
  );
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(refusalOf(error as Error, specs));
  }
  const { values, positionals } = parsed;
  if (positionals.length === 0) throw new UsageError(`which ${noun}? ${usage.split('\n')[0]}`);
  return {
    paths: positionals,
    text: (name) => values[name] as string | undefined,
    on: (name) => values[name] === true,
  };
}

/** A number, or undefined where the option is not there. @throws UsageError */
export function numberOption(options: PathOptions, name: string): number | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) {
    throw new UsageError(`--${name}=${text}: must be a number`);
  }
  return value;
}

/** Numbers such as `0,2,5-7` as a test; undefined where the option is not there. @throws UsageError */
export function numbersOption(
  options: PathOptions,
  name: string,
): ((value: number) => boolean) | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  const ranges = text.split(',').map((part) => {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part.trim());
    if (match === null) {
      throw new UsageError(`--${name}=${text}: must be numbers such as 3 or 0,2,5-7`);
    }
    const [low, high] = [Number(match[1]), Number(match[2] ?? match[1])];
    if (low > high) throw new UsageError(`--${name}=${text}: ${part.trim()} has no number in it`);
    return [low, high] as const;
  });
  return (value) => ranges.some(([low, high]) => value >= low && value <= high);
}
