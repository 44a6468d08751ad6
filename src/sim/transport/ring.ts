/**
 * A single-producer single-consumer ring of fixed-size slots in shared memory: one per ordered pair of PEs.
 *
 * The producer writes slots with plain stores and publishes them with one atomic store of `tail` per batch;
 * the consumer reads up to the published tail and hands slots back with one store of `head`: a few at a time if there
 * is room for more, since each such store waits until the other CPU has given up its copy.
 */

const HEAD = 0;
const TAIL = 16;
/** Number of slots that may be under way, as the producer chooses. */
const MOST = 1;
const HEADER_WORDS = 32;
/** Slots after which the producer looks again, although there was room for more. */
const LOOK_AFTER = 64;
/** Approximate shared memory per ring. */
const RING_BYTES = 1 << 16;

/** Number of slots of a ring with slots of `words` words: a power of two. */
function slotsFor(words: number, bytes: number): number {
  let slots = 64;
  while (slots * 2 * words * 4 <= bytes) slots *= 2;
  return slots;
}

/** Bytes of a ring with slots of `words` words that may take about `most` bytes. */
export function ringBytes(words: number, most = RING_BYTES): number {
  return (HEADER_WORDS + slotsFor(words, Math.min(most, RING_BYTES)) * words) * 4;
}

/** Number of its slots minus 1, for `size` words each. */
const maskOf = (words: Int32Array, size: number) => (words.length - HEADER_WORDS) / size - 1;

const asDoubles = (words: Int32Array) =>
  new Float64Array(words.buffer, words.byteOffset, words.length / 2);

export class RingProducer {
  readonly words: Int32Array;
  /** The same memory: the first double of a slot is at half the index of its first word. */
  readonly doubles: Float64Array;
  private readonly size: number;
  private readonly mask: number;
  private readonly most: number;
  private tail = 0;
  private published = 0;
  /** There is room for the slots before this one. */
  private limit = 0;

  /** @param most number of slots that may be under way, if not all */
  constructor(words: Int32Array, size: number, most = Infinity) {
    this.words = words;
    this.doubles = asDoubles(words);
    this.size = size;
    this.mask = maskOf(words, size);
    this.most = Math.min(most, this.mask + 1);
    words[MOST] = this.most;
  }

  /** Slots filled so far. */
  get end(): number {
    return this.tail;
  }

  /** Whether there is room for another slot. */
  room(): boolean {
    return ((this.limit - this.tail) | 0) > 0 || this.look();
  }

  /** Looks how far the consumer is: often, since V8 would deoptimise if it did so only when the ring is full for the first time. */
  private look(): boolean {
    const free = (this.most - this.tail + Atomics.load(this.words, HEAD)) | 0;
    this.limit = (this.tail + Math.min(free, LOOK_AFTER)) | 0;
    return free > 0;
  }

  /** Index of the first word of the next slot, which the caller fills. There must be room. */
  next(): number {
    const at = HEADER_WORDS + (this.tail & this.mask) * this.size;
    this.tail = (this.tail + 1) | 0;
    return at;
  }

  /** Makes filled slots visible; true if there were any. */
  publish(): boolean {
    if (this.tail === this.published) return false;
    this.published = this.tail;
    Atomics.store(this.words, TAIL, this.tail);
    return true;
  }
}

export class RingConsumer {
  readonly words: Int32Array;
  readonly doubles: Float64Array;
  private readonly size: number;
  private readonly mask: number;
  private head = 0;
  private released = 0;
  private tail = 0;

  constructor(words: Int32Array, size: number) {
    this.words = words;
    this.doubles = asDoubles(words);
    this.size = size;
    this.mask = maskOf(words, size);
  }

  /** Slots taken so far. */
  get taken(): number {
    return this.head;
  }

  /** Number of slots that have been published and not taken. */
  look(): number {
    // A plain load is a hint, and as cheap as possible; the atomic one makes the slots visible.
    if (this.words[TAIL] !== this.tail) this.tail = Atomics.load(this.words, TAIL);
    return (this.tail - this.head) | 0;
  }

  /** Index of the first word of the next slot. There must be one. */
  take(): number {
    const at = HEADER_WORDS + (this.head & this.mask) * this.size;
    this.head = (this.head + 1) | 0;
    return at;
  }

  /** Hands taken slots back to the producer, once they are a quarter of those that may be under way. */
  release(): void {
    if (((this.head - this.released) | 0) <= this.words[MOST] >> 2) return;
    this.released = this.head;
    Atomics.store(this.words, HEAD, this.head);
  }
}
