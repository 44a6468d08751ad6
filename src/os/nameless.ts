/** Files without a name: however their processes end, nothing is left. */
import { constants, openSync } from 'node:fs';

/** The bit of O_TMPFILE that is its own. Source: <asm-generic/fcntl.h>. */
const UNNAMED = 0o20000000;

/** A new file in `folder`, for reading and writing. Linux. @throws Error where the file system has none */
export const openNameless = (folder: string): number =>
  openSync(folder, UNNAMED | constants.O_DIRECTORY | constants.O_RDWR, 0o600);
