/** Merges streams of trace events, each in the order of time, into one. */
import type { TraceWriter } from './writer.ts';

export interface TraceStream {
  /** Time of what comes next, ns; Infinity at the end. */
  readonly next: number;
  /** Writes what lies at or before `until`; stops early if the writer is full. */
  run(out: TraceWriter, until: number): void;
}

/** The time of what comes next in all streams, ns; Infinity at the end. */
export function nextOf(streams: readonly TraceStream[]): number {
  let least = Infinity;
  for (const { next } of streams) if (next < least) least = next;
  return least;
}

/** Writes what lies at or before `until` (ns), up to where the writer is full. */
export function mergeInto(
  out: TraceWriter,
  streams: readonly TraceStream[],
  until = Infinity,
): void {
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
    if (first === null || least > until) return;
    first.run(out, Math.min(second, until));
  }
}
