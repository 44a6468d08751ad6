/**
 * What a PE counts per LP, or per KP if LPs are not sampled. Kept only in runs that sample KPs or LPs: a few
 * adds per event.
 */

/** Words of one slot. All wrap at 2^32. */
export const T_PROCESSED = 0;
export const T_ABORTED = 1;
export const T_ROLLED_BACK = 2;
export const T_SENDS = 3;
export const T_RECEIVES = 4;
/** Committed events that came from another PE. */
export const T_REMOTE = 5;
const SLOT_SHIFT = 3;

export class EventTally {
  /** Eight words per slot. */
  readonly words: Int32Array;
  /** First word of the slot of each LP (index on its PE). */
  readonly slotOf: Int32Array;
  /** Two words per KP: rollbacks, secondary rollbacks. */
  readonly rollbacks: Int32Array;
  /** Receive time of each KP's newest event in runs that handle events in order; 0 before the first. */
  readonly kpTimes: Float64Array;
  readonly perLp: boolean;
  readonly kpOf: Int32Array;

  /** @param kps KP of each LP of the PE */
  constructor(kps: Int32Array, nkp: number, perLp: boolean) {
    this.perLp = perLp;
    this.kpOf = kps;
    const slots = perLp ? kps.length : nkp;
    this.words = new Int32Array(Math.max(32, slots << SLOT_SHIFT));
    this.slotOf = Int32Array.from(kps, (kp, lp) => (perLp ? lp : kp) << SLOT_SHIFT);
    this.rollbacks = new Int32Array(Math.max(32, nkp * 2));
    this.kpTimes = new Float64Array(nkp);
  }

  /** Adds one to counter `what` of LP `index`. */
  add(index: number, what: number): void {
    this.words[this.slotOf[index] + what]++;
  }

  /** An event of LP `index` was handled and committed at once. */
  handled(index: number, time: number, remote: boolean): void {
    const at = this.slotOf[index];
    this.words[at + T_PROCESSED]++;
    if (remote) this.words[at + T_REMOTE]++;
    this.kpTimes[this.kpOf[index]] = time;
  }

  /** A KP was rolled back. */
  rolledBack(kp: number, secondary: boolean): void {
    this.rollbacks[kp * 2]++;
    if (secondary) this.rollbacks[kp * 2 + 1]++;
  }
}
