/**
 * A batch: what one rank sends to another in one message.
 *
 *     word 0 slots | 1 sending rank | 2 colour | 3 batches taken | 4 first pending | 6 until | slots …
 *
 * A slot is an event record, an anti-message, or a part of an event's list of priority and tie-breakers, which
 * follows its event and may go on in the next batch of the same rank. A batch without slots only tells something: that its
 * sender has begun a GVT round; or, between two ranks, what every batch tells: how far the sender is (`mpi-promises.ts`).
 */

export const BATCH_SLOTS = 0;
export const BATCH_FROM = 1;
export const BATCH_COLOUR = 2;
export const BATCH_TAKEN = 3;
/** Doubles. */
export const BATCH_FIRST = 4;
export const BATCH_UNTIL = 6;
export const BATCH_HEADER = 8;

/** In place of the colour, where there are no slots. */
export const BEGINS_ROUND = 0;
export const TELLS_PROGRESS = 1;

/** Up to this size Open MPI sends at once, without asking the receiver first; its own header is included. */
const EAGER_BYTES = 4096 - 64;

export interface BatchShape {
  readonly slotWords: number;
  /** Most slots of a batch, and bytes of a buffer for so many. */
  readonly slots: number;
  readonly bytes: number;
}

/** @param most number of slots, if not as many as are sent at once */
export function batchShape(slotWords: number, most = Infinity): BatchShape {
  const room = EAGER_BYTES / 4 - BATCH_HEADER;
  const slots = Math.max(1, Math.min(most, Math.floor(room / slotWords)));
  return { slotWords, slots, bytes: Math.ceil((BATCH_HEADER + slots * slotWords) / 16) * 64 };
}
