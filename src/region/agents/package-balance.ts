/**
 * One package's power limit under power_balancer: lowered step by step until its epochs take as long as the slowest
 * package's of all hosts. Source: GEOPM's geopm_agent_power_balancer(7); numbers as GEOPM's PowerBalancer has them.
 */
import { median } from '../../model/numbers.ts';

/** W by which a limit is lowered: at first, and at least. */
const FIRST_DELTA = 8;
const LEAST_DELTA = 0.125;
/** The median is taken over this many epochs, or this many seconds of epochs. */
const LEAST_EPOCHS = 9;
const LEAST_SECONDS = 0.25;
/** Epochs that are shorter than the slowest by less than this share count as equal. */
const TOLERANCE = 0.02;

export class PackageBalance {
  /** The limit in W at the beginning of this round of the algorithm, which it cannot exceed; NaN before the first. */
  cap = Number.NaN;
  /** The present limit, W. */
  limit = Number.NaN;
  /** Median of the latest epochs, s; NaN before the first. */
  runtime = Number.NaN;
  private readonly settle: number;
  private changed = Number.NEGATIVE_INFINITY;
  private goal = Number.NaN;
  private delta = FIRST_DELTA;
  private met = false;
  private epochs: number[] = [];
  /** Number of epochs for the median; 0: not known yet. */
  private window = 0;

  /** @param settle seconds until a new limit has its effect */
  constructor(settle: number) {
    this.settle = settle;
  }

  /** Sets another budget. Epochs that were measured under the previous limit are discarded. */
  allow(watts: number): void {
    this.cap = watts;
    this.limit = watts;
    this.goal = Number.NaN;
    this.forget();
  }

  /** Takes note of the limit that was written, which may be larger than the one requested. */
  applied(watts: number, now: number): void {
    if (watts > this.limit) this.met = true;
    this.limit = watts;
    this.changed = now;
    this.forget();
  }

  private forget(): void {
    this.epochs = [];
    this.window = 0;
  }

  /** Adds the duration of an epoch, in s. Returns whether there are enough for a median. */
  measure(seconds: number, now: number): boolean {
    if (now - this.changed <= this.settle || Number.isNaN(seconds)) return false;
    const epochs = this.epochs;
    epochs.push(seconds);
    const sum = epochs.reduce((total, one) => total + one, 0);
    if (this.window === 0 && epochs.length >= LEAST_EPOCHS && sum > LEAST_SECONDS) {
      this.window = epochs.length;
    }
    if (this.window > 0 && epochs.length > this.window) epochs.shift();
    this.runtime = median(epochs);
    return this.window > 0;
  }

  /** Sets the duration in s that the package's epochs shall reach: that of the slowest package. */
  aim(seconds: number): void {
    this.goal = seconds * (1 - TOLERANCE);
    this.met = this.runtime > this.goal;
  }

  /** Adds the duration of an epoch, in s, and lowers the limit while epochs are too short. Returns whether they are long enough now. */
  approach(seconds: number, now: number): boolean {
    if (this.met || !this.measure(seconds, now)) return this.met;
    this.met = this.runtime > this.goal;
    if (this.met) this.limit = Math.min(this.cap, this.limit + this.delta);
    else {
      this.limit -= this.delta;
      this.forget();
    }
    return this.met;
  }

  /** W that this package can give away. If it has none to give, its limit is lowered by smaller steps from then on. */
  leave(): number {
    const slack = this.cap - this.limit;
    if (slack <= 0) this.delta = Math.max(LEAST_DELTA, this.delta / 2);
    return Math.max(0, slack);
  }
}
