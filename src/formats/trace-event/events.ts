/**
 * A simulation's traced events as slices, with an arrow from each event's cause to it.
 *
 * ```
 * PE 0  KP 1   [LP 5]         [LP 5]
 *                 \ s
 * PE 1  KP 0       `-> f [LP 9]
 * ```
 * An event that `source` sent at virtual time `send` was sent by the event that `source` handled at that virtual time:
 * a hash table over (LP, virtual time) finds it. The events come in the order of time; of several the latest one
 * before is meant, so that no arrow goes back.
 */
import type { TraceStream } from './merge.ts';
import type { Lane, TraceWriter } from './writer.ts';

/** Columns of traced events in the order of `real`. */
export interface EventColumns {
  readonly length: number;
  readonly source: Uint32Array;
  readonly destination: Uint32Array;
  /** Virtual times. */
  readonly send: Float64Array;
  readonly receive: Float64Array;
  /** Seconds, from 0. */
  readonly real: Float64Array;
}

export interface EventPlaces {
  /** Where an LP's events are drawn. */
  laneOf(lp: number): Lane;
  /** Nanoseconds that an event takes on a PE at most, so that idle time between events is seen. */
  longest(pid: number): number;
}

const NONE = -1;

/** Numbers of a hash table over (LP, virtual time); the last entered wins. */
class Handled {
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #lp: Uint32Array;
  readonly #time: Float64Array;
  readonly #words = new Uint32Array(2);
  readonly #double = new Float64Array(this.#words.buffer);

  constructor({ length, destination, receive }: EventColumns) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(16, length * 1.5)));
    this.#slots = new Int32Array(size).fill(NONE);
    this.#mask = size - 1;
    this.#lp = destination;
    this.#time = receive;
  }

  find(lp: number, time: number): number {
    const slots = this.#slots;
    for (let at = this.#start(lp, time); ; at = (at + 1) & this.#mask) {
      const event = slots[at];
      if (event === NONE || (this.#lp[event] === lp && this.#time[event] === time)) return event;
    }
  }

  enter(event: number): void {
    const slots = this.#slots;
    const lp = this.#lp[event];
    const time = this.#time[event];
    for (let at = this.#start(lp, time); ; at = (at + 1) & this.#mask) {
      const other = slots[at];
      if (other !== NONE && (this.#lp[other] !== lp || this.#time[other] !== time)) continue;
      slots[at] = event;
      return;
    }
  }

  #start(lp: number, time: number): number {
    this.#double[0] = time;
    let hash = Math.imul(this.#words[0] ^ Math.imul(lp, 0x9e3779b1), 0x85ebca6b) ^ this.#words[1];
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
    return (hash ^ (hash >>> 13)) & this.#mask;
  }
}

export class EventStream implements TraceStream {
  next = Infinity;
  readonly #columns: EventColumns;
  readonly #lanes: readonly Lane[];
  /** By event: its lane, its time and duration in ns. */
  readonly #lane: Uint32Array;
  readonly #start: Float64Array;
  readonly #duration: Uint32Array;
  /** By event: the last event that it sent; and of one event the one sent before it by the same. */
  readonly #sent: Int32Array | null;
  readonly #before: Int32Array | null;
  readonly #hasCause: Uint8Array;
  #at = 0;
  /** Of the event at `#at`: what it sent that still has no arrow. */
  #arrow = NONE;

  constructor(columns: EventColumns, places: EventPlaces, flows: boolean) {
    const { length } = columns;
    this.#columns = columns;
    this.#start = startsOf(columns);
    const { lane, lanes } = lanesOf(columns, places);
    this.#lane = lane;
    this.#lanes = lanes;
    this.#duration = durationsOf(this.#start, lane, lanes, places);
    this.#hasCause = new Uint8Array(flows ? length : 0);
    this.#sent = flows ? new Int32Array(length).fill(NONE) : null;
    this.#before = flows ? new Int32Array(length) : null;
    if (flows) this.#link();
    if (length > 0) this.next = this.#start[0];
  }

  #link(): void {
    const { length, source, send } = this.#columns;
    const sent = this.#sent as Int32Array;
    const before = this.#before as Int32Array;
    const handled = new Handled(this.#columns);
    for (let event = 0; event < length; event++) {
      const cause = handled.find(source[event], send[event]);
      if (cause !== NONE) {
        this.#hasCause[event] = 1;
        before[event] = sent[cause];
        sent[cause] = event;
      }
      handled.enter(event);
    }
  }

  run(out: TraceWriter, until: number): void {
    const { length, source, destination, send, receive } = this.#columns;
    let at = this.#at;
    for (; at < length; at++) {
      const start = this.#start[at];
      const lane = this.#lanes[this.#lane[at]];
      if (this.#arrow === NONE) {
        if (start > until || out.full) break;
        const duration = this.#duration[at];
        out.event(lane, destination[at], start, duration, source[at], send[at], receive[at]);
        if (this.#sent === null) continue;
        if (this.#hasCause[at] === 1) out.flowEnd(lane, at, start);
        this.#arrow = this.#sent[at];
      }
      // One event may have sent more than a block holds.
      if (this.#arrow !== NONE && !this.#arrows(out, lane, start)) break;
    }
    this.#at = at;
    this.next = at < length ? this.#start[at] : Infinity;
  }

  /** Beginnings of the arrows to all that an event sent. False where the writer is full before. */
  #arrows(out: TraceWriter, lane: Lane, start: number): boolean {
    const before = this.#before as Int32Array;
    let event = this.#arrow;
    for (; event !== NONE && !out.full; event = before[event]) out.flowStart(lane, event, start);
    this.#arrow = event;
    return event === NONE;
  }
}

/**
 * Nanoseconds, each more than the one before: files of ROSS tell real time in single precision, in which many events
 * happen at once, and then the slice that an arrow begins in would be anyone's. What is added stays far below the
 * clock's own steps.
 */
function startsOf({ length, real }: EventColumns): Float64Array {
  const starts = new Float64Array(length);
  let last = -1;
  for (let event = 0; event < length; event++) {
    const start = Math.round(real[event] * 1e9);
    last = start > last ? start : last + 1;
    starts[event] = last;
  }
  return starts;
}

function lanesOf({ length, destination }: EventColumns, places: EventPlaces) {
  const lane = new Uint32Array(length);
  const lanes: Lane[] = [];
  const numbers = new Map<Lane, number>();
  const byLp = new Map<number, number>();
  for (let event = 0; event < length; event++) {
    const lp = destination[event];
    let number = byLp.get(lp);
    if (number === undefined) {
      const place = places.laneOf(lp);
      number = numbers.get(place) ?? lanes.push(place) - 1;
      numbers.set(place, number);
      byLp.set(lp, number);
    }
    lane[event] = number;
  }
  return { lane, lanes };
}

/** A slice ends where its PE's next one begins, at the latest: then none overlap. */
function durationsOf(
  start: Float64Array,
  lane: Uint32Array,
  lanes: readonly Lane[],
  places: EventPlaces,
): Uint32Array {
  const pids = [...new Set(lanes.map(({ pid }) => pid))];
  const pe = Uint32Array.from(lanes, ({ pid }) => pids.indexOf(pid));
  const longest = pids.map((pid) => Math.min(2 ** 32 - 1, Math.max(1, places.longest(pid))));
  const after = new Float64Array(pids.length).fill(Infinity);
  const durations = new Uint32Array(start.length);
  for (let event = start.length - 1; event >= 0; event--) {
    const on = pe[lane[event]];
    durations[event] = Math.min(longest[on], after[on] - start[event]);
    after[on] = start[event];
  }
  return durations;
}
