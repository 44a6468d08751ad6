/** Applications that a bundler put into one file: the files of the simulator's threads do not lie beside it. */

import { TriscopeError } from '../model/error.ts';

const MISSING = /Cannot find module '.*\b(?:sweep-|recorder-)?worker\.js'/;

/**
 * Address of this package's compiled files.
 * @throws TriscopeError in a CommonJS bundle that includes them: there, files have no address
 */
export function ownFiles(): string {
  const { url } = import.meta as { readonly url?: string };
  if (url !== undefined) return new URL('..', url).href;
  throw new TriscopeError(
    'triscope does not work inside a CommonJS bundle: keep it outside (esbuild --external:triscope, or --packages=external)',
  );
}

/** The error of a thread that could not start, with the remedy if its file is missing. */
export const withMend = (message: string): string =>
  MISSING.test(message)
    ? 'the files of its threads are not beside the bundle: keep triscope outside of it (esbuild --external:triscope, or --packages=external)'
    : message;
