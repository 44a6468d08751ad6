/** Slots for one PE for which its ring has no room, in order: copies of their words, and times. */
export class Held {
  private slots: Int32Array[] = [];
  private times: number[] = [];
  private gone = 0;

  get none(): boolean {
    return this.slots.length === 0;
  }

  /** @param time of the message to which the slot belongs */
  push(slot: Int32Array, time: number): void {
    this.slots.push(slot);
    this.times.push(time);
  }

  /** Time of the first slot. There must be one. */
  get firstTime(): number {
    return this.times[this.gone];
  }

  /** Takes the first slot. There must be one. */
  shift(): Int32Array {
    const slot = this.slots[this.gone++];
    if (this.gone === this.slots.length || this.gone >= 1024) {
      this.slots.splice(0, this.gone);
      this.times.splice(0, this.gone);
      this.gone = 0;
    }
    return slot;
  }

  /** The least time of all slots; Infinity if there are none. O(held). */
  least(): number {
    let least = Infinity;
    for (let k = this.gone; k < this.times.length; k++) least = Math.min(least, this.times[k]);
    return least;
  }
}
