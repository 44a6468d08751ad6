/**
 * A trace cut into blocks that can be written independently: a stretch of traced events, and what lies between them (counters,
 * rollbacks, regions), which is written beforehand, since it is little.
 *
 * ```
 * events    from |---------------|-------|------------| to
 * between               cut 0 ^   cut 1 ^
 * ```
 */
import type { DrawnEvents } from './drawn-events.ts';
import { mergeInto, nextOf, type TraceStream } from './merge.ts';
import type { TraceWriter } from './writer.ts';

export interface EventBlock {
  /** Places in the order of events; `to` is after the last. */
  readonly from: number;
  readonly to: number;
  /** What lies between: JSON as UTF-8. */
  readonly between: Uint8Array;
  /** By cut: the place of the event before which it lies, and the end of its bytes in `between`. */
  readonly cuts: readonly number[];
  readonly ends: readonly number[];
}

/** Events of a block: with their arrows 0.6 MB. */
const EVENTS = 2048;

/** Bytes between events after which a block ends. */
const MOST_BETWEEN_BYTES = 1 << 19;

/** @param out gets what lies between; it may hold what comes before all events */
export function* blocksOf(
  events: DrawnEvents | null,
  streams: readonly TraceStream[],
  out: TraceWriter,
): Generator<EventBlock> {
  const order = events?.order ?? new Uint32Array(0);
  const start = events?.start ?? new Float64Array(0);
  const timeAt = (place: number): number => (place < order.length ? start[order[place]] : Infinity);
  let from = 0;
  for (;;) {
    const most = Math.min(order.length, from + EVENTS);
    const cuts: number[] = [];
    const parts: Buffer[] = [];
    const ends: number[] = [];
    let bytes = 0;
    const cut = (place: number): void => {
      const part = Buffer.from(out.take());
      cuts.push(place);
      parts.push(part);
      bytes += part.length;
      ends.push(bytes);
    };
    let place = from;
    if (!out.empty) cut(place);
    while (bytes < MOST_BETWEEN_BYTES) {
      const next = nextOf(streams);
      if (next === Infinity || next >= timeAt(most)) break;
      while (place < most && timeAt(place) <= next) place++;
      // What lies at the time of the next event may be before or after it.
      mergeInto(out, streams, timeAt(place));
      cut(place);
    }
    const to = bytes < MOST_BETWEEN_BYTES ? most : place;
    if (to === from && bytes === 0) return;
    yield { from, to, between: Buffer.concat(parts), cuts, ends };
    from = to;
  }
}
