/** Makes a folder and those above it that are missing. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Not `mkdirSync` with `recursive`: under /proc, which says “no such file” whatever is there, that never returns.
 * @throws Error as `mkdirSync` does
 */
export function makeFolders(path: string, mode?: number): void {
  const missing: string[] = [];
  for (let at = path; !existsSync(at); at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) mkdirSync(folder, { mode });
}
