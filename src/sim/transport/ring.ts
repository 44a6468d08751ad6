/**
 * A single-producer single-consumer ring of fixed-size slots in shared memory: one per ordered pair of PEs.
 *
 * The producer writes slots with plain stores and publishes them with one atomic store of `tail` per batch;
 * the consumer reads up to the published tail and hands slots back with one store of `head`: a few at a time if there
 * is room for more, since each such store waits until the other CPU has given up its copy.
 *
 * Between two PEs the line of the tail also carries what the producer's PE promises (`Transport.tell`). A consumer reads a promise
 * before it looks for slots: then it finds all that was published before that promise.
 */

const HEAD = 0;
const TAIL = 16;
/** On its line: slots of the opposite ring that the producer's PE has taken into account; and doubles, its promise. */
const SEEN = TAIL + 1;
const LEAST = TAIL / 2 + 1;
const LATE = TAIL / 2 + 2;
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

/**
 * Whether a CPU's stores become visible to others in the order of the program, and its loads are done in that order: on x86 (Intel's
 * SDM, volume 3A, 9.2.2). There plain ones suffice for the above. An atomic store waits until all stores before it are visible, which
 * takes as long as the lines need from the other CPU.
 */
const IN_ORDER = process.arch === 'x64';

const asDoubles = (words: Int32Array) =>
  new Float64Array(words.buffer, words.byteOffset, words.length / 2);

/** `Atomics` has no doubles: their bits pass through here. */
const asBits = (words: Int32Array) =>
  new BigUint64Array(words.buffer, words.byteOffset, words.length / 2);
const DOUBLE = new Float64Array(1);
const BITS = new BigUint64Array(DOUBLE.buffer);

export class RingProducer {
  readonly words: Int32Array;
  /** The same memory: the first double of a slot is at half the index of its first word. */
  readonly doubles: Float64Array;
  private readonly bits: BigUint64Array;
  private readonly size: number;
  private readonly mask: number;
  private readonly most: number;
  private readonly inOrder: boolean;
  private tail = 0;
  private published = 0;
  /** There is room for the slots before this one. */
  private limit = 0;

  /**
   * @param most number of slots that may be under way, if not all
   * @param inOrder whether stores are seen in order
   */
  constructor(words: Int32Array, size: number, most = Infinity, inOrder = IN_ORDER) {
    this.words = words;
    this.doubles = asDoubles(words);
    this.bits = asBits(words);
    this.size = size;
    this.mask = maskOf(words, size);
    this.most = Math.min(most, this.mask + 1);
    this.inOrder = inOrder;
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

  /**
   * Makes filled slots visible; true if there were any.
   * @param soon whether the consumer may see them a little later, in the order of this CPU's stores, if that is certain
   */
  publish(soon = false): boolean {
    if (this.tail === this.published) return false;
    this.published = this.tail;
    if (soon && this.inOrder) this.words[TAIL] = this.tail;
    else Atomics.store(this.words, TAIL, this.tail);
    return true;
  }

  /**
   * What this PE, one of two, promises the other: its first pending event is at `least`, what it has posted and not published is from `late`
   * on, and it has taken into account the first `seen` slots of the other. In the order of stores: who sees one of them sees those before.
   */
  promise(late: number, least: number, seen: number, soon: boolean): void {
    this.put(LATE, late);
    this.put(LEAST, least);
    if (soon && this.inOrder) this.words[SEEN] = seen;
    else Atomics.store(this.words, SEEN, seen);
  }

  /** Promises nothing any more. */
  withdraw(): void {
    this.put(LATE, -Infinity);
  }

  private put(at: number, value: number): void {
    if (this.inOrder) {
      this.doubles[at] = value;
      return;
    }
    DOUBLE[0] = value;
    Atomics.store(this.bits, at, BITS[0]);
  }
}

export class RingConsumer {
  readonly words: Int32Array;
  readonly doubles: Float64Array;
  private readonly bits: BigUint64Array;
  private readonly size: number;
  private readonly mask: number;
  private readonly inOrder: boolean;
  private head = 0;
  private released = 0;
  private tail = 0;

  /** @param inOrder whether loads are done in order */
  constructor(words: Int32Array, size: number, inOrder = IN_ORDER) {
    this.words = words;
    this.doubles = asDoubles(words);
    this.bits = asBits(words);
    this.size = size;
    this.mask = maskOf(words, size);
    this.inOrder = inOrder;
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

  /** Of the producer's promise: how much it had seen of the opposite ring. To be read first. */
  seen(): number {
    return Atomics.load(this.words, SEEN);
  }

  /** Of the same promise: the producer's first pending event, in virtual time; what `promise` was given. */
  least(): number {
    return this.get(LEAST);
  }

  /** Likewise: what the producer has posted and not published is at this virtual time or later. */
  late(): number {
    return this.get(LATE);
  }

  private get(at: number): number {
    if (this.inOrder) return this.doubles[at];
    BITS[0] = Atomics.load(this.bits, at);
    return DOUBLE[0];
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
