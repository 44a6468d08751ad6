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
const SAMPLE_EVERY = 8;
/** One turn of a scheduler in this many has its parts timed. */
export const TIMED_EVERY = 64;
const UNDOING: readonly Activity[] = ['rollback', 'cancelQueue', 'eventAbort'];
/** Where a rollback happens: its time is no part of what else goes on there. */
type Place = 'batch' | 'read' | 'gvt';

/**
 * Which of each `every` (a power of two) is timed: one, drawn at random. Every one has the same chance, the first too,
 * which runs in cold code; and nothing that comes again after a fixed number, as GVTs do, is always hit or always missed.
 */
export class Draw {
  private readonly mask: number;
  private count = 0;
  private pick = 0;
  private state: number;

  constructor(every: number, seed: number) {
    this.mask = every - 1;
    this.state = (seed * 0x9e3779b9) | 1;
  }

  next(): boolean {
    const k = this.count++ & this.mask;
    if (k === 0) {
      // Marsaglia's xorshift: no stream of the model's is touched.
      let x = this.state;
      x ^= x << 13;
      x ^= x >>> 17;
      x ^= x << 5;
      this.state = x;
      this.pick = (x >>> 8) & this.mask;
    }
    return k === this.pick;
  }
}

export class ActivityClock {
  readonly on: boolean;
  private readonly seconds: Float64Array;
  private readonly draws: readonly Draw[];
  private readonly turns: Draw;
  private readonly cost: number;
  /** Of the event that was timed last. */
  handledMs = 0;
  private queueMs = 0;
  private handleMs = 0;
  private batchMs = 0;
  /** Of events that were timed one by one since the last batch. */
  private singleMs = 0;
  private singles = 0;
  private place: Place = 'batch';
  /** Seconds in rollbacks, by place. */
  private readonly rolledBack: Record<Place, number> = { batch: 0, read: 0, gvt: 0 };
  private readSeconds = 0;
  /** When the first turn, or batch, began. */
  private begun = Number.NaN;

  /** @param seconds one total per activity, to which times are added */
  constructor(on: boolean, seconds: Float64Array) {
    this.on = on;
    this.seconds = seconds;
    this.draws = Array.from(seconds, (_, k) => new Draw(SAMPLE_EVERY, k + 1));
    this.turns = new Draw(TIMED_EVERY, seconds.length + 1);
    this.cost = on ? readCost() : 0;
  }

  /** Begins a turn; returns whether its parts are to be timed. */
  turn(): boolean {
    if (!this.on) return false;
    if (Number.isNaN(this.begun)) this.begun = now();
    return this.turns.next();
  }

  /** From here on rollbacks happen in `place`. */
  enter(place: Place): void {
    this.place = place;
  }

  /** Time now, to be given to `end`; NaN when times are not kept. */
  begin(): number {
    return this.on ? now() : Number.NaN;
  }

  /** Adds the time since `started`, `scale` times. */
  end(activity: Activity, started: number, scale = 1): void {
    if (!this.on) return;
    this.add(activity, this.since(started) * scale);
  }

  /** Adds the time since `started` in a GVT, less that of the rollbacks in it. */
  endGvt(started: number): void {
    if (!this.on) return;
    const spent = this.since(started) - this.rolledBack.gvt;
    this.rolledBack.gvt = 0;
    this.add('gvt', Math.max(0, spent));
  }

  private since(started: number): number {
    return Math.max(0, now() - started - this.cost) / 1000;
  }

  private add(activity: Activity, seconds: number): void {
    if (activity === 'networkRead') this.readSeconds += seconds;
    else this.seconds[A[activity]] += seconds;
    if (UNDOING.includes(activity)) this.rolledBack[this.place] += seconds;
  }

  /** As `end`; returns the time now, to begin the next activity. */
  lap(activity: Activity, started: number, scale = 1): number {
    const at = now();
    this.add(activity, (Math.max(0, at - started - this.cost) / 1000) * scale);
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
    const queued = Math.max(0, t2 - t0 - 2 * this.cost);
    const handled = Math.max(0, t4 - t3 - (t2 - t1));
    this.queueMs += queued;
    this.handleMs += handled;
    this.handledMs = handled;
    this.singleMs += queued + handled;
    this.singles++;
    return true;
  }

  /**
   * Adds a batch of `events` others, begun at `started`, `scale` times; events that were timed one by one before it count
   * as much as those. A turn that had no others counts with their own time, and one without any not at all: it waited.
   */
  endBatch(started: number, events: number, scale: number): void {
    if (Number.isNaN(this.begun)) this.begun = started;
    const spent = Math.max(0, now() - started - this.cost);
    this.batchMs +=
      scale * (events > 0 ? (spent * (events + this.singles)) / events : this.singleMs);
    [this.singleMs, this.singles] = [0, 0];
  }

  /**
   * Shares the time of all batches, less the rollbacks in them, between queue and handlers. Sampled events say
   * in what proportion: they run in code that is less warm, so their own times would be too long.
   */
  share(): void {
    const { seconds, rolledBack } = this;
    seconds[A.networkRead] = Math.max(0, this.readSeconds - rolledBack.read);
    const sampled = this.queueMs + this.handleMs;
    // A timed batch in which the thread lost its CPU counts many times over: no more than has passed can be true.
    const batches = Math.min(this.batchMs, now() - this.begun) / 1000;
    const total = batches - rolledBack.batch;
    if (sampled === 0 || total <= 0) return;
    seconds[A.priorityQueue] = (total * this.queueMs) / sampled;
    seconds[A.eventProcess] = (total * this.handleMs) / sampled;
  }

  /** As `begin` for one in SAMPLE_EVERY calls; NaN for the others. In a GVT, which is timed whole, for all. */
  beginSampled(activity: Activity): number {
    if (!this.on || !(this.place === 'gvt' || this.draws[A[activity]].next())) return Number.NaN;
    return now();
  }

  endSampled(activity: Activity, started: number): void {
    if (Number.isNaN(started)) return;
    this.end(activity, started, this.place === 'gvt' ? 1 : SAMPLE_EVERY);
  }
}
