/** The folder of the region pages of a command's processes. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { PAGE_SUFFIX } from '../../model/region-layout.ts';
import { ownFolder, type ScratchFolder, scratchFolder } from '../../os/scratch.ts';
import { meetingFolder } from '../meeting-folder.ts';

/** Whether a process that marks there is alive: a command continues if its controller was killed. */
export function isMarked(folder: string): boolean {
  return readdirSync(folder).some((name) => {
    // <process id>-…: see pageFileName.
    const pid = Number.parseInt(name, 10);
    return name.endsWith(PAGE_SUFFIX) && pid > 0 && lives(pid);
  });
}

/** Zombies do not count. Source: proc(5), stat. */
function lives(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** A new folder, or `shared`, in which other processes of this machine mark, too; it is removed when this process ends. */
export const pagesFolder = (shared: string | undefined): ScratchFolder =>
  shared === undefined ? scratchFolder('triscope-region-', isMarked) : ownFolder(shared);

/** Removes the folder where programs and a controller meet, unless a process still marks there. */
export function clearMeetingFolder(): void {
  const folder = meetingFolder();
  if (!isMarked(folder)) rmSync(folder, { recursive: true, force: true });
}
