/** What the commands about signals share: reading the command line, the platform, refusals that name the nearest. */
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Platform, SignalError } from '../region/signals/index.ts';
import { UsageError } from './errors.ts';
import { didYouMean } from './nearest.ts';

export interface Words {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

export type Options = Readonly<Record<string, { type: 'string' | 'boolean'; short?: string }>>;

/** Options of every command about signals. */
export const COMMON = {
  root: { type: 'string' },
  synthetic: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const COMMON_HELP = `  --root DIR    read the proc and sys of this folder, such as a recorded tree
  --synthetic   demo values, marked as such, for what the machine does not tell`;

/** @throws UsageError */
export function readWords(args: readonly string[], options: Options): Words {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
    });
    return { values: values as Words['values'], positionals };
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]);
  }
}

/** @throws UsageError where it is no folder */
export function platformOptions({ values }: Words): { root?: string; synthetic?: boolean } {
  const { root, synthetic } = values;
  if (typeof root !== 'string') return { synthetic: synthetic === true };
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`--root ${root}: there is no such folder`);
  }
  return { root, synthetic: synthetic === true };
}

/**
 * Does `what` with a platform, and closes it.
 * @throws UsageError with the nearest name, where `what` asks for a signal, domain or index that is not there
 */
export function withPlatform<T>(
  options: { root?: string; synthetic?: boolean; allowControl?: boolean },
  what: (platform: Platform) => T,
): T {
  const platform = Platform.open(options);
  try {
    return what(platform);
  } catch (error) {
    if (!(error instanceof SignalError)) throw error;
    throw new UsageError(error.message + didYouMean(error.given, error.names));
  } finally {
    platform.close();
  }
}

/** A whole number of at least 0. @throws UsageError */
export function indexFrom(text: string): number {
  if (!/^\d+$/.test(text)) throw new UsageError(`index ${text}: it is a whole number`);
  return Number(text);
}
