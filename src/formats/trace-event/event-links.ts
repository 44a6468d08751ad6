/**
 * Which event sent which.
 *
 * ```
 * PE 0  KP 1   [LP 5]         [LP 5]
 *                 \ s
 * PE 1  KP 0       `-> f [LP 9]
 * ```
 * An event that `source` sent at virtual time `send` was sent by the event that `source` handled at that virtual time:
 * a hash table over (LP, virtual time) finds it. Events are entered in the order of time, and of several the latest one
 * is meant, so that no arrow goes back.
 */
import { type EventColumns, sharedWords } from './event-columns.ts';

/** Stands for no event. */
export const NONE = 0xffffffff;

export interface EventLinks {
  /** By event: the last one that it sent. */
  readonly sent: Uint32Array;
  /** By event: the one that its cause sent before it. Itself, where nothing is its cause. */
  readonly before: Uint32Array;
}

export interface LinkCounts {
  /** Events that another one sent. */
  readonly sends: number;
  /** Those of them whose cause was traced before them. */
  readonly arrows: number;
}

export function noLinks(length: number): EventLinks {
  const before = sharedWords(length);
  for (let event = 0; event < length; event++) before[event] = event;
  return { sent: sharedWords(length).fill(NONE), before };
}

/** Events whose slots are looked up together: misses of the processor's cache overlap. */
const TOGETHER = 64;

/** Fills in the links. @param order of the events' times */
export function link(
  { length, source, destination, send, receive }: EventColumns,
  order: Uint32Array,
  { sent, before }: EventLinks,
): LinkCounts {
  const size = 2 ** Math.ceil(Math.log2(Math.max(16, length * 1.25)));
  const mask = size - 1;
  // Numbers of events plus 1; 0 is free.
  const slots = new Uint32Array(size);
  const double = new Float64Array(1);
  const words = new Int32Array(double.buffer);
  const hashOf = (lp: number, time: number): number => {
    double[0] = time;
    let hash = Math.imul(words[0] ^ Math.imul(lp, 0x9e3779b1), 0x85ebca6b) ^ words[1];
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
    return (hash ^ (hash >>> 13)) & mask;
  };
  /** The slot of the event that `lp` handled at `time`, or the free one where it belongs. */
  const slotOf = (hash: number, lp: number, time: number): number => {
    let slot = hash;
    for (;;) {
      const event = slots[slot] - 1;
      if (event < 0 || (destination[event] === lp && receive[event] === time)) return slot;
      slot = (slot + 1) & mask;
    }
  };
  const finds = new Int32Array(TOGETHER);
  const enters = new Int32Array(TOGETHER);
  let sends = 0;
  let arrows = 0;
  let touched = 0;
  for (let from = 0; from < length; from += TOGETHER) {
    const count = Math.min(TOGETHER, length - from);
    for (let k = 0; k < count; k++) {
      const event = order[from + k];
      finds[k] = hashOf(source[event], send[event]);
      enters[k] = hashOf(destination[event], receive[event]);
      touched ^= slots[finds[k]] ^ slots[enters[k]];
    }
    for (let k = 0; k < count; k++) {
      const event = order[from + k];
      // What models send before the run begins has no cause.
      if (send[event] > 0) sends++;
      const cause = slots[slotOf(finds[k], source[event], send[event])] - 1;
      if (cause >= 0) {
        arrows++;
        before[event] = sent[cause];
        sent[cause] = event;
      }
      slots[slotOf(enters[k], destination[event], receive[event])] = event + 1;
    }
  }
  // The sum is of no use, but for that it makes the processor look.
  if (touched === -1) slots.fill(0);
  return { sends, arrows };
}
