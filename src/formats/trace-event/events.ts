/**
 * A simulation's traced events as slices, with an arrow from each event's cause to it.
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
import type { TraceStream } from './merge.ts';
import { ascending } from './order.ts';
import type { Lane, TraceWriter } from './writer.ts';

/** Columns of traced events, in any order. */
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

/**
 * A hash table from (LP, virtual time) to the event entered last. A slot is 16 bytes, so that looking takes one access to
 * memory, which is all that it costs:
 *
 *     | virtual time, f64 | LP, i32 | event, i32 |
 */
class Handled {
  readonly #times: Float64Array;
  readonly #numbers: Int32Array;
  readonly #mask: number;
  readonly #double = new Float64Array(1);
  readonly #words = new Int32Array(this.#double.buffer);

  constructor(length: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(16, length * 1.25)));
    this.#times = new Float64Array(2 * size);
    this.#numbers = new Int32Array(this.#times.buffer);
    this.#mask = size - 1;
  }

  find(lp: number, time: number): number {
    const slot = this.#slot(lp | 0, time);
    // Empty slots are 0: events are kept as their numbers plus 1.
    return this.#numbers[4 * slot + 3] - 1;
  }

  enter(lp: number, time: number, event: number): void {
    const slot = this.#slot(lp | 0, time);
    this.#times[2 * slot] = time;
    this.#numbers[4 * slot + 2] = lp;
    this.#numbers[4 * slot + 3] = event + 1;
  }

  /** The slot that holds the key, or the free one where it belongs. */
  #slot(lp: number, time: number): number {
    const times = this.#times;
    const numbers = this.#numbers;
    this.#double[0] = time;
    let hash = Math.imul(this.#words[0] ^ Math.imul(lp, 0x9e3779b1), 0x85ebca6b) ^ this.#words[1];
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
    let slot = (hash ^ (hash >>> 13)) & this.#mask;
    while (
      numbers[4 * slot + 3] !== 0 &&
      (numbers[4 * slot + 2] !== lp || times[2 * slot] !== time)
    ) {
      slot = (slot + 1) & this.#mask;
    }
    return slot;
  }
}

export class EventStream implements TraceStream {
  next = Infinity;
  /** Events that another one sent, and those of them whose cause was traced before them. */
  readonly sends: number;
  readonly arrows: number;
  readonly #columns: EventColumns;
  readonly #firstId: number;
  readonly #lanes: readonly Lane[];
  /** By event: its lane, its time and duration in ns. */
  readonly #lane: Uint32Array;
  readonly #times: Times;
  /** Events in the order of their times. */
  readonly #order: Uint32Array;
  readonly #links: Links | null;
  #at = 0;
  /** Of the event at `#at`: what it sent that still has no arrow. */
  #arrow = NONE;

  /** @param firstId of its arrows, which are numbered as its events are: each number is one arrow in a trace */
  constructor(columns: EventColumns, places: EventPlaces, flows: boolean, firstId = 0) {
    this.#columns = columns;
    this.#firstId = firstId;
    const { lane, lanes } = lanesOf(columns, places);
    this.#lane = lane;
    this.#lanes = lanes;
    this.#times = timesOf(columns, lane, lanes, places);
    this.#order = ascending(this.#times.start);
    this.#links = flows ? linksOf(columns, this.#order) : null;
    this.sends = this.#links?.sends ?? 0;
    this.arrows = this.#links?.arrows ?? 0;
    if (columns.length > 0) this.next = this.#times.start[this.#order[0]];
  }

  /** A number beyond those of its arrows. */
  get nextId(): number {
    return this.#firstId + this.#columns.length;
  }

  run(out: TraceWriter, until: number): void {
    const { length, source, destination, send, receive } = this.#columns;
    const { start, duration } = this.#times;
    const order = this.#order;
    const links = this.#links;
    let at = this.#at;
    for (; at < length; at++) {
      const event = order[at];
      const time = start[event];
      const lane = this.#lanes[this.#lane[event]];
      if (this.#arrow === NONE) {
        if (time > until || out.full) break;
        const lp = destination[event];
        out.event(lane, lp, time, duration[event], source[event], send[event], receive[event]);
        if (links === null) continue;
        if (links.hasCause[event] === 1) out.flowEnd(lane, this.#firstId + event, time);
        this.#arrow = links.sent[event];
      }
      // One event may have sent more than a block holds.
      if (this.#arrow !== NONE && !this.#begin(out, lane, time, links as Links)) break;
    }
    this.#at = at;
    this.next = at < length ? start[order[at]] : Infinity;
  }

  /** Beginnings of the arrows to all that an event sent. False where the writer is full before. */
  #begin(out: TraceWriter, lane: Lane, time: number, { before }: Links): boolean {
    let event = this.#arrow;
    for (; event !== NONE && !out.full; event = before[event]) {
      out.flowStart(lane, this.#firstId + event, time);
    }
    this.#arrow = event;
    return event === NONE;
  }
}

interface Links {
  /** By event: the last one that it sent; and the one sent before that by the same. */
  readonly sent: Int32Array;
  readonly before: Int32Array;
  readonly hasCause: Uint8Array;
  readonly sends: number;
  readonly arrows: number;
}

function linksOf(columns: EventColumns, order: Uint32Array): Links {
  const { length, source, destination, send, receive } = columns;
  const sent = new Int32Array(length).fill(NONE);
  const before = new Int32Array(length);
  const hasCause = new Uint8Array(length);
  const handled = new Handled(length);
  let sends = 0;
  let arrows = 0;
  for (let k = 0; k < length; k++) {
    const event = order[k];
    // What models send before the run begins has no cause.
    if (send[event] > 0) sends++;
    const cause = handled.find(source[event], send[event]);
    if (cause !== NONE) {
      arrows++;
      hasCause[event] = 1;
      before[event] = sent[cause];
      sent[cause] = event;
    }
    handled.enter(destination[event], receive[event], event);
  }
  return { sent, before, hasCause, sends, arrows };
}

function lanesOf({ length, destination }: EventColumns, places: EventPlaces) {
  const lane = new Uint32Array(length);
  const lanes: Lane[] = [];
  const numbers = new Map<Lane, number>();
  const byLp: number[] = [];
  for (let event = 0; event < length; event++) {
    const lp = destination[event];
    let number: number | undefined = byLp[lp];
    if (number === undefined) {
      const place = places.laneOf(lp);
      number = numbers.get(place) ?? lanes.push(place) - 1;
      numbers.set(place, number);
      byLp[lp] = number;
    }
    lane[event] = number;
  }
  return { lane, lanes };
}

interface Times {
  /** Nanoseconds. */
  readonly start: Float64Array;
  readonly duration: Uint32Array;
}

/**
 * When each event is drawn, and for how long: as long as events of its PE take, at most to the PE's next one, so that
 * none overlap. Of a PE's events with one clock reading (the clock is read for several, and files of ROSS keep it in
 * single precision) the first is drawn at that time and the others one after another behind it:
 *
 * ```
 * read   |a b c                |d           a, b, c at one time
 * drawn  |a--b--c--            |d--
 * ```
 */
function timesOf(
  { length, real, receive }: EventColumns,
  lane: Uint32Array,
  lanes: readonly Lane[],
  places: EventPlaces,
): Times {
  const pids = [...new Set(lanes.map(({ pid }) => pid))];
  const pe = Uint32Array.from(lanes, ({ pid }) => pids.indexOf(pid));
  const longest = pids.map((pid) => Math.min(2 ** 32 - 1, Math.max(1, places.longest(pid))));
  const start = new Float64Array(length);
  const duration = new Uint32Array(length);
  for (let event = 0; event < length; event++) {
    start[event] = Math.max(0, Math.round(real[event] * 1e9));
  }
  const order = byReading(start, receive);
  // For now the number of events with the same reading before.
  const reading = new Float64Array(pids.length).fill(-1);
  const count = new Uint32Array(pids.length);

  for (let k = 0; k < length; k++) {
    const event = order[k];
    const on = pe[lane[event]];
    const time = start[event];
    if (time !== reading[on]) {
      reading[on] = time;
      count[on] = 0;
    }
    duration[event] = count[on]++;
  }
  reading.fill(Infinity);
  const step = new Float64Array(pids.length);
  const after = new Float64Array(pids.length).fill(Infinity);
  for (let k = length - 1; k >= 0; k--) {
    const event = order[k];
    const on = pe[lane[event]];
    const time = start[event];
    const place = duration[event];
    if (time !== reading[on]) {
      const each = Math.floor((reading[on] - time) / (place + 1));
      step[on] = Math.max(1, Math.min(longest[on], each));
      reading[on] = time;
    }
    const drawn = time + place * step[on];
    start[event] = drawn;
    duration[event] = Math.max(0, Math.min(longest[on], after[on] - drawn));
    after[on] = drawn;
  }
  return { start, duration };
}

/** Events in the order of their readings, those of one reading in that of their virtual times: causes come first. */
function byReading(reading: Float64Array, receive: Float64Array): Uint32Array {
  const order = ascending(reading);
  for (let from = 0; from < order.length; ) {
    const time = reading[order[from]];
    let to = from + 1;
    while (to < order.length && reading[order[to]] === time) to++;
    if (to - from > 1) order.subarray(from, to).sort((a, b) => receive[a] - receive[b]);
    from = to;
  }
  return order;
}
