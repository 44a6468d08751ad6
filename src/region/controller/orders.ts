/** Words of shared memory with which the main thread informs the controller's thread. */

/** The bell: grows by one whenever another word or, if it is watched, the folder of pages has changed. */
export const BELL = 0;
/** 1: the command runs. */
export const STARTED = 1;
/** 1: it has ended. */
export const ENDED = 2;
/** How it ended: its exit code; the number of its signal, 0 without one. */
export const EXIT_CODE = 3;
export const EXIT_SIGNAL = 4;
/** 1: the bell also rings when the folder of pages changes. */
export const WATCHED = 5;
export const WORDS = 6;
