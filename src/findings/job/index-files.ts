/** Files of an archive on their way into its job index, and out of the archive. */
import { existsSync, rmSync } from 'node:fs';
import { type Archive, stampOf } from './archive.ts';
import { indexPath, isSame, updateIndex } from './job-index.ts';

/** Milliseconds for which who brings files waits for another writer. */
const ARRIVED_WAIT_MS = 20_000;

/** Removes files of an archive that its index has and that began so many days ago: their jobs stay. Gives their number. */
export async function retain(archive: Archive, days: number): Promise<number> {
  const until = Date.now() / 1000 - days * 86_400;
  const old = archive.files.filter(({ from }) => from !== null && from < until);
  if (old.length === 0) return 0;
  await updateIndex(archive, { keep: true });
  // Only what is in the index, on the disk, may go.
  for (const { path, stamp } of old) {
    const now = stampOf(path);
    if (now !== null && stamp !== undefined && isSame(now, stamp)) rmSync(path);
  }
  const files = archive.files.filter(({ path }) => existsSync(path));
  await updateIndex({ ...archive, files });
  return archive.files.length - files.length;
}

/**
 * Files have come into an archive: where it has an index, they are read into it. What another process is reading in already
 * is left to it, and to the next question.
 * @param paths in the archive, such as `HOST/1380603606.gz`
 */
export async function indexArrived(folder: string, paths: readonly string[]): Promise<void> {
  const archive = { path: folder, files: [], skipped: [] };
  if (paths.length === 0 || !existsSync(indexPath(archive))) return;
  await updateIndex(archive, { arrived: paths, patience: ARRIVED_WAIT_MS });
}
