/** Files without a name: nothing is left behind, however the processes that use them end. */
import { constants, openSync } from 'node:fs';

/** The bit that O_TMPFILE has beyond O_DIRECTORY. Source: <asm-generic/fcntl.h>. */
const UNNAMED = 0o20000000;

/** Makes a file without a name in `folder`, for reading and writing. Linux. @throws Error if the file system cannot have one */
export const openNameless = (folder: string): number =>
  openSync(folder, UNNAMED | constants.O_DIRECTORY | constants.O_RDWR, 0o600);
