/** Applications that a bundler made one file of: the threads' own files are not beside that. */

const MISSING = /Cannot find module '.*\b(?:sweep-|recorder-)?worker\.js'/;

/** What a thread said that could not start, with the mend where its file is missing. */
export const withMend = (message: string): string =>
  MISSING.test(message)
    ? 'the files of its threads are not beside the bundle: keep triscope outside of it (esbuild --external:triscope, or --packages=external)'
    : message;
