/**
 * Time spent per activity. Reading the clock costs as much as handling half an event, so activities that
 * happen per event are timed once in a while and scaled up: estimates, and labelled so.
 */
import { A, type Activity } from './counters.ts';

const now = () => performance.now();

/** Cost of one clock read, in milliseconds. */
function readCost(): number {
  let least = Infinity;
  for (let k = 0; k < 200; k++) {
    const started = now();
    least = Math.min(least, now() - started);
  }
  return least;
}

/** Of activities that happen often, one in this many is timed. */
export const SAMPLE_EVERY = 8;

export class ActivityClock {
  readonly on: boolean;
  private readonly seconds: Float64Array;
  private readonly skips: Int32Array;
  private readonly cost: number;
  private queueMs = 0;
  private handleMs = 0;
  private batchMs = 0;
  /** When the first timed batch began. */
  private begun = Number.NaN;

  /** @param seconds one total per activity, to which times are added */
  constructor(on: boolean, seconds: Float64Array) {
    this.on = on;
    this.seconds = seconds;
    this.skips = new Int32Array(seconds.length);
    this.cost = on ? readCost() : 0;
  }

  /** Time now, to be given to `end`; NaN when times are not kept. */
  begin(): number {
    return this.on ? now() : Number.NaN;
  }

  /** Adds the time since `started`, `scale` times. */
  end(activity: Activity, started: number, scale = 1): void {
    if (!this.on) return;
    this.seconds[A[activity]] += (Math.max(0, now() - started - this.cost) / 1000) * scale;
  }

  /** As `end`; returns the time now, to begin the next activity. */
  lap(activity: Activity, started: number, scale = 1): number {
    const at = now();
    this.seconds[A[activity]] += (Math.max(0, at - started - this.cost) / 1000) * scale;
    return at;
  }

  /**
   * Takes, handles and times one event: `take` takes it from the queue (0: there is none), `putBack` puts it
   * back, `handle` handles it. Putting it back and taking it again stands for the push of the event that
   * it sends. Returns whether there was one.
   */
  sampleEvent(
    take: () => number,
    putBack: (h: number) => void,
    handle: (h: number) => void,
  ): boolean {
    const t0 = now();
    const h = take();
    if (h === 0) return false;
    const t1 = now();
    putBack(h);
    const t2 = now();
    take();
    const t3 = now();
    handle(h);
    const t4 = now();
    this.queueMs += Math.max(0, t2 - t0 - 2 * this.cost);
    this.handleMs += Math.max(0, t4 - t3 - (t2 - t1));
    return true;
  }

  /** Adds a batch of events, begun at `started`, `scale` times. */
  endBatch(started: number, scale: number): void {
    if (Number.isNaN(this.begun)) this.begun = started;
    this.batchMs += Math.max(0, now() - started - this.cost) * scale;
  }

  /**
   * Shares the time of all batches, less the rollbacks in them, between queue and handlers. Sampled events say
   * in what proportion: they run in code that is less warm, so their own times would be too long.
   */
  share(): void {
    const { seconds } = this;
    const sampled = this.queueMs + this.handleMs;
    // A timed batch in which the thread lost its CPU counts many times over: no more than has passed can be true.
    const batches = Math.min(this.batchMs, now() - this.begun) / 1000;
    const total = batches - seconds[A.rollback] - seconds[A.eventAbort];
    if (sampled === 0 || total <= 0) return;
    seconds[A.priorityQueue] = (total * this.queueMs) / sampled;
    seconds[A.eventProcess] = (total * this.handleMs) / sampled;
  }

  /** As `begin` for one in SAMPLE_EVERY calls; NaN for the others. */
  beginSampled(activity: Activity): number {
    if (!this.on || (this.skips[A[activity]]++ & (SAMPLE_EVERY - 1)) !== 0) return Number.NaN;
    return now();
  }

  endSampled(activity: Activity, started: number): void {
    if (!Number.isNaN(started)) this.end(activity, started, SAMPLE_EVERY);
  }
}
