/**
 * Finds which event sent which.
 *
 * ```
 * PE 0  KP 1   [LP 5]         [LP 5]
 *                 \ s
 * PE 1  KP 0       `-> f [LP 9]
 * ```
 * An event that `source` sent at virtual time `send` was sent by the event that `source` handled at that virtual time.
 * Events are processed in the order of time, and of several possible causes the latest is taken, so that no arrow goes back.
 */
import { type EventColumns, sharedWords } from './event-columns.ts';

/** Stands for no event. */
export const NONE = 0xffffffff;

export interface EventLinks {
  /** By event: the last one that it sent. */
  readonly sent: Uint32Array;
  /** By event: the one that its cause sent before it; the event itself if it has no cause. */
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

/** A hash table from (LP, virtual time) to the event entered last. */
class Handled {
  private readonly columns: EventColumns;
  /** Numbers of events plus 1; 0 is free. */
  private readonly slots: Uint32Array;
  private readonly double = new Float64Array(1);
  private readonly words = new Int32Array(this.double.buffer);
  /** Events entered so far, in their order. */
  entered = 0;

  constructor(columns: EventColumns) {
    this.columns = columns;
    const { length } = columns;
    this.slots = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(16, length * 1.25))));
  }

  /** -1: there is none. */
  find(lp: number, time: number): number {
    return this.slots[this.slot(lp, time)] - 1;
  }

  /** Enters the events of these places that were not entered yet. */
  enterTo(place: number, order: Uint32Array): void {
    const { destination, receive } = this.columns;
    for (; this.entered < place; this.entered++) {
      const event = order[this.entered];
      this.slots[this.slot(destination[event], receive[event])] = event + 1;
    }
  }

  /** The slot of the event that `lp` handled at `time`, or the free slot where it belongs. */
  private slot(lp: number, time: number): number {
    const { destination, receive } = this.columns;
    const slots = this.slots;
    this.double[0] = time;
    let hash = Math.imul(this.words[0] ^ Math.imul(lp, 0x9e3779b1), 0x85ebca6b) ^ this.words[1];
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
    const mask = slots.length - 1;
    for (let slot = (hash ^ (hash >>> 13)) & mask; ; slot = (slot + 1) & mask) {
      const event = slots[slot] - 1;
      if (event < 0 || (destination[event] === lp && receive[event] === time)) return slot;
    }
  }
}

/** LPs below this number have a list of what they handled, */
const LISTED = 1 << 20;
/** which is followed this far back before the hash table is used: most causes are near, and in the processor's cache. */
const STEPS = 16;

/** Fills in the links. @param order of the events' times */
export function link(
  columns: EventColumns,
  order: Uint32Array,
  { sent, before }: EventLinks,
): LinkCounts {
  const { length, source, destination, send, receive } = columns;
  // By LP and by event: the event that the LP handled last before, plus 1.
  const latest = new Uint32Array(LISTED);
  const previous = new Uint32Array(length);
  let handled: Handled | null = null;
  let sends = 0;
  let arrows = 0;
  for (let place = 0; place < length; place++) {
    const event = order[place];
    const lp = source[event];
    const time = send[event];
    // What models send before the run begins has no cause.
    if (time > 0) sends++;
    let cause = lp < LISTED ? latest[lp] - 1 : -1;
    let steps = lp < LISTED ? 0 : STEPS;
    for (; cause >= 0 && steps < STEPS && receive[cause] !== time; steps++) {
      cause = previous[cause] - 1;
    }
    if (steps === STEPS) {
      handled ??= new Handled(columns);
      handled.enterTo(place, order);
      cause = handled.find(lp, time);
    }
    if (cause >= 0) {
      arrows++;
      before[event] = sent[cause];
      sent[cause] = event;
    }
    const by = destination[event];
    if (by < LISTED) {
      previous[event] = latest[by];
      latest[by] = event + 1;
    }
  }
  return { sends, arrows };
}
