/** Folders for temporary files of processes that may be killed: the next process removes those of dead ones. */
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_MS } from '../model/units.ts';
import { canLock, tryLock } from './flock.ts';

export interface ScratchFolder {
  readonly path: string;
  remove(): void;
}

/** Locked for as long as its owner lives: the kernel lets go when a process ends, however it ends. */
const OWNER = '.owner';

/** Milliseconds after which an empty folder without an owner has lost it before it was locked. */
const OWNERLESS_MS = DAY_MS;

/**
 * A new folder whose name begins with `prefix`. Those of the same user and beginning whose owners are dead are removed.
 * @param isUsed whether others than its owner use a folder
 */
export function scratchFolder(
  prefix: string,
  isUsed: (path: string) => boolean = () => false,
): ScratchFolder {
  sweep(prefix, isUsed);
  for (;;) {
    const path = mkdtempSync(join(tmpdir(), prefix));
    const file = openSync(join(path, OWNER), 'w');
    const locked = tryLock(file);
    // Somebody who swept may have been faster than the lock. Where files cannot be locked, nobody sweeps.
    if (canLock() && !(locked && existsSync(join(path, OWNER)))) {
      closeSync(file);
      continue;
    }
    return scratch(path, file);
  }
}

/** Makes a folder that exists already one of these: it is removed with this process. */
export function ownFolder(path: string): ScratchFolder {
  const file = openSync(join(path, OWNER), 'w');
  tryLock(file);
  return scratch(path, file);
}

function scratch(path: string, file: number): ScratchFolder {
  return {
    path,
    remove: () => {
      closeSync(file);
      removeFolder(path);
    },
  };
}

/** Removes a folder, its owner's file last: where this process is killed meanwhile, a later one knows the rest by that file. */
function removeFolder(path: string): void {
  let names: readonly string[] = [];
  try {
    names = readdirSync(path);
  } catch {
    // Somebody was faster.
  }
  for (const name of names) {
    if (name !== OWNER) rmSync(join(path, name), { recursive: true, force: true });
  }
  rmSync(path, { recursive: true, force: true });
}

function sweep(prefix: string, isUsed: (path: string) => boolean): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    try {
      sweepOne(join(tmpdir(), name), isUsed);
    } catch {
      // Somebody was faster, or may not be removed: what others left must not keep this process from its work.
    }
  }
}

function sweepOne(path: string, isUsed: (path: string) => boolean): void {
  const { uid, mtimeMs } = lstatSync(path);
  if (uid !== (process.getuid?.() ?? uid)) return;
  const owner = join(path, OWNER);
  if (!existsSync(owner)) {
    // Only an empty folder can be removed so.
    if (Date.now() - mtimeMs > OWNERLESS_MS) rmdirSync(path);
    return;
  }
  const file = openSync(owner, 'r+');
  try {
    if (tryLock(file) && !isUsed(path)) removeFolder(path);
  } finally {
    closeSync(file);
  }
}
