/** The trace of events in a window: how many where, and single ones with what caused them. Runs in the server. */
import { STEP, type Steps, sorted } from '../steps.ts';
import type { Events } from './events.ts';
import { byNumbers, isWithin, type Level } from './levels.ts';
import type { PlacesByLp } from './places.ts';

interface EventAsk {
  readonly level: Level;
  /** Path that contains the handling entity; '': all. */
  readonly within: string;
  /** Path of the sender; '': all. */
  readonly sender: string;
  /** Seconds. */
  readonly from: number;
  readonly to: number;
}

/** Events handled, by entity and bin. */
export interface EventDensity {
  readonly level: Level;
  readonly rows: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly bins: number;
  /** Row by row. */
  readonly counts: Float32Array;
  readonly total: number;
  /** Of the whole trace. */
  readonly all: number;
}

export interface SingleEvent {
  /** Place in the trace. */
  readonly at: number;
  readonly source: number;
  readonly destination: number;
  /** Paths of the LPs. */
  readonly sender: string;
  readonly handler: string;
  /** Virtual times. */
  readonly send: number;
  readonly receive: number;
  /** Seconds at which it was handled. */
  readonly t: number;
  /** Seconds at which the event that sent it was last handled before; null if that is not in the trace. */
  readonly sentAt: number | null;
  /** Seconds at which the same event was handled again, because this time was undone. Null: not again. */
  readonly againAt: number | null;
}

/** By LP: 1 where it is within a path. */
function* membership({ lps }: Events, places: PlacesByLp, within: string): Steps<Uint8Array> {
  const isIn = new Uint8Array(lps).fill(within === '' ? 1 : 0);
  if (within === '') return isIn;
  for (let lp = 0; lp < lps; lp++) {
    if (lp % STEP === 0) yield STEP;
    if (isWithin(places.pathOf(lp, 'lp'), within)) isIn[lp] = 1;
  }
  return isIn;
}

/** Places in the trace of the requested events. */
function* chosen(events: Events, places: PlacesByLp, ask: EventAsk): Steps<number[]> {
  const { from, to } = ask;
  const isHandler = yield* membership(events, places, ask.within);
  const isSender = yield* membership(events, places, ask.sender);
  const { times, source, destination, length } = events;
  const rows: number[] = [];
  for (let k = 0; k < length; k++) {
    if (k % STEP === 0) yield STEP;
    const t = times[k];
    if (t >= from && t < to && (isHandler[destination[k]] & isSender[source[k]]) === 1)
      rows.push(k);
  }
  return rows;
}

export function* densityOf(
  events: Events,
  places: PlacesByLp,
  ask: EventAsk & { readonly bins: number },
  fits: (cells: number) => void = () => {},
): Steps<EventDensity> {
  const { level, from, to, bins } = ask;
  const { times, source, destination, length, lps } = events;
  const isHandler = yield* membership(events, places, ask.within);
  const isSender = yield* membership(events, places, ask.sender);
  const isThere = new Uint8Array(lps);
  for (let k = 0; k < length; k++) {
    if (k % STEP === 0) yield STEP;
    const t = times[k];
    const lp = destination[k];
    if (t >= from && t < to) isThere[lp] |= isHandler[lp] & isSender[source[k]];
  }
  const paths: string[] = [];
  for (let lp = 0; lp < lps; lp++) {
    if (lp % STEP === 0) yield STEP;
    paths.push(isThere[lp] === 1 ? places.pathOf(lp, level) : '');
  }
  const rows = yield* sorted(
    [...new Set(paths)].filter((path) => path !== ''),
    byNumbers,
  );
  const place = new Map(rows.map((path, k) => [path, k]));
  const rowOf = Int32Array.from(paths, (path) => place.get(path) ?? -1);
  fits(rows.length * bins);
  const counts = new Float32Array(rows.length * bins);
  const scale = bins / (to - from);
  let total = 0;
  for (let k = 0; k < length; k++) {
    if (k % STEP === 0) yield STEP;
    const t = times[k];
    const row = rowOf[destination[k]];
    if (t < from || t >= to || row < 0 || isSender[source[k]] === 0) continue;
    counts[row * bins + Math.min(bins - 1, Math.floor((t - from) * scale))]++;
    total++;
  }
  return { level, rows, from, to, bins, counts, total, all: length };
}

/** What is searched for among all events, by handling LP and virtual time. */
class Wanted<T> {
  private readonly byLp = new Map<number, Map<number, T[]>>();

  add(lp: number, time: number, one: T): void {
    let byTime = this.byLp.get(lp);
    if (byTime === undefined) {
      byTime = new Map();
      this.byLp.set(lp, byTime);
    }
    const there = byTime.get(time);
    if (there === undefined) byTime.set(time, [one]);
    else there.push(one);
  }

  get(lp: number, time: number): readonly T[] {
    return this.byLp.get(lp)?.get(time) ?? [];
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Single events in the order of time; the first `most`. */
export function* listOf(
  events: Events,
  places: PlacesByLp,
  ask: EventAsk,
  most: number,
): Steps<{ readonly events: SingleEvent[]; readonly total: number }> {
  const { source, destination, send, receive, times } = events;
  const rows = yield* chosen(events, places, ask);
  const first = yield* sorted(rows, (a, b) => times[a] - times[b] || a - b, most);
  const list = first.map(
    (at): Mutable<SingleEvent> => ({
      at,
      source: source[at],
      destination: destination[at],
      sender: places.pathOf(source[at], 'lp'),
      handler: places.pathOf(destination[at], 'lp'),
      send: send[at],
      receive: receive[at],
      t: times[at],
      sentAt: null,
      againAt: null,
    }),
  );
  const causes = new Wanted<Mutable<SingleEvent>>();
  const selves = new Wanted<Mutable<SingleEvent>>();
  for (const one of list) {
    // What an LP sends, it sends while it handles an event of that virtual time.
    causes.add(one.source, one.send, one);
    selves.add(one.destination, one.receive, one);
  }
  for (let k = 0; k < events.length; k++) {
    if (k % STEP === 0) yield STEP;
    const t = times[k];
    for (const one of causes.get(destination[k], receive[k])) {
      if (k !== one.at && t <= one.t && !(one.sentAt !== null && one.sentAt >= t)) one.sentAt = t;
    }
    for (const one of selves.get(destination[k], receive[k])) {
      const same = source[k] === one.source && send[k] === one.send;
      if (same && t > one.t && !(one.againAt !== null && one.againAt <= t)) one.againAt = t;
    }
  }
  return { events: list, total: rows.length };
}
