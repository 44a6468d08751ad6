/**
 * JSON as bytes, block by block. Nothing is allocated per value but for texts: digits and fixed pieces are written
 * straight into the block, about 1 ns a byte.
 */

/** Bytes after which a block is full; one record may go beyond, by less than `ROOM`. */
const FULL = 1 << 20;
const ROOM = 1 << 18;
/** Bytes of a text that are taken at most. */
const LONGEST_TEXT = 1 << 16;

const ZERO = 48;
const DOT = 46;
const MINUS = 45;
/** Below this, a number times 1e9 is an exact integer part of a double. */
const FIXED_LIMIT = 4e6;

const encoder = new TextEncoder();

/** A fixed piece of JSON, ready to be copied. */
export const piece = (text: string): Uint8Array => encoder.encode(text);

export class JsonBytes {
  #block = new Uint8Array(FULL + ROOM);
  #at = 0;

  /** Whether it is time to `take`. */
  get full(): boolean {
    return this.#at >= FULL;
  }

  /** What was written since the last call. The caller keeps the bytes. */
  take(): Uint8Array {
    const bytes = this.#block.subarray(0, this.#at);
    this.#block = new Uint8Array(FULL + ROOM);
    this.#at = 0;
    return bytes;
  }

  put(bytes: Uint8Array): void {
    const block = this.#block;
    let at = this.#at;
    for (let k = 0; k < bytes.length; k++) block[at++] = bytes[k];
    this.#at = at;
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
    if (value < 10) {
      this.#block[this.#at++] = ZERO + value;
      return;
    }
    const block = this.#block;
    const start = this.#at;
    let at = start;
    let rest = value;
    while (rest >= 0x40000000) {
      const less = Math.floor(rest / 10);
      block[at++] = ZERO + (rest - less * 10);
      rest = less;
    }
    let small = rest | 0;
    do {
      const less = (small / 10) | 0;
      block[at++] = ZERO + (small - less * 10);
      small = less;
    } while (small > 0);
    this.#at = at;
    for (let a = start, b = at - 1; a < b; a++, b--) {
      const digit = block[a];
      block[a] = block[b];
      block[b] = digit;
    }
  }

  /** Nanoseconds, an integer from 0, as microseconds with three decimals: what trace events count in. */
  micros(nanoseconds: number): void {
    const whole = Math.floor(nanoseconds / 1000);
    const rest = nanoseconds - whole * 1000;
    this.integer(whole);
    if (rest === 0) return;
    const block = this.#block;
    const tens = (rest / 10) | 0;
    block[this.#at++] = DOT;
    block[this.#at++] = ZERO + ((rest / 100) | 0);
    block[this.#at++] = ZERO + (tens % 10);
    block[this.#at++] = ZERO + (rest - tens * 10);
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
