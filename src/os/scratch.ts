/** Folders for temporary files of processes that may be killed: the next process removes what dead ones have left. */
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canLock, tryLock } from './flock.ts';

export interface ScratchFolder {
  readonly path: string;
  remove(): void;
}

/** Locked for as long as its owner lives: the kernel lets go when a process ends, however it ends. */
const OWNER = '.owner';

/** A new folder whose name begins with `prefix`. Those of the same beginning whose owners are dead are removed. */
export function scratchFolder(prefix: string): ScratchFolder {
  sweep(prefix);
  for (;;) {
    const path = mkdtempSync(join(tmpdir(), prefix));
    const file = openSync(join(path, OWNER), 'w');
    const locked = tryLock(file);
    // Somebody who swept may have been faster than the lock. Where files cannot be locked, nobody sweeps.
    if (canLock() && !(locked && existsSync(join(path, OWNER)))) {
      closeSync(file);
      continue;
    }
    return {
      path,
      remove: () => {
        closeSync(file);
        rmSync(path, { recursive: true, force: true });
      },
    };
  }
}

function sweep(prefix: string): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const path = join(tmpdir(), name);
    let file: number;
    try {
      file = openSync(join(path, OWNER), 'r+');
    } catch {
      // Another user's, or not ours.
      continue;
    }
    if (tryLock(file)) rmSync(path, { recursive: true, force: true });
    closeSync(file);
  }
}
