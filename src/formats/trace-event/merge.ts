/** Streams of trace events, each in the order of time, as one. */
import type { TraceWriter } from './writer.ts';

export interface TraceStream {
  /** Time of what comes next, ns; Infinity at the end. */
  readonly next: number;
  /** Writes what lies at or before `until`; stops early where the writer is full. */
  run(out: TraceWriter, until: number): void;
}

/** Writes until all streams have ended or the writer is full. True at the end. */
export function mergeInto(out: TraceWriter, streams: readonly TraceStream[]): boolean {
  while (!out.full) {
    let first: TraceStream | null = null;
    let least = Infinity;
    let second = Infinity;
    for (const stream of streams) {
      const { next } = stream;
      if (next < least) {
        second = least;
        least = next;
        first = stream;
      } else if (next < second) second = next;
    }
    if (first === null) return true;
    first.run(out, second);
  }
  return false;
}
