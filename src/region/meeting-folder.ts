/** Where programs and a controller of one user meet, if neither started the other. */
import { lstatSync } from 'node:fs';
import { userInfo } from 'node:os';

/**
 * Programs that GEOPM_PROGRAM_FILTER names, and that no TRISCOPE_REGION_DIR sends elsewhere, mark here while a controller waits;
 * in all languages alike.
 */
export const meetingFolder = (): string => `/dev/shm/triscope-regions-${userInfo().uid}`;

/** The folder where it is there, and nobody else's to write in. */
export function openMeeting(): string | null {
  const folder = meetingFolder();
  const status = lstatSync(folder, { throwIfNoEntry: false });
  const isOwn =
    status?.isDirectory() && status.uid === userInfo().uid && (status.mode & 0o77) === 0;
  return isOwn ? folder : null;
}
