/** Where in a model's source an error was thrown. */

import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownFiles } from './bundled.ts';
import { DeclarationError, ModelError } from './model-error.ts';

/** This package's own files: the place of an error is the first one outside of them. */
const OWN = ownFiles();
const COMPILED = /\/triscope-model-[^/]+\/(linked-)?model\.mjs$/;
const FRAME = /^\s*at (?:.*? \()?((?:file:\/\/)?\/.*):(\d+):(\d+)\)?$/;
/** Before a compiled model's source map. */
export const MAP = '//# sourceMappingURL=data:application/json;base64,';

/**
 * The place, such as `models/shop.ts:12:7`, relative to the working directory if it lies below; null if the stack names
 * none. Line and column count from 1. Models that were compiled are mapped back to their sources.
 */
export function placeOf(error: unknown): string | null {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  for (const line of stack.split('\n')) {
    const [, file, row, column] = FRAME.exec(line) ?? [];
    // A frame of code that was generated at run time also names its generator.
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
      path: resolve(dirname(at.path), decodeURIComponent(entry.originalSource)),
      row: entry.originalLine + 1,
      column: entry.originalColumn + 1,
    };
  } catch {
    // The compiled file was removed, or has no map: the place in the compiled file is better than none.
    return at;
  }
}

/** Texts in quotes and comments, in which names are not declarations. */
const BESIDE = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|`[^`]*`/g;
const blank = (text: string) => text.replace(/[^\n]/g, ' ');

/**
 * The place of a part of a model's declaration in its file, such as of `options` and in it `servers`: the first of that
 * name after `defineModel(`, within it that of the next. Null if there is none.
 */
function placeOfPart(path: string, part: readonly string[]): string | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(BESIDE, blank);
  } catch {
    return null;
  }
  let at = text.indexOf('defineModel(');
  if (at < 0) return null;
  for (const name of part) {
    const escaped = name.replace(/[^\w]/g, '\\$&');
    const named = new RegExp(`(?<=[{,*\\s])(['"]?)${escaped}\\1\\s*(?=[:(,}])`, 'g');
    named.lastIndex = at;
    const found = named.exec(text);
    if (found === null) return null;
    at = found.index;
  }
  const before = text.slice(0, at).split('\n');
  return shown({ path, row: before.length, column: (before.at(-1) ?? '').length + 1 });
}

/** What is wrong with a declaration, with the place of its part in the model's file. */
export function withPart(error: DeclarationError, path: string | undefined): string {
  const place = path === undefined ? null : placeOfPart(path, error.part);
  return place === null ? withPlace(error) : `${error.message} (at ${place})`;
}

/** `error`; where it is of a declaration, with the place of its part in the model's file. */
export function toldWithPart(error: unknown, path: string | undefined): unknown {
  if (!(error instanceof DeclarationError)) return error;
  const told = new ModelError(withPart(error, path));
  told.stack = error.stack;
  return told;
}

/** The error's message, with its place where there is one. */
export function withPlace(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const place = placeOf(error);
  return place === null || text.includes(place) ? text : `${text} (at ${place})`;
}
