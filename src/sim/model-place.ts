/** Where in a model's source an error was thrown. */

import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** This package's own files: an error's place is the first outside of them. */
const OWN = new URL('..', import.meta.url).href;
const COMPILED = /\/triscope-model-[^/]+\/model\.mjs$/;
const FRAME = /(file:\/\/[^\s()]+|\/[^\s():]+):(\d+):(\d+)\)?$/;
/** Before a compiled model's source map. */
export const MAP = '//# sourceMappingURL=data:application/json;base64,';

/**
 * The place, `models/shop.ts:12:7`, from the working directory where it lies below that; null where the stack names
 * none. Line and column count from 1. Models that were compiled are mapped back to their sources.
 */
export function placeOf(error: unknown): string | null {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  for (const line of stack.split('\n')) {
    const [, file, row, column] = FRAME.exec(line) ?? [];
    // Code made at run time names where it was made, too.
    if (file === undefined || line.includes('eval at') || file.startsWith(OWN)) continue;
    const path = file.startsWith('file:') ? fileURLToPath(file) : file;
    if (path.startsWith(fileURLToPath(OWN))) continue;
    const at = { path, row: Number(row), column: Number(column) };
    return shown(COMPILED.test(path) ? mapped(at) : at);
  }
  return null;
}

function shown({ path, row, column }: Place): string {
  const near = relative(process.cwd(), path);
  return `${near.startsWith('..') ? path : near}:${row}:${column}`;
}

/** Where in its source a place in the compiled model of this address is. */
export const placeIn = (url: string, row: number, column: number): string =>
  shown(mapped({ path: fileURLToPath(url), row, column }));

interface Place {
  readonly path: string;
  readonly row: number;
  readonly column: number;
}

function mapped(at: Place): Place {
  try {
    const text = readFileSync(at.path, 'utf8');
    const map = text.slice(text.lastIndexOf(MAP) + MAP.length).trim();
    const payload = JSON.parse(Buffer.from(map, 'base64').toString('utf8'));
    const entry = new SourceMap(payload).findEntry(at.row - 1, at.column - 1);
    if (!('originalSource' in entry)) return at;
    return {
      path: resolve(dirname(at.path), entry.originalSource),
      row: entry.originalLine + 1,
      column: entry.originalColumn + 1,
    };
  } catch {
    // It was removed, or has no map: the place in what was compiled is better than none.
    return at;
  }
}

/** The error's message, with its place where there is one. */
export function withPlace(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const place = placeOf(error);
  return place === null || text.includes(place) ? text : `${text} (at ${place})`;
}
