/** Writes blocks of a trace: traced events as slices, with the ends and beginnings of their arrows, and what lies between. */
import type { EventBlock } from './blocks.ts';
import type { DrawnEvents } from './drawn-events.ts';
import {
  BYTES,
  FULL_BYTES,
  piecesOf,
  putDecimal,
  putInteger,
  putMicros,
  putPiece,
  putWord,
  wordOf,
} from './event-bytes.ts';
import { NONE } from './event-links.ts';

/** Takes bytes, which are valid during the call. */
type TakeBytes = (bytes: Uint8Array) => void;

/** Beginnings of records of a lane, in this order; records begin with what parts them from the one before. */
const headsOf = ({ pid, tid }: { readonly pid: number; readonly tid: number }) => {
  const place = `,"pid":${pid},"tid":${tid},"ts":`;
  return [
    `,\n{"ph":"X","cat":"event"${place}`,
    `,\n{"ph":"f","bp":"e","cat":"send","name":"send"${place}`,
    `,\n{"ph":"s","cat":"send","name":"send"${place}`,
  ];
};
const HEADS = 3;

// Texts between, cut into words.
const DURATION = wordOf(',"dur":');
const NAME = wordOf(',"name":');
const LP = wordOf('"LP ');
const ARGS = wordOf('","args"');
const FROM = wordOf(':{"from"');
const COLON = wordOf(':');
const SEND = wordOf(',"send":');
const RECEIVE = wordOf(',"recv":');
const ARGS_END = wordOf('}}');
const ID = wordOf(',"id":');
const END = wordOf('}');

/** Writes events from `from` to before `to`, places in their order, from byte `at` of the thread's block; returns the place after. */
type WriteEvents = (from: number, to: number, at: number, take: TakeBytes) => number;

function eventsWriter(events: DrawnEvents): WriteEvents {
  const { columns, lane, start, duration, order, links } = events;
  const { source, destination, send, receive } = columns;
  const { sent, before } = links;
  const heads = piecesOf(events.lanes.flatMap(headsOf));
  return (from, to, first, take) => {
    let at = first;
    for (let k = from; k < to; k++) {
      const event = order[k];
      const time = start[event];
      const head = lane[event] * HEADS;
      at = putMicros(putPiece(at, heads, head), time);
      at = putMicros(putWord(at, DURATION, 7), duration[event]);
      at = putWord(putWord(at, NAME, 8), LP, 4);
      at = putInteger(at, destination[event]);
      at = putWord(putWord(putWord(at, ARGS, 8), FROM, 8), COLON, 1);
      at = putInteger(at, source[event]);
      at = putDecimal(putWord(at, SEND, 8), send[event]);
      at = putDecimal(putWord(at, RECEIVE, 8), receive[event]);
      at = putWord(at, ARGS_END, 2);
      if (before[event] !== event) {
        at = putMicros(putPiece(at, heads, head + 1), time);
        at = putWord(putInteger(putWord(at, ID, 6), event), END, 1);
      }
      for (let arrow = sent[event]; arrow !== NONE; arrow = before[arrow]) {
        at = putMicros(putPiece(at, heads, head + 2), time);
        at = putWord(putInteger(putWord(at, ID, 6), arrow), END, 1);
        if (at >= FULL_BYTES) {
          take(BYTES.subarray(0, at));
          at = 0;
        }
      }
      if (at >= FULL_BYTES) {
        take(BYTES.subarray(0, at));
        at = 0;
      }
    }
    return at;
  };
}

/** @param events none: there are only blocks without events */
export function blockWriter(
  events: DrawnEvents | null,
): (block: EventBlock, take: TakeBytes) => void {
  const write: WriteEvents = events === null ? (_from, _to, at) => at : eventsWriter(events);
  return ({ from, to, between, cuts, ends }, take) => {
    let at = 0;
    let place = from;
    let written = 0;
    for (const [k, cut] of cuts.entries()) {
      at = write(place, cut, at, take);
      const bytes = between.subarray(written, ends[k]);
      if (at + bytes.length > FULL_BYTES) {
        take(BYTES.subarray(0, at));
        at = 0;
        take(bytes);
      } else {
        BYTES.set(bytes, at);
        at += bytes.length;
      }
      place = cut;
      written = ends[k];
    }
    at = write(place, to, at, take);
    if (at > 0) take(BYTES.subarray(0, at));
  };
}
