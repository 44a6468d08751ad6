/** Removes what killed processes left in a folder. */
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS } from '../model/units.ts';
import { isAlive } from '../os/alive.ts';

/**
 * Milliseconds without a change: a process in a container or on another host seems dead from here.
 */
const UNTOUCHED_MS = DAY_MS;

/** The latest change of a folder or of what lies right in it. */
function changed(path: string): number {
  const times = readdirSync(path).map((name) => lstatSync(join(path, name)).mtimeMs);
  return Math.max(lstatSync(path).mtimeMs, ...times);
}

/**
 * Removes folders in `folder` that a dead process of this user left.
 * @param pattern of their names; its first group is the number of the process
 */
export function removeLeftovers(folder: string, pattern: RegExp): void {
  for (const name of namesIn(folder)) {
    const pid = pattern.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      const path = join(folder, name);
      const { uid } = lstatSync(path);
      const isOwn = uid === (process.getuid?.() ?? uid);
      if (!isOwn || Date.now() - changed(path) < UNTOUCHED_MS) continue;
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Another process removed it first, or it cannot be removed: neither may stop this process.
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
