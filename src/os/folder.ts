/** Makes folders, even where Node's own call never returns. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes `path` and the missing folders above it. If a folder exists but nothing can be made in it, as in
 * /proc, `mkdirSync` with `recursive` tries forever (Node 20); this function tries each folder once.
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
      // Another process may have made it first.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  if (statSync(path).isDirectory()) return;
  throw Object.assign(new Error(`${path}: is not a folder`), { code: 'ENOTDIR' });
}
