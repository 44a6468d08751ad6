/** Words of shared memory by which the main thread tells the controller's thread what happened. */

/** Rings (adds one) whenever another word, or, where it is watched, the folder of pages has changed. */
export const BELL = 0;
/** 1: the command runs. */
export const STARTED = 1;
/** 1: it has ended. */
export const ENDED = 2;
/** How it ended: its code; the number of its signal, 0 without. */
export const EXIT_CODE = 3;
export const EXIT_SIGNAL = 4;
/** 1: it rings too when the folder of pages changes. */
export const WATCHED = 5;
export const WORDS = 6;
