/**
 * One package's power limit under power_balancer: lowered step by step until its epochs take as long as the slowest
 * package's of all hosts. Source: GEOPM's geopm_agent_power_balancer(7); numbers as GEOPM's PowerBalancer has them.
 */

/** W by which a limit is lowered at first, and at least. */
const FIRST_DELTA = 8;
const LEAST_DELTA = 0.125;
/** Epochs, and their seconds, whose median counts. */
const LEAST_EPOCHS = 9;
const LEAST_SECONDS = 0.25;
/** Share by which epochs may be shorter than the slowest ones and still count as equal. */
const TOLERANCE = 0.02;

export class PackageBalance {
  /** W that the package may use at most in this round of the algorithm; NaN before the first. */
  cap = Number.NaN;
  /** W that it is limited to. */
  limit = Number.NaN;
  /** Median of the latest epochs, s; NaN before the first. */
  runtime = Number.NaN;
  private readonly settle: number;
  private changed = Number.NEGATIVE_INFINITY;
  private goal = Number.NaN;
  private delta = FIRST_DELTA;
  private met = false;
  private epochs: number[] = [];
  /** Epochs that are remembered; 0: not known yet. */
  private window = 0;

  /** @param settle s that a new limit needs to have its effect */
  constructor(settle: number) {
    this.settle = settle;
  }

  /** Another budget: what was measured under the last one is of no use. */
  allow(watts: number): void {
    this.cap = watts;
    this.limit = watts;
    this.goal = Number.NaN;
    this.forget();
  }

  /** The limit was written, perhaps a larger one than was asked for. */
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

  /** Takes the seconds of an epoch. Returns whether enough are known for the median to count. */
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

  /** From now on epochs are to take as long as the slowest ones, `seconds`. */
  aim(seconds: number): void {
    this.goal = seconds * (1 - TOLERANCE);
    this.met = this.runtime > this.goal;
  }

  /** Takes the seconds of an epoch, and lowers the limit while epochs are too short. Returns whether they no longer are. */
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

  /** W that it leaves to others; where it has none to leave, it is lowered by smaller steps from then on. */
  leave(): number {
    const slack = this.cap - this.limit;
    if (slack <= 0) this.delta = Math.max(LEAST_DELTA, this.delta / 2);
    return Math.max(0, slack);
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
