/** Adds files of an archive to its job index, and removes old files from the archive. */
import { existsSync, rmSync } from 'node:fs';
import { DAY_SECONDS } from '../../model/units.ts';
import { type Archive, stampOf } from './archive.ts';
import { indexPath, isSame, updateIndex } from './job-index.ts';

/** How many milliseconds to wait for another process that writes the index. */
const ARRIVED_WAIT_MS = 20_000;

/** Removes files of an archive that are in its index and began more than so many days ago; their jobs stay. Returns the number of files. */
export async function retain(archive: Archive, days: number): Promise<number> {
  const until = Date.now() / 1000 - days * DAY_SECONDS;
  const old = archive.files.filter(({ from }) => from !== null && from < until);
  if (old.length === 0) return 0;
  await updateIndex(archive, { keep: true });
  // Only what the index has safely on disk may be removed.
  for (const { path, stamp } of old) {
    const now = stampOf(path);
    if (now !== null && stamp !== undefined && isSame(now, stamp)) rmSync(path);
  }
  const files = archive.files.filter(({ path }) => existsSync(path));
  await updateIndex({ ...archive, files });
  return archive.files.length - files.length;
}

/**
 * Called when files were added to an archive: if it has an index, they are read into it. Files that another process is reading
 * are left to that process, or to the next question.
 * @param paths paths in the archive, such as `HOST/1380603606.gz`
 */
export async function indexArrived(folder: string, paths: readonly string[]): Promise<void> {
  const archive = { path: folder, files: [], skipped: [] };
  if (paths.length === 0 || !existsSync(indexPath(archive))) return;
  await updateIndex(archive, { arrived: paths, patience: ARRIVED_WAIT_MS });
}
