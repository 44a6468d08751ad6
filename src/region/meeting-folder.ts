/** The folder where programs and a controller of one user meet if neither started the other. */
import { lstatSync } from 'node:fs';
import { userInfo } from 'node:os';

/**
 * Programs that GEOPM_PROGRAM_FILTER names make their pages here while a controller waits, unless TRISCOPE_REGION_DIR is set; this
 * is the same in all languages.
 */
export const meetingFolder = (): string => `/dev/shm/triscope-regions-${userInfo().uid}`;

/** The folder, if it exists and no other user can write in it. */
export function openMeeting(): string | null {
  const folder = meetingFolder();
  const status = lstatSync(folder, { throwIfNoEntry: false });
  const isOwn =
    status?.isDirectory() && status.uid === userInfo().uid && (status.mode & 0o77) === 0;
  return isOwn ? folder : null;
}
