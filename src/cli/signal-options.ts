/** What the commands about signals share: reading the command line, the platform, refusals that name the nearest. */

import { didYouMean } from '../model/nearest.ts';
import { flag } from '../model/option.ts';
import { Platform, SignalError } from '../region/signals/index.ts';
import type { Argument, Given } from './command.ts';
import { UsageError } from './errors.ts';
import { type ROOT, rootFrom } from './root-option.ts';

export const SYNTHETIC = flag(
  false,
  'demo values, marked as such, for signals that the machine does not have',
);

/** The arguments that say where a signal or setting is. */
export const PLACE: readonly Argument[] = [
  {
    name: 'DOMAIN',
    help: 'a part of the machine, from signal list --domains',
    names: 'domain',
  },
  { name: 'INDEX', help: 'its index, from 0' },
];

/** @throws UsageError where it is no folder */
export function platformOptions(given: Given<{ root: typeof ROOT }>, synthetic = false) {
  const root = rootFrom(given.root);
  return { ...(root !== undefined && { root }), synthetic };
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
  if (!/^\d+$/.test(text)) throw new UsageError(`index ${text}: must be a whole number`);
  return Number(text);
}
