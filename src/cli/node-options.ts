/** Options that the `node` commands share. */
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { UsageError } from './errors.ts';
import { didYouMean } from './nearest.ts';

export interface Words {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

export type Options = Readonly<Record<string, { type: 'string' | 'boolean'; short?: string }>>;

/** @throws UsageError */
export function readWords(args: readonly string[], options: Options): Words {
  try {
    const config = { args: [...args], options, allowPositionals: true, strict: true };
    const { values, positionals } = parseArgs(config);
    return { values: values as Words['values'], positionals };
  } catch (error) {
    const [what] = (error as Error).message.split('. ');
    const name = /^Unknown option '(-.*)'$/.exec(what)?.[1];
    if (name === undefined) throw new UsageError(what);
    const names = Object.keys(options).map((option) => `--${option}`);
    throw new UsageError(`unknown option ${name}${didYouMean(name, names)}`);
  }
}

export const HELP = { help: { type: 'boolean', short: 'h' } } as const;

/** @throws UsageError where it is no folder */
export function rootFrom(value: string | boolean | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (!statSync(value, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`--root ${value}: there is no such folder`);
  }
  return value;
}
