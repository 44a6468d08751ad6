/**
 * What one PE has posted to another that the other may not have taken into account yet: the least receive time of
 * each batch, by the place in the ring at which the batch ends.
 */

/** Number of batches that are told apart; further ones count with the newest. A power of two. */
const BATCHES = 64;
const LAST = BATCHES - 1;

/** In a typed array: a double in a field would be allocated anew at each change. */
const UNPUBLISHED = 0;

export class Unseen {
  private readonly ends = new Int32Array(BATCHES);
  private readonly times = new Float64Array(BATCHES);
  private oldest = 0;
  private newest = 0;
  private readonly state = new Float64Array(16).fill(Infinity);

  /** Least receive time of what has been posted since `publish`; Infinity if nothing has. */
  get unpublished(): number {
    return this.state[UNPUBLISHED];
  }

  /** Called when a message is posted that rolls back nothing before `time`. */
  post(time: number): void {
    if (time < this.state[UNPUBLISHED]) this.state[UNPUBLISHED] = time;
  }

  /** Called when what has been posted is in the ring, up to its slot `end`. */
  publish(end: number): void {
    const time = this.state[UNPUBLISHED];
    this.state[UNPUBLISHED] = Infinity;
    const full = ((this.newest - this.oldest) | 0) === BATCHES;
    const at = (full ? this.newest - 1 : this.newest) & LAST;
    this.ends[at] = end;
    this.times[at] = full ? Math.min(this.times[at], time) : time;
    if (!full) this.newest = (this.newest + 1) | 0;
  }

  /** Least receive time of all that is not among the first `seen` slots of the ring; Infinity if there is nothing. */
  least(seen: number): number {
    while (this.oldest !== this.newest && ((this.ends[this.oldest & LAST] - seen) | 0) <= 0) {
      this.oldest = (this.oldest + 1) | 0;
    }
    let least = this.state[UNPUBLISHED];
    for (let k = this.oldest; k !== this.newest; k = (k + 1) | 0) {
      least = Math.min(least, this.times[k & LAST]);
    }
    return least;
  }
}
