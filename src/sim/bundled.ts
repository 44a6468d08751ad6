/** Applications that a bundler put into one file: the files of the simulator's threads do not lie beside it. */

const MISSING = /Cannot find module '.*\b(?:sweep-|recorder-)?worker\.js'/;

/** The error of a thread that could not start, with the remedy if its file is missing. */
export const withMend = (message: string): string =>
  MISSING.test(message)
    ? 'the files of its threads are not beside the bundle: keep triscope outside of it (esbuild --external:triscope, or --packages=external)'
    : message;
