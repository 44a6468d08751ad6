/** Suggests an existing path for one that does not exist. */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { EXIT, TriscopeError } from '../model/error.ts';
import { nearest } from '../model/nearest.ts';

/** A file or folder that is to be read does not exist. */
class MissingPathError extends TriscopeError {
  override readonly name = 'MissingPathError';
  override readonly exitCode = EXIT.input;
}

/** No suggestion for names shorter than this, which resemble too many others. */
const SHORTEST = 3;
/** Patterns get no suggestion. */
const PATTERN = /[*?]/;

/** A link that leads nowhere, or round in a loop, is there too. */
const isThere = (path: string): boolean =>
  existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** @throws MissingPathError if the path does not exist and resembles one that does */
export function checkPath(path: string): void {
  const name = basename(path);
  if (path.trim() === '' || name.length < SHORTEST || PATTERN.test(name) || isThere(path)) return;
  let there: string[];
  try {
    there = readdirSync(dirname(path));
  } catch {
    // Its folder does not exist either.
    return;
  }
  const near = nearest(name, there);
  if (near === null) return;
  const mended = path.slice(0, path.length - name.length) + near;
  throw new MissingPathError(`${path}: there is no such file or folder; did you mean ${mended}?`);
}
