/**
 * What an unpacking worker and its reader share: slots of bytes that are reused in turn, so that any size is unpacked in little
 * memory even though the reader does not return to its event loop.
 */

/** Words of the control array. */
export const RING = {
  /** Changes whenever the worker has done something. */
  signal: 0,
  /** Packed pieces that the worker is done with. */
  taken: 1,
  /** Slots that the worker has filled, and slots that the reader has given back; both numbers wrap. */
  filled: 2,
  freed: 3,
  /** 1 when no further slot will be filled. */
  ended: 4,
  words: 5,
} as const;

export const SLOTS = 8;
export const SLOT_BYTES = 1 << 18;

export interface Ring {
  readonly control: Int32Array;
  /** Bytes used of each slot; negative if they hold the reason why unpacking failed. */
  readonly lengths: Int32Array;
  readonly bytes: Uint8Array;
}

const CONTROL_BYTES = 4 * RING.words;
const LENGTHS_BYTES = 4 * SLOTS;
export const RING_BYTES = CONTROL_BYTES + LENGTHS_BYTES + SLOTS * SLOT_BYTES;

export function ringOver(memory: SharedArrayBuffer): Ring {
  return {
    control: new Int32Array(memory, 0, RING.words),
    lengths: new Int32Array(memory, CONTROL_BYTES, SLOTS),
    bytes: new Uint8Array(memory, CONTROL_BYTES + LENGTHS_BYTES),
  };
}
