/**
 * Time spent per activity. Reading the clock costs as much as handling half an event, so activities that happen per event
 * are timed only sometimes; these times are estimates and labelled as such. The total time of a PE's turns is measured; only its
 * division into activities is sampled.
 */
import { monotonicMs } from '../os/run-clock.ts';
import { A, type Activity } from './counters.ts';

/** Cost of one clock read, in milliseconds. */
function readCost(clock: () => number): number {
  let least = Infinity;
  for (let k = 0; k < 200; k++) {
    const started = clock();
    least = Math.min(least, clock() - started);
  }
  return least;
}

/** Of frequent activities, one in this many is timed. */
const SAMPLE_EVERY = 8;
/** One turn of a scheduler in this many has its parts timed. */
export const TIMED_EVERY = 64;
/** Reading or handing over counts as at most this many times its usual duration; the usual duration at the start, and its minimum, in milliseconds. */
const SURPRISE = 32;
const USUAL_MS = 0.002;
const LEAST_MS = 0.0005;
const STEP = 1.25;
const UNDOING: readonly Activity[] = ['rollback', 'cancelQueue', 'eventAbort'];
/** The activity in which a rollback happens; the rollback's time is not part of it. */
type Place = 'batch' | 'read' | 'gvt';

/** Milliseconds of turns and of their parts. */
interface TurnTimes {
  read: number;
  batch: number;
  other: number;
  whole: number;
}

/**
 * Chooses which one of each `every` (a power of two) calls is timed: one at random. Each has the same chance, including the first,
 * which runs in cold code, and calls that recur at a fixed distance, such as GVTs, are neither always hit nor always missed.
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
      // Marsaglia's xorshift, because the model's random streams must not be used.
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
  readonly now: () => number;
  /** Of the event that was timed last. */
  handledMs = 0;
  private queueMs = 0;
  private handleMs = 0;
  private place: Place = 'batch';
  /** Seconds in rollbacks, by place. */
  private readonly rolledBack: Record<Place, number> = { batch: 0, read: 0, gvt: 0 };
  /** Events timed one by one since the last batch: their own time, and the time including the timing. */
  private singleMs = 0;
  private singleWall = 0;
  private singles = 0;
  /** Whether the current turn is timed, when it began, and the time spent apart until then. */
  private isTimed = false;
  private turnFrom = 0;
  private turnApart = 0;
  /** Of the current timed turn, and of all timed turns that had work. */
  private readonly turnParts: TurnTimes = { read: 0, batch: 0, other: 0, whole: 0 };
  private readonly timedTurns: TurnTimes = { read: 0, batch: 0, other: 0, whole: 0 };
  /** Estimated medians of the time to read messages, and to hand them over, in timed turns. */
  private readonly usual = { read: USUAL_MS, other: USUAL_MS };
  /** Time of batches of which all are timed: of runs without turns. */
  private batchMs = 0;
  /** Time of the PE up to `from`; NaN while its thread does other work. */
  private runMs = 0;
  private from = Number.NaN;
  /** Time that is not part of turns (GVTs, commits, waiting), and when the current such stretch began, NaN for none. */
  private apartMs = 0;
  private apartFrom = Number.NaN;
  /** End of the last idle turn if no turn has followed yet, and the time spent apart until then. */
  private restedAt = Number.NaN;
  private restedApart = 0;

  /**
   * @param seconds one total per activity, to which times are added
   * @param clock milliseconds
   */
  constructor(on: boolean, seconds: Float64Array, clock: () => number = monotonicMs) {
    this.on = on;
    this.seconds = seconds;
    this.now = clock;
    this.draws = Array.from(seconds, (_, k) => new Draw(SAMPLE_EVERY, k + 1));
    this.turns = new Draw(TIMED_EVERY, seconds.length + 1);
    this.cost = on ? readCost(clock) : 0;
  }

  /** The PE's thread begins to work for the PE. */
  resume(): void {
    if (this.on) this.from = this.now();
  }

  /** The PE's thread stops working for the PE. */
  pause(): void {
    if (!this.on || Number.isNaN(this.from)) return;
    this.endTurn();
    this.runMs += this.now() - this.from;
    this.from = Number.NaN;
    this.restedAt = Number.NaN;
  }

  /** Begins a turn; returns whether its parts are to be timed. */
  turn(): boolean {
    if (!this.on) return false;
    if (this.isTimed) this.endTurn();
    this.isTimed = this.turns.next();
    if (!this.isTimed) return false;
    const { turnParts } = this;
    turnParts.read = turnParts.batch = turnParts.other = turnParts.whole = 0;
    this.turnApart = this.apartMs;
    this.turnFrom = this.now();
    return true;
  }

  /** Ends the current timed turn: called at the beginning of the next one. */
  private endTurn(): void {
    if (!this.isTimed) return;
    this.isTimed = false;
    const { turnParts, timedTurns } = this;
    const apart = this.apartMs - this.turnApart;
    const read = this.calm('read');
    const other = this.calm('other');
    const surprise = turnParts.read + turnParts.other - read - other;
    const whole = this.now() - this.turnFrom - apart + turnParts.whole - surprise;
    timedTurns.whole += Math.max(0, whole);
    timedTurns.read += read;
    timedTurns.batch += turnParts.batch;
    timedTurns.other += other;
  }

  /** A part of the timed turn. If it is far longer than usual, the thread lost its CPU: the excess belongs to the whole turn. */
  private calm(part: 'read' | 'other'): number {
    const { usual } = this;
    const ms = Math.min(this.turnParts[part], SURPRISE * usual[part]);
    // Steps of fixed size towards the median, so that outliers do not move it further than other values.
    usual[part] = Math.max(LEAST_MS, usual[part] * (ms > usual[part] ? STEP : 1 / STEP));
    return ms;
  }

  /** Ends a part of a timed turn that began at `started`; returns the time now. */
  lap(part: 'read' | 'other', started: number): number {
    const at = this.now();
    this.turnParts[part] += Math.max(0, at - started - this.cost);
    return at;
  }

  /** The turn had work to do. */
  busy(): void {
    this.restedAt = Number.NaN;
  }

  /** The turn had nothing to do: it and the idle turns before it, since the last with work, are waiting time. */
  rest(): void {
    if (!this.on) return;
    const at = this.now();
    this.isTimed = false;
    if (!Number.isNaN(this.restedAt)) this.apartMs = this.restedApart + at - this.restedAt;
    this.apartFrom = at;
  }

  /** The PE has waited. */
  rested(): void {
    if (!this.on) return;
    this.endApart();
    this.restedAt = this.now();
    this.restedApart = this.apartMs;
  }

  /** Rollbacks from now on belong to `place`. */
  enter(place: Place): void {
    this.place = place;
  }

  /** Time now, to be given to `end`; NaN when times are not kept. */
  begin(): number {
    return this.on ? this.now() : Number.NaN;
  }

  /** As `begin`, for work that is not part of a turn: until `endApart`. */
  beginApart(): number {
    if (this.on) this.apartFrom = this.now();
    return this.apartFrom;
  }

  endApart(): void {
    if (!this.on) return;
    this.apartMs += this.now() - this.apartFrom;
    this.apartFrom = Number.NaN;
  }

  /** Adds the time since `started`, `scale` times. */
  end(activity: Activity, started: number, scale = 1): void {
    if (!this.on) return;
    const seconds = this.since(started) * scale;
    this.seconds[A[activity]] += seconds;
    if (UNDOING.includes(activity)) this.rolledBack[this.place] += seconds;
  }

  /** Adds the time since `started` in a GVT, less that of the rollbacks in it. */
  endGvt(started: number): void {
    if (!this.on) return;
    const spent = this.since(started) - this.rolledBack.gvt;
    this.rolledBack.gvt = 0;
    this.seconds[A.gvt] += Math.max(0, spent);
    this.endApart();
  }

  private since(started: number): number {
    return Math.max(0, this.now() - started - this.cost) / 1000;
  }

  /**
   * Takes, handles and times one event: `take` takes it from the queue (0 for none), `putBack` puts it
   * back, `handle` handles it. Putting it back and taking it again stands for the push of the event that
   * it sends. Returns whether there was one.
   */
  sampleEvent(
    take: () => number,
    putBack: (h: number) => void,
    handle: (h: number) => void,
  ): boolean {
    const { now } = this;
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
    this.singleWall += t4 - t0;
    this.singles++;
    return true;
  }

  /**
   * Ends a batch of `events` others that began at `started`. Events that were timed one by one before it count as much as
   * these. A batch of only such events counts with their own time, and an empty batch counts as waiting.
   */
  endBatch(started: number, events: number): void {
    const spent = Math.max(0, this.now() - started - this.cost);
    const batch = events > 0 ? (spent * (events + this.singles)) / events : this.singleMs;
    if (this.isTimed) {
      this.turnParts.batch += batch;
      this.turnParts.whole += batch - spent - this.singleWall;
    } else this.batchMs += batch;
    [this.singleMs, this.singleWall, this.singles] = [0, 0, 0];
  }

  /**
   * Divides the time of all turns among their parts in the proportions of the timed turns, and the time of all batches, less the
   * rollbacks in them, between queue and handlers. Only proportions are sampled: a turn in which the thread lost its CPU
   * counts once, timed or not, and PEs that do the same have the same times. Sampled events give the proportion of queue
   * and handlers only, because they run in colder code, so that their own times would be too long.
   */
  share(): void {
    const { seconds, rolledBack, timedTurns: timed } = this;
    let batches = this.batchMs / 1000;
    if (timed.whole > 0) {
      const until = Number.isNaN(this.apartFrom) ? this.now() : this.apartFrom;
      const going = Number.isNaN(this.from) ? 0 : until - this.from;
      const turns = Math.max(0, this.runMs + going - this.apartMs) / 1000;
      const part = (ms: number) => (turns * ms) / timed.whole;
      batches += part(timed.batch);
      seconds[A.networkOther] = part(timed.other);
      seconds[A.networkRead] = Math.max(0, part(timed.read) - rolledBack.read);
    }
    const sampled = this.queueMs + this.handleMs;
    const total = batches - rolledBack.batch;
    if (sampled === 0 || total <= 0) return;
    seconds[A.priorityQueue] = (total * this.queueMs) / sampled;
    seconds[A.eventProcess] = (total * this.handleMs) / sampled;
  }

  /** As `begin` for one in SAMPLE_EVERY calls; NaN for the others. In a GVT, which is timed whole, for all. */
  beginSampled(activity: Activity): number {
    if (!this.on || !(this.place === 'gvt' || this.draws[A[activity]].next())) return Number.NaN;
    return this.now();
  }

  endSampled(activity: Activity, started: number): void {
    if (Number.isNaN(started)) return;
    this.end(activity, started, this.place === 'gvt' ? 1 : SAMPLE_EVERY);
  }
}
