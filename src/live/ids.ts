/** How recordings are called in addresses. */
import { basename, resolve } from 'node:path';

/** Ids of recordings: their folders' names, numbered where taken. A comma separates ids, and is in none. */
export function idsOf(paths: readonly string[]): string[] {
  const taken = new Set<string>();
  return paths.map((path) => {
    const name = basename(resolve(path))
      .replace(/\.tri$/, '')
      .replaceAll(',', '_');
    let id = name;
    for (let k = 2; taken.has(id); k++) id = `${name}-${k}`;
    taken.add(id);
    return id;
  });
}
