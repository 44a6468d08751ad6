/**
 * What a run committed, event by event, and the memory of its LPs at the end: for `sim verify`, which
 * looks for the place where two runs differ. 24 bytes per event, so only for runs that are being examined.
 */
import { ALIGN, EXTRA, RECV, SOURCE } from './event.ts';
import type { Pe } from './pe.ts';

/** One PE's log. Plain data: it crosses threads. */
export interface CommitLog {
  /** One element per committed event, in the order of commits: receive time, priority, LPs by global id. */
  readonly times: Float64Array;
  readonly priorities: Float64Array;
  readonly sources: Int32Array;
  readonly destinations: Int32Array;
  /** One element per LP: global id, and index of its type in the model's order. */
  readonly lps: Int32Array;
  readonly types: Uint8Array;
  /** The LPs' memory, `blockWords` each in the order of `lps`; see `lp.ts`. */
  readonly memory: Int32Array;
  readonly blockWords: number;
}

/** Records one PE. It replaces the PE's `committed`, so that other runs pay nothing. */
export class CommitLogger {
  private readonly pe: Pe;
  private times = new Float64Array(1024);
  private priorities = new Float64Array(1024);
  private sources = new Int32Array(1024);
  private destinations = new Int32Array(1024);
  private count = 0;

  /** Must be created before the first event. */
  constructor(pe: Pe) {
    this.pe = pe;
    const committed = pe.committed;
    pe.committed = (h, id) => {
      committed.call(pe, h, id);
      this.add(h, id);
    };
  }

  private add(h: number, id: number): void {
    if (this.count === this.times.length) this.grow();
    const { pool, signatures } = this.pe;
    const k = this.count++;
    this.times[k] = pool.F[h + RECV];
    this.priorities[k] = pool.I[(h << 1) + EXTRA] === 0 ? 1 : signatures.priority(h);
    this.sources[k] = pool.I[(h << 1) + SOURCE];
    this.destinations[k] = id;
  }

  private grow(): void {
    const wider = <T extends Float64Array | Int32Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    const room = this.count * 2;
    this.times = wider(this.times, new Float64Array(room));
    this.priorities = wider(this.priorities, new Float64Array(room));
    this.sources = wider(this.sources, new Int32Array(room));
    this.destinations = wider(this.destinations, new Int32Array(room));
  }

  /** The log so far, with the LPs as they are now. */
  take(): CommitLog {
    const { pe, count } = this;
    const from = 2 * ALIGN;
    return {
      times: this.times.slice(0, count),
      priorities: this.priorities.slice(0, count),
      sources: this.sources.slice(0, count),
      destinations: this.destinations.slice(0, count),
      lps: pe.ids.slice(),
      types: pe.typeIndex?.slice() ?? new Uint8Array(pe.ids.length),
      memory: pe.memory.i32.slice(from, from + pe.ids.length * pe.blockSize * 2),
      blockWords: pe.blockSize * 2,
    };
  }
}
