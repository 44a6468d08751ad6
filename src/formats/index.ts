/** Readers and writers of files: `triscope/formats`. */
export * from './ross/write/index.ts';
