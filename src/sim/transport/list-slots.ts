/**
 * The priority and tie-breakers of an event with more than one tie-breaker, or a priority: doubles in slots that follow
 * the event's slot on the way to another PE. Its EXTRA word holds the number of doubles.
 */
import type { Signatures } from '../signature.ts';

/** Number of doubles that fill whole slots of `size` words. */
const doublesFor = (length: number, size: number) => Math.ceil((length * 2) / size) * (size / 2);

/** The list of the event that is being sent. */
export class ListSlots {
  /** Words of its slots, of which the first `filled` are used. */
  words: Int32Array;
  filled = 0;
  private readonly signatures: Signatures;
  private readonly size: number;
  private doubles = new Float64Array(64);

  /** @param size number of words of a slot */
  constructor(signatures: Signatures, size: number) {
    this.signatures = signatures;
    this.size = size;
    this.words = new Int32Array(this.doubles.buffer);
  }

  /** Writes the list of event `h`; returns its length in doubles. */
  write(h: number): number {
    const { signatures } = this;
    const length = signatures.prefixLength(h) + 1;
    const room = doublesFor(length, this.size);
    if (this.doubles.length < room) {
      this.doubles = new Float64Array(room * 2);
      this.words = new Int32Array(this.doubles.buffer);
    }
    this.doubles[0] = signatures.priority(h);
    signatures.write(h, this.doubles, 1);
    this.filled = room * 2;
    return length;
  }
}

/** An event that has arrived, and the part of its list that has arrived. */
export class ArrivingList {
  readonly h: number;
  readonly channel: number;
  private readonly length: number;
  private readonly size: number;
  private readonly doubles: Float64Array;
  private readonly words: Int32Array;
  private filled = 0;

  /**
   * @param length of the list, in doubles
   * @param size number of words of a slot
   */
  constructor(h: number, channel: number, length: number, size: number) {
    this.h = h;
    this.channel = channel;
    this.length = length;
    this.size = size;
    this.doubles = new Float64Array(doublesFor(length, size));
    this.words = new Int32Array(this.doubles.buffer);
  }

  /** Takes the slot at `from[at]`; true if it was the last. */
  take(from: Int32Array, at: number): boolean {
    for (let k = 0; k < this.size; k++) this.words[this.filled + k] = from[at + k];
    this.filled += this.size;
    return this.filled >= this.words.length;
  }

  /** Attaches the list to the event. */
  adopt(signatures: Signatures): void {
    signatures.adopt(this.h, this.doubles[0], this.doubles, 1, this.length - 1);
  }
}
