/** Traced events as columns: who sent what to whom, when by the model's clock, and when it was handled. */
import type { RawColumn } from '../../formats/part.ts';
import { MOST_LPS } from './places.ts';

/** Columns that are read, in the order of `add`. */
export const EVENT_COLUMNS = [
  'source_lp',
  'destination_lp',
  'virtual_send_time',
  'virtual_recv_time',
  'real_time',
] as const;

const START = 4096;

export class Events {
  length = 0;
  /** LP numbers are below this. */
  lps = 0;
  source = new Uint32Array(START);
  destination = new Uint32Array(START);
  /** Virtual times. */
  send = new Float64Array(START);
  receive = new Float64Array(START);
  /** Seconds since the recording's start at which each was handled. */
  times = new Float64Array(START);

  /** @param shift seconds to add to the times */
  add(columns: readonly RawColumn[], rows: number, shift: number): void {
    this.reserve(this.length + rows);
    const at = this.length;
    const into = [this.source, this.destination, this.send, this.receive, this.times];
    for (const [k, array] of into.entries()) {
      array.set(columns[k].subarray(0, rows) as Float64Array, at);
    }
    if (shift !== 0) for (let k = at; k < at + rows; k++) this.times[k] += shift;
    let kept = at;
    for (let k = at; k < at + rows; k++) {
      const most = Math.max(this.source[k], this.destination[k]);
      // Damage: no LP.
      if (most >= MOST_LPS) continue;
      if (most >= this.lps) this.lps = most + 1;
      if (kept !== k) for (const array of into) array[kept] = array[k];
      kept++;
    }
    this.length = kept;
  }

  private reserve(rows: number): void {
    if (rows <= this.times.length) return;
    const size = Math.max(rows, 2 * this.times.length);
    const wider = <T extends Uint32Array | Float64Array>(made: T, old: T): T => {
      made.set(old);
      return made;
    };
    this.source = wider(new Uint32Array(size), this.source);
    this.destination = wider(new Uint32Array(size), this.destination);
    this.send = wider(new Float64Array(size), this.send);
    this.receive = wider(new Float64Array(size), this.receive);
    this.times = wider(new Float64Array(size), this.times);
  }
}
