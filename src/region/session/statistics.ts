/** Statistics of a stream of numbers, one number at a time. Absent numbers are not counted. */
export class SignalStatistics {
  count = 0;
  first = Number.NaN;
  last = Number.NaN;
  min = Number.NaN;
  max = Number.NaN;
  mean = Number.NaN;
  private squares = 0;

  add(value: number): void {
    if (Number.isNaN(value)) return;
    this.count++;
    this.last = value;
    if (this.count === 1) {
      this.first = value;
      this.min = value;
      this.max = value;
      this.mean = value;
      return;
    }
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    // Welford's method: sums of squares would lose the digits of large values that differ little.
    const from = value - this.mean;
    this.mean += from / this.count;
    this.squares += from * (value - this.mean);
  }

  /** Standard deviation of a sample: divided by count − 1; NaN for fewer than two. */
  get std(): number {
    return this.count < 2 ? Number.NaN : Math.sqrt(this.squares / (this.count - 1));
  }
}
