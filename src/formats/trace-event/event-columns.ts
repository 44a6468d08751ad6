/** Traced events as columns in shared memory, so that several threads can work on them. */
import type { TraceThread } from './writer.ts';

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
  laneOf(lp: number): TraceThread;
  /** Most nanoseconds that an event takes on a PE, so that idle time between events is visible. */
  longest(pid: number): number;
}

export const sharedDoubles = (length: number): Float64Array =>
  new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));

export const sharedWords = (length: number): Uint32Array =>
  new Uint32Array(new SharedArrayBuffer(length * Uint32Array.BYTES_PER_ELEMENT));
