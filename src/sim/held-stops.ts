/** When events that are not committed stop the run (`lp.stop`): kept with each event, until it commits or is undone. */

export class HeldStops {
  private readonly times = new Map<number, number>();

  /** Event `h` stops the run at `time`, or earlier if it said so before. */
  add(h: number, time: number): void {
    this.times.set(h, Math.min(time, this.times.get(h) ?? Infinity));
  }

  /** Forgets event `h`; returns when it stops the run. */
  take(h: number): number {
    const time = this.times.get(h) ?? Infinity;
    this.times.delete(h);
    return time;
  }

  /** The earliest of these and `stop`; Infinity where that is not before `end`. */
  least(stop: number, end: number): number {
    if (this.times.size === 0) return stop;
    let least = stop;
    for (const time of this.times.values()) if (time < least) least = time;
    return least < end ? least : Infinity;
  }
}
