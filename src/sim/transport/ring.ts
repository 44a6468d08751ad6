/**
 * A single-producer single-consumer ring of fixed-size slots in shared memory: one per ordered pair of PEs.
 *
 * The producer writes slots with plain stores and publishes them with one atomic store of `tail` per batch;
 * the consumer reads up to the published tail and hands slots back with one store of `head`.
 */

const HEAD = 0;
const TAIL = 16;
const HEADER_WORDS = 32;
/** Shared memory per ring, about. */
const RING_BYTES = 1 << 16;

/** Slots of a ring for slots of `words` words: a power of two. */
function slotsFor(words: number, bytes: number): number {
  let slots = 64;
  while (slots * 2 * words * 4 <= bytes) slots *= 2;
  return slots;
}

/** Bytes of a ring for slots of `words` words, where it is to take `most` bytes, about. */
export function ringBytes(words: number, most = RING_BYTES): number {
  return (HEADER_WORDS + slotsFor(words, Math.min(most, RING_BYTES)) * words) * 4;
}

export function ringMemory(words: number): SharedArrayBuffer {
  return new SharedArrayBuffer(ringBytes(words));
}

/** Its slots less one, for `size` words each. */
function maskOf(memory: ArrayBufferLike, size: number): number {
  return (memory.byteLength / 4 - HEADER_WORDS) / size - 1;
}

export class RingProducer {
  readonly words: Int32Array;
  /** The same memory: the first double of a slot is at half the index of its first word. */
  readonly doubles: Float64Array;
  private readonly size: number;
  private readonly mask: number;
  private readonly most: number;
  private tail = 0;
  private published = 0;
  private head = 0;

  /** @param most slots that may be under way, where those are not to be all */
  constructor(memory: ArrayBufferLike, size: number, most = Infinity) {
    this.words = new Int32Array(memory);
    this.doubles = new Float64Array(memory);
    this.size = size;
    this.mask = maskOf(memory, size);
    this.most = Math.min(most, this.mask + 1);
  }

  /** Whether there is room for another slot. */
  room(): boolean {
    if (((this.tail - this.head) | 0) < this.most) return true;
    this.head = Atomics.load(this.words, HEAD);
    return ((this.tail - this.head) | 0) < this.most;
  }

  /** Index of the first word of the next slot, which the caller fills. There must be room. */
  next(): number {
    const at = HEADER_WORDS + (this.tail & this.mask) * this.size;
    this.tail = (this.tail + 1) | 0;
    return at;
  }

  /** Makes filled slots visible; true where there were any. */
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
  private tail = 0;

  constructor(memory: ArrayBufferLike, size: number) {
    this.words = new Int32Array(memory);
    this.doubles = new Float64Array(memory);
    this.size = size;
    this.mask = maskOf(memory, size);
  }

  /** Number of slots that have been published and not taken. */
  look(): number {
    // A plain load is a hint, and as cheap as it gets; the atomic one makes the slots visible.
    if (this.words[TAIL] !== this.tail) this.tail = Atomics.load(this.words, TAIL);
    return (this.tail - this.head) | 0;
  }

  /** Index of the first word of the next slot. There must be one. */
  take(): number {
    const at = HEADER_WORDS + (this.head & this.mask) * this.size;
    this.head = (this.head + 1) | 0;
    return at;
  }

  /** Hands taken slots back to the producer. */
  release(): void {
    Atomics.store(this.words, HEAD, this.head);
  }
}
