/** Paths that are not there, and are nearly one that is. */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { EXIT, TriscopeError } from '../model/error.ts';
import { nearest } from '../model/nearest.ts';

/** A file or folder that is to be read is not there. */
class MissingPathError extends TriscopeError {
  override readonly name = 'MissingPathError';
  override readonly exitCode = EXIT.input;
}

/** Names shorter than this are near to too many. */
const SHORTEST = 3;
/** What stands for several names is near to none. */
const PATTERN = /[*?]/;

/** A link that leads nowhere, or round in a loop, is there too. */
const isThere = (path: string): boolean =>
  existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** @throws MissingPathError where a path is not there, and is nearly one that is */
export function checkPath(path: string): void {
  const name = basename(path);
  if (path.trim() === '' || name.length < SHORTEST || PATTERN.test(name) || isThere(path)) return;
  let there: string[];
  try {
    there = readdirSync(dirname(path));
  } catch {
    // Nor is its folder.
    return;
  }
  const near = nearest(name, there);
  if (near === null) return;
  const mended = path.slice(0, path.length - name.length) + near;
  throw new MissingPathError(`${path}: there is no such file or folder; did you mean ${mended}?`);
}
