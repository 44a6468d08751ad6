/**
 * When to sample: at multiples of the period on the monotonic clock, counted from the first sample. A late sample does not delay
 * the following ones: the next interval is shorter. Moments that passed without a sample are counted as missed.
 */

/** Classes of lateness, in µs: below 1, 2, 4, … */
const CLASSES = 32;

/** The class of `micros`, whose upper end is the next power of two. */
const classOf = (micros: number) =>
  micros <= 1 ? 0 : 32 - Math.clz32(Math.min(2 ** (CLASSES - 1), Math.ceil(micros)) - 1);

export interface Punctuality {
  readonly samples: number;
  /** Moments that passed while an earlier sample was taken, or the machine was busy. */
  readonly missed: number;
  /** Delay in seconds after the moment: mean, 99th percentile (rounded up to a power of two) and maximum. */
  readonly meanLate: number;
  readonly late99: number;
  readonly worstLate: number;
}

export class Deadlines {
  /** Seconds. */
  readonly period: number;
  private _next = 0;
  private samples = 0;
  private missed = 0;
  private sum = 0;
  private worst = 0;
  private readonly classes = new Uint32Array(CLASSES);

  constructor(period: number) {
    this.period = period;
  }

  /** @param now ms of performance.now(): the moment from which all others are counted */
  start(now: number): void {
    this._next = now + this.period * 1000;
  }

  /** ms of performance.now(): the moment of the next sample. */
  get next(): number {
    return this._next;
  }

  /** ms until the next moment; 0 where it has come. */
  wait(now: number): number {
    return Math.max(0, this._next - now);
  }

  /** Called when a sample is taken, for the moment that has passed. */
  take(now: number): void {
    const late = Math.max(0, now - this._next);
    const step = this.period * 1000;
    const skipped = Math.floor(late / step);
    this.missed += skipped;
    this._next += (skipped + 1) * step;
    this.samples++;
    // Delay after the moment for which the sample is taken.
    const own = late - skipped * step;
    this.sum += own;
    this.worst = Math.max(this.worst, late);
    this.classes[classOf(own * 1000)]++;
  }

  get punctuality(): Punctuality {
    let left = Math.ceil(this.samples * 0.99);
    let at = 0;
    while (at < CLASSES - 1 && left > this.classes[at]) left -= this.classes[at++];
    return {
      samples: this.samples,
      missed: this.missed,
      meanLate: this.samples === 0 ? 0 : this.sum / this.samples / 1000,
      late99: this.samples === 0 ? 0 : Math.min(2 ** at / 1e6, this.worst / 1000),
      worstLate: this.worst / 1000,
    };
  }
}
