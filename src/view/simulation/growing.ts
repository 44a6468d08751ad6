/** A list of numbers that grows. */
const START = 1024;

export class GrowingNumbers {
  /** The first `length` count. */
  values = new Float64Array(START);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const wider = new Float64Array(2 * this.values.length);
      wider.set(this.values);
      this.values = wider;
    }
    this.values[this.length++] = value;
  }

  copy(): GrowingNumbers {
    const copy = new GrowingNumbers();
    copy.values = this.values.slice(0, Math.max(START, this.length));
    copy.length = this.length;
    return copy;
  }

  /** Keeps the newest `keep`. */
  forget(keep: number): void {
    this.values.copyWithin(0, this.length - keep, this.length);
    this.length = keep;
  }
}
