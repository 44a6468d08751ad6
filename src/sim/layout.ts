/**
 * Layout of the memory of events and LPs.
 *
 * A handle is the index of the record's first double, so `F[h]` needs no multiplication; its 32-bit
 * words start at `I[h << 1]`. One record (64 bytes and, past 8 bytes of payload, more):
 *
 *     F h+0  receive time        I +6  destination LP (index on its PE)   I +10  model's bitfield
 *     F h+1  send time           I +7  source LP (global id)              I +11  causal path length
 *     F h+2  tie-breaker (ties.ts) I +8  next (bucket, far or free list)    I +12  channel id, if remote
 *                                I +9  state and flags                    I +13  signature extra, or 0
 *     F h+7… payload
 *
 * Handle 0 is "no event"; F[0] is "now" during initialisation. The first record, the sink, takes the
 * payload of events past the end.
 *
 * Files of hot code copy what they use into constants of their own (`const { DEST } = layout`): V8 compiles
 * those into the code as numbers, while an imported binding is loaded, and checked three times, at each use.
 */

export const RECV = 0;
export const SEND = 1;
export const TIE = 2;
export const DEST = 6;
export const SOURCE = 7;
export const NEXT = 8;
export const STATE = 9;
export const BITS = 10;
export const PATH = 11;
export const CHANNEL = 12;
export const EXTRA = 13;
/** First double of the payload, relative to the handle. */
export const PAYLOAD = 7;

export const FREE = 0;
export const PENDING = 1;
export const PROCESSED = 2;
export const CANCELLED = 3;
/** Mask of the four states in the STATE word. */
export const STATE_MASK = 3;
/** Flag: came from another PE; the PE's number is in the bits above ORIGIN_SHIFT. */
export const REMOTE = 4;
/** Flag: the event's handler called `lp.output`. */
export const HAS_OUTPUT = 8;
/** Flag: the event's handler asked for a GVT hook. */
export const ASKS_HOOK = 16;
/** Flag: the event's handler stops the run. */
export const ASKS_STOP = 32;
export const ORIGIN_SHIFT = 8;

/**
 * Doubles before the first record: the C library puts a large block 16 bytes after a page boundary, and these
 * doubles align records with cache lines.
 */
export const ALIGN = 6;

/** An LP's block: the model's random stream at +0 (a step ahead), how many events it has sent, and its state struct. */
export const SENDS = 4;
export const LP_STATE = 5;
