/**
 * Small numbers by which two PEs name a remote event, so that it can be cancelled without a copy or a search:
 * the sender takes one per event sent and gets it back when the event commits or is cancelled; the
 * receiver keeps the event's handle at that index of a table. Messages between two PEs stay in order, so an
 * anti-message always comes before the number is used again.
 */
export class Channels {
  /** The number of all events that will never be cancelled. */
  readonly ofFinal = 0;
  /** Per destination PE: free numbers, and the next new one. */
  private readonly free: number[][];
  private readonly next: number[];
  /** Per source PE: handle of the event on each channel; 0 for none. */
  private readonly arrivals: Int32Array[];

  constructor(pes: number) {
    this.free = Array.from({ length: pes }, () => []);
    this.next = new Array<number>(pes).fill(1);
    this.arrivals = Array.from({ length: pes }, () => new Int32Array(256));
  }

  /** A number for an event sent to `pe`. */
  take(pe: number): number {
    return this.free[pe].pop() ?? this.next[pe]++;
  }

  /** The event sent to `pe` as `channel` is committed or cancelled. */
  give(pe: number, channel: number): void {
    this.free[pe].push(channel);
  }

  /** Event `h` has come from PE `from` as `channel`. */
  arrived(from: number, channel: number, h: number): void {
    let table = this.arrivals[from];
    if (channel >= table.length) {
      const larger = new Int32Array(Math.max(channel + 1, table.length * 2));
      larger.set(table);
      this.arrivals[from] = larger;
      table = larger;
    }
    table[channel] = h;
  }

  /** Returns the event that PE `from` sent as `channel`, and forgets it. */
  forget(from: number, channel: number): number {
    const h = this.arrivals[from][channel];
    this.arrivals[from][channel] = 0;
    return h;
  }
}
