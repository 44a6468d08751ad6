/** Stops of the run by uncommitted events (`lp.stop`): kept with each event, until it commits or is undone. */

export class HeldStops {
  private readonly times = new Map<number, number>();

  /** Event `h` stops the run at `time`, or earlier if it already asked for an earlier stop. */
  add(h: number, time: number): void {
    this.times.set(h, Math.min(time, this.times.get(h) ?? Infinity));
  }

  /** Removes the stop of event `h`, and returns its time. */
  take(h: number): number {
    const time = this.times.get(h) ?? Infinity;
    this.times.delete(h);
    return time;
  }

  /** The earliest of these and `stop`; Infinity if that is not before `end`. */
  least(stop: number, end: number): number {
    if (this.times.size === 0) return stop;
    let least = stop;
    for (const time of this.times.values()) if (time < least) least = time;
    return least < end ? least : Infinity;
  }
}
