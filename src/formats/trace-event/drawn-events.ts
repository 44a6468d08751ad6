/** Traced events, placed and in order: all that threads need to write them. */
import {
  type EventColumns,
  type EventPlaces,
  sharedDoubles,
  sharedWords,
} from './event-columns.ts';
import { type EventLinks, NONE, noLinks } from './event-links.ts';
import { lanesOf, timesOf } from './event-times.ts';
import { ascending } from './order.ts';

/** Arrays are in shared memory. */
export interface DrawnEvents {
  readonly columns: EventColumns;
  /** By event: the number of its lane. */
  readonly lane: Uint32Array;
  readonly lanes: readonly { readonly pid: number; readonly tid: number }[];
  /** Nanoseconds. */
  readonly start: Float64Array;
  readonly duration: Uint32Array;
  /** Events in the order of their times. */
  readonly order: Uint32Array;
  /** Empty until `link` has filled them in. */
  readonly links: EventLinks;
}

export function drawn(columns: EventColumns, places: EventPlaces): DrawnEvents {
  const lanes = lanesOf(columns, places);
  const times = timesOf(columns, lanes, places);
  return {
    columns,
    lane: lanes.lane,
    lanes: lanes.lanes.map(({ pid, tid }) => ({ pid, tid })),
    ...times,
    order: ascending(times.start),
    links: noLinks(columns.length),
  };
}

/** Events of several recordings, with their links, as one. */
export function joined(all: readonly DrawnEvents[]): DrawnEvents {
  if (all.length === 1) return all[0];
  let length = 0;
  const firsts = all.map(({ columns }) => {
    const first = length;
    length += columns.length;
    return first;
  });
  const words = (of: (one: DrawnEvents, first: number) => Uint32Array): Uint32Array => {
    const array = sharedWords(length);
    for (const [k, one] of all.entries()) array.set(of(one, firsts[k]), firsts[k]);
    return array;
  };
  const doubles = (of: (one: DrawnEvents) => Float64Array): Float64Array => {
    const array = sharedDoubles(length);
    for (const [k, one] of all.entries()) array.set(of(one), firsts[k]);
    return array;
  };
  const lanes: { pid: number; tid: number }[] = [];
  const lane = words((one) => {
    const first = lanes.length;
    lanes.push(...one.lanes);
    return one.lane.map((number) => number + first);
  });
  const moved = (events: Uint32Array, by: number) =>
    events.map((event) => (event === NONE ? NONE : event + by));
  const start = doubles((one) => one.start);
  return {
    columns: {
      length,
      source: words(({ columns }) => columns.source),
      destination: words(({ columns }) => columns.destination),
      send: doubles(({ columns }) => columns.send),
      receive: doubles(({ columns }) => columns.receive),
      real: doubles(({ columns }) => columns.real),
    },
    lane,
    lanes,
    start,
    duration: words(({ duration }) => duration),
    order: ascending(start),
    links: {
      sent: words(({ links }, first) => moved(links.sent, first)),
      before: words(({ links }, first) => moved(links.before, first)),
    },
  };
}
