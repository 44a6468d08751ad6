/** Suspect spots that say how a recording is incomplete. */
import type { Recording } from './recording.ts';

const ENDS: Readonly<Record<Recording['state'], string | null>> = {
  running: 'it has no end: its run was killed, or still goes on',
  interrupted: 'a signal ended its run before its end',
  failed: 'its run failed',
  finished: null,
};
const LOST = 'bytes of records were dropped because buffers or the disk were full';

/** How it ended, and how much was lost; empty if it is complete. */
export function lackingEnd({ state, error, sources }: Recording): string[] {
  const end = ENDS[state];
  const lost = sources.reduce((sum, { droppedBytes }) => sum + droppedBytes, 0);
  return [
    ...(end === null ? [] : [error === undefined ? end : `${end}: ${error}`]),
    ...(lost > 0 ? [`${lost} ${LOST}`] : []),
  ];
}

/** Whether a spot is one of these. */
export const isLackingEnd = (what: string): boolean =>
  what.endsWith(LOST) || Object.values(ENDS).some((end) => end !== null && what.startsWith(end));
