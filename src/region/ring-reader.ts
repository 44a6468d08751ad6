/** The events that threads leave in their rings on a region page, in the order in which they wrote them. */
import { E, EVENT_BYTES, H, slotRooms, T, THREAD_BYTES } from '../model/region-layout.ts';
import { SECOND_NS } from '../model/units.ts';

/** One event; the object is reused from call to call. */
export interface PageEvent {
  /** Index of the thread's slot. */
  thread: number;
  /** Seconds since the page's time zero. */
  time: number;
  /** EVENT_* of model/region-layout.ts. */
  code: number;
  /** Hash of the region, or number of the epoch. */
  value: number;
  /** Number of regions that the thread is in, this one included: 1 for the outermost. */
  depth: number;
  /** Kernel id of the thread. */
  tid: number;
}

/** A page, or a copy of one that `fetch` brings up to date part by part. */
interface PageMemory {
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
  readonly copied: boolean;
}

export class RingReader {
  /** Events that were overwritten before they were read. */
  lost = 0;
  private readonly memory: PageMemory;
  private readonly fetch: (at: number, length: number) => void;
  /** Events read so far, of each thread; wraps as the writers' counts do. */
  private readonly tails: Uint32Array;
  private readonly event: PageEvent = { thread: 0, time: 0, code: 0, value: 0, depth: 0, tid: 0 };

  constructor(memory: PageMemory, fetch: (at: number, length: number) => void) {
    this.memory = memory;
    this.fetch = fetch;
    this.tails = new Uint32Array(memory.u32[H.threadCapacity >> 2]);
  }

  private headOf(thread: number): number {
    const { u32 } = this.memory;
    const at = u32[H.threads >> 2] + thread * THREAD_BYTES + T.ringHead;
    this.fetch(at, 4);
    return Atomics.load(u32, at >> 2);
  }

  /** Events of thread slot `t` that were not yet read. */
  read(t: number, visit: (event: PageEvent) => void): void {
    const { tails } = this;
    const { u32, copied } = this.memory;
    const head = this.headOf(t);
    if (head === tails[t]) return;
    const { ring, ringCapacity: capacity } = slotRooms(u32, t);
    this.fetch(ring, capacity * EVENT_BYTES);
    // Of a copy, what the writer had reached when it was made; of a mapping, asked again for each event.
    const reachedByCopy = copied ? this.headOf(t) : 0;
    while (tails[t] !== head) {
      this.load(t, ring + (tails[t] & (capacity - 1)) * EVENT_BYTES);
      const reached = copied ? reachedByCopy : this.headOf(t);
      // The place that the writer has reached may be under its pen: what was read there is not to be trusted.
      const late = ((reached - tails[t]) >>> 0) - (capacity - 1);
      if (late > 0) {
        const skip = Math.min(late, (head - tails[t]) >>> 0);
        this.lost += skip;
        tails[t] += skip;
        continue;
      }
      tails[t]++;
      visit(this.event);
    }
  }

  private load(thread: number, at: number): void {
    const { event } = this;
    const { u32, f64 } = this.memory;
    event.thread = thread;
    event.time = f64[(at + E.time) >> 3] / SECOND_NS;
    event.code = u32[(at + E.code) >> 2];
    event.value = u32[(at + E.value) >> 2];
    event.depth = u32[(at + E.depth) >> 2];
    event.tid = u32[(at + E.tid) >> 2];
  }
}
