/**
 * JSON as bytes, block by block. Nothing is allocated per value but for texts: digits are written straight into the
 * block. Long fixed pieces go through `set`, a copy of memory at 3 times the speed of a loop; short ones are faster in
 * the loop.
 */

/** Bytes after which a block is full; one record may go beyond, by less than `ROOM`. */
const FULL = 1 << 20;
const ROOM = 1 << 18;
/** Bytes of a text that are taken at most. */
const LONGEST_TEXT = 1 << 16;

/** Bytes that may be held back, at the block's beginning. */
const HELD = 2;

const ZERO = 48;
const DOT = 46;
const MINUS = 45;
/** Below this, a number times 1e9 is an exact integer part of a double. */
const FIXED_LIMIT = 4e6;

const encoder = new TextEncoder();

/** A fixed piece of JSON, ready to be copied. */
export const piece = (text: string): Uint8Array => encoder.encode(text);

export class JsonBytes {
  readonly #block = new Uint8Array(FULL + ROOM);
  #start = HELD;
  #at = HELD;
  /** The last time that was written, and where it lies in the block: an event and its arrows have the same. */
  #stampOf = -1;
  #stampAt = 0;
  #stampEnd = 0;

  /** Whether it is time to `take`. */
  get full(): boolean {
    return this.#at >= FULL;
  }

  /** What was written since the last call; valid until something is written again. */
  take(): Uint8Array {
    const bytes = this.#block.subarray(this.#start, this.#at);
    this.#start = HELD;
    this.#at = HELD;
    this.#stampOf = -1;
    return bytes;
  }

  /** The same without the last two bytes, which come with the next call: they are the same ones each time. */
  takeHolding(): Uint8Array {
    const block = this.#block;
    const end = this.#at - HELD;
    const bytes = block.subarray(this.#start, end);
    // These places are in `bytes` if they held the same before, and not otherwise.
    for (let k = 0; k < HELD; k++) block[k] = block[end + k];
    this.#start = 0;
    this.#at = HELD;
    this.#stampOf = -1;
    return bytes;
  }

  /** A long piece. */
  copy(bytes: Uint8Array): void {
    this.#block.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** A short piece, of less than 30 bytes or so. */
  put(bytes: Uint8Array): void {
    const block = this.#block;
    const at = this.#at;
    for (let k = 0; k < bytes.length; k++) block[at + k] = bytes[k];
    this.#at = at + bytes.length;
  }

  /** Takes back the last bytes, which were written since the last `take`. */
  back(bytes: number): void {
    this.#at -= bytes;
  }

  /** JSON that is known to be short. */
  text(json: string): void {
    const room = this.#block.subarray(this.#at, this.#at + LONGEST_TEXT);
    this.#at += encoder.encodeInto(json, room).written;
  }

  /** A text as a JSON string. */
  string(text: string): void {
    this.text(JSON.stringify(text.slice(0, LONGEST_TEXT >> 4)));
  }

  /** An integer from 0 to 2^53. */
  integer(value: number): void {
    if (value >= 1e8) {
      const high = Math.floor(value / 1e8);
      this.integer(high);
      this.#at += 8;
      this.#digits(value - high * 1e8, this.#at, 8);
      return;
    }
    let count = 1;
    if (value >= 1e4) count = value >= 1e6 ? (value >= 1e7 ? 8 : 7) : value >= 1e5 ? 6 : 5;
    else if (value >= 10) count = value >= 1e3 ? 4 : value >= 100 ? 3 : 2;
    this.#at += count;
    this.#digits(value, this.#at, count);
  }

  /** The last `count` digits, up to `end`. */
  #digits(value: number, end: number, count: number): void {
    const block = this.#block;
    let rest = value | 0;
    for (let at = end - 1; at >= end - count; at--) {
      const less = (rest / 10) | 0;
      block[at] = ZERO + (rest - less * 10);
      rest = less;
    }
  }

  /** The same of a length of time, which is seldom that of the one before. */
  span(nanoseconds: number): void {
    const whole = Math.floor(nanoseconds / 1000);
    const rest = nanoseconds - whole * 1000;
    this.integer(whole);
    if (rest === 0) return;
    this.#block[this.#at] = DOT;
    this.#at += 4;
    this.#digits(rest, this.#at, 3);
  }

  /** Nanoseconds, an integer from 0, as microseconds with three decimals: what trace events count in. */
  micros(nanoseconds: number): void {
    if (nanoseconds === this.#stampOf) {
      const block = this.#block;
      let at = this.#at;
      for (let k = this.#stampAt; k < this.#stampEnd; k++) block[at++] = block[k];
      this.#at = at;
      return;
    }
    const start = this.#at;
    this.span(nanoseconds);
    this.#stampOf = nanoseconds;
    this.#stampAt = start;
    this.#stampEnd = this.#at;
  }

  /** Any finite number, to 9 decimals where it is small enough for them to be exact. */
  decimal(value: number): void {
    const size = Math.abs(value);
    if (!(size < FIXED_LIMIT) || (size < 1e-3 && size > 0)) {
      this.number(value);
      return;
    }
    if (value < 0) this.#block[this.#at++] = MINUS;
    const whole = Math.floor(size);
    let rest = Math.round((size - whole) * 1e9);
    if (rest === 1e9) {
      this.integer(whole + 1);
      return;
    }
    this.integer(whole);
    if (rest === 0) return;
    const block = this.#block;
    block[this.#at] = DOT;
    let last = 9;
    for (let k = 9; k > 0; k--) {
      const less = (rest / 10) | 0;
      const digit = rest - less * 10;
      if (digit === 0 && last === k) last--;
      block[this.#at + k] = ZERO + digit;
      rest = less;
    }
    this.#at += last + 1;
  }

  /** Any number, exactly; what JSON has no number for is null. */
  number(value: number): void {
    this.text(Number.isFinite(value) ? String(value) : 'null');
  }
}
