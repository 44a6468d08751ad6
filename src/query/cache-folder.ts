/** The folder in which recordings are cached as tables by default. */
import { homedir } from 'node:os';
import { join } from 'node:path';

export const defaultCacheFolder = (): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'triscope', 'query');
