/**
 * Order-free digests: equal results give equal digests whatever the synchroniser, PEs or timing.
 *
 * Two 32-bit lanes per item, each a well-mixed hash, are summed modulo 2^32; a sum does not depend on
 * order, and PEs' sums add. Not cryptographic: it detects mistakes, not attacks.
 */

const F64 = new Float64Array(1);
const I32 = new Int32Array(F64.buffer);

export class Digest {
  /** Both lanes in a typed array: as fields they would become heap numbers at each sum. 128 bytes, because V8 moves smaller arrays. */
  private readonly lanes = new Int32Array(32);

  get lo(): number {
    return this.lanes[0];
  }

  get hi(): number {
    return this.lanes[1];
  }

  /** Adds one committed event. `timeLow` and `timeHigh` are the bits of its receive time. */
  addEvent(timeLow: number, timeHigh: number, source: number, destination: number): void {
    let a = Math.imul(timeLow ^ (source + 0x3c6ef372), 0x2c1b3c6d);
    a = Math.imul(a ^ (a >>> 15) ^ timeHigh, 0x297a2d39);
    a ^= a >>> 13;
    a = Math.imul(a + destination, 0x7feb352d);
    a ^= a >>> 16;
    const b = Math.imul(a ^ source, 0x68e31da5) ^ timeLow;
    this.merge(a, b ^ (b >>> 14));
  }

  /** Adds an event's priority, if it is not the default, together with the event's key. */
  addPriority(priority: number, timeLow: number, source: number): void {
    F64[0] = priority;
    this.addEvent(I32[0] ^ timeLow, I32[1], source, 0x50524f52);
  }

  /** Adds `count` words of `words` from `at`, keyed by `id` (a global id: the owner of the words). */
  addWords(id: number, words: Int32Array, at: number, count: number): void {
    let a = Math.imul(id + 0x51ed270b, 0x2c1b3c6d);
    let b = Math.imul(id ^ 0x1b873593, 0x297a2d39);
    for (let k = 0; k < count; k++) {
      const w = words[at + k];
      a = Math.imul(a ^ w ^ (a >>> 15), 0x7feb352d);
      b = Math.imul((b ^ (b >>> 13)) + w, 0x68e31da5);
    }
    this.merge(a ^ (a >>> 16), b ^ (b >>> 15));
  }

  /** Adds another PE's digest. */
  merge(lo: number, hi: number): void {
    const { lanes } = this;
    lanes[0] = (lanes[0] + lo) | 0;
    lanes[1] = (lanes[1] + hi) | 0;
  }

  /** 16 hexadecimal digits. */
  toString(): string {
    const hex = (word: number) => (word >>> 0).toString(16).padStart(8, '0');
    return hex(this.hi) + hex(this.lo);
  }
}
