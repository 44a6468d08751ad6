/** Making folders, also where Node's own way does not come back. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes `path` and the folders above it that are missing. Where a folder is there and nothing can be made in it, as in
 * /proc, `mkdirSync` with `recursive` tries for ever (Node 20): here each folder is tried once.
 * @throws the system's error
 */
export function makeFolder(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (
    let at = resolve(path);
    statSync(at, { throwIfNoEntry: false }) === undefined;
    at = dirname(at)
  ) {
    missing.push(at);
  }
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, mode);
    } catch (error) {
      // Another process may have been faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  if (statSync(path).isDirectory()) return;
  throw Object.assign(new Error(`${path}: is not a folder`), { code: 'ENOTDIR' });
}
