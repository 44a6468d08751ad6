/** What is where in the memory of KPs; see `kp.ts` for what it means, and `layout.ts` for why it is a file. */

export const E_HANDLE = 0;
export const E_DRAWS = 1;
export const E_CORE_DRAWS = 2;
export const E_OUTS = 3;
export const E_UNDO = 4;
export const E_PATH = 5;
export const E_FLAGS = 6;
export const E_OUT = 7;

/** Entry flag: the LP was suspended, so the handler did not run. */
export const SKIPPED = 1;
/** Entry flag: a handler with its own `reverse` threw half-way, so the entry cannot be undone. */
export const BROKEN = 2;

/** Entry flag: the event's timer had been cancelled, so nothing happened. */
export const DROPPED = 4;

/** Output code of an event that was not created because it lies past the end; local ones are handles. */
export const OUT_PAST_END = -1;

/** Words of a KP's state, from `(number + 1) << KP_SHIFT`; the newest entry's position is that of its first word. */
export const KP_SHIFT = 2;
export const LENGTH = 0;
export const NEWEST = 1;
export const OLDEST = 2;
/** Position of the entry of the event that is being handled; before the first, that of one that counts for nothing. */
export const CURRENT = 0;
