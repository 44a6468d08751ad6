/** Where traced events are drawn: on which thread, when, and for how long. */
import {
  type EventColumns,
  type EventPlaces,
  sharedDoubles,
  sharedWords,
} from './event-columns.ts';
import { ascending } from './order.ts';
import type { TraceThread } from './writer.ts';

interface EventLanes {
  /** By event. */
  readonly lane: Uint32Array;
  readonly lanes: readonly TraceThread[];
}

export function lanesOf({ length, destination }: EventColumns, places: EventPlaces): EventLanes {
  const lane = sharedWords(length);
  const lanes: TraceThread[] = [];
  const numbers = new Map<TraceThread, number>();
  const byLp = new Map<number, number>();
  // Of LPs with small numbers, which are most: the lane's number plus 1.
  const small = new Uint32Array(SMALL);
  for (let event = 0; event < length; event++) {
    const lp = destination[event];
    let number = lp < SMALL ? small[lp] - 1 : (byLp.get(lp) ?? -1);
    if (number < 0) {
      const place = places.laneOf(lp);
      number = numbers.get(place) ?? lanes.push(place) - 1;
      numbers.set(place, number);
      if (lp < SMALL) small[lp] = number + 1;
      else byLp.set(lp, number);
    }
    lane[event] = number;
  }
  return { lane, lanes };
}

const SMALL = 1 << 20;

interface EventTimes {
  /** Nanoseconds. */
  readonly start: Float64Array;
  readonly duration: Uint32Array;
}

/**
 * When each event is drawn, and for how long: as long as events of its PE usually take, but at most until the PE's next one, so
 * none overlap. Of a PE's events with one clock reading (the clock is read for several, and files of ROSS keep it in
 * single precision) the first is drawn at that time and the others one after another after it:
 *
 * ```
 * read   |a b c                |d           a, b, c at one time
 * drawn  |a--b--c--            |d--
 * ```
 */
export function timesOf(
  { length, real, receive }: EventColumns,
  { lane, lanes }: EventLanes,
  places: EventPlaces,
): EventTimes {
  const pids = [...new Set(lanes.map(({ pid }) => pid))];
  const pe = Uint32Array.from(lanes, ({ pid }) => pids.indexOf(pid));
  const longest = pids.map((pid) => Math.min(2 ** 32 - 1, Math.max(1, places.longest(pid))));
  const start = sharedDoubles(length);
  const duration = sharedWords(length);
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
