/**
 * JSON as bytes, block by block. Nothing is allocated per value but for texts: digits go straight into the block, four at
 * a time from a table, and fixed pieces eight bytes at a time. A store may write beyond its piece: what comes next
 * overwrites that.
 */

/** Bytes after which a block is full; one record may go beyond, by less than `ROOM`. */
const FULL = 1 << 20;
const ROOM = 1 << 18;
/** Bytes of a text that are taken at most. */
const LONGEST_TEXT = 1 << 16;

/** Bytes that may be held back, at the block's beginning. */
const HELD = 2;
const WORD = 8;

const ZERO = 48;
const DOT = 46;
const MINUS = 45;
/** Below this, a number times 1e9 is an exact integer part of a double. */
const FIXED_LIMIT = 4e6;

const encoder = new TextEncoder();

/** By number below 10,000: its four digits, the first in the lowest byte. */
const DIGITS = Uint32Array.from({ length: 10_000 }, (_, value) => {
  const digit = (scale: number) => ZERO + (Math.floor(value / scale) % 10);
  return digit(1000) | (digit(100) << 8) | (digit(10) << 16) | (digit(1) << 24);
});

/** A fixed piece of JSON, ready to be copied. */
export interface Piece {
  readonly length: number;
  /** Its bytes as doubles, which are copied fastest; no eight bytes of ASCII are a double that is no number. */
  readonly words: Float64Array;
}

/** @param text ASCII */
export function piece(text: string): Piece {
  const padded = text.padEnd(Math.ceil(text.length / WORD) * WORD);
  const view = new DataView(encoder.encode(padded).buffer);
  const words = Float64Array.from({ length: padded.length / WORD }, (_, k) =>
    view.getFloat64(k * WORD, true),
  );
  return { length: text.length, words };
}

interface Block {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

function newBlock(): Block {
  const bytes = new Uint8Array(FULL + ROOM);
  return { bytes, view: new DataView(bytes.buffer) };
}

export class JsonBytes {
  #bytes: Uint8Array;
  #view: DataView;
  #other = newBlock();
  #start = HELD;
  #at = HELD;
  /** The last time that was written, and where it lies in the block: an event and its arrows have the same. */
  #stampOf = -1;
  #stampAt = 0;
  #stampEnd = 0;

  constructor() {
    const { bytes, view } = newBlock();
    this.#bytes = bytes;
    this.#view = view;
  }

  /** Whether it is time to `take`. */
  get full(): boolean {
    return this.#at >= FULL;
  }

  /** What was written since the last call; valid until the next one: it may be written out while more is made. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(this.#start, this.#at);
    this.#swap();
    this.#start = HELD;
    this.#at = HELD;
    return taken;
  }

  /** The same without the last two bytes, which come with the next call. */
  takeHolding(): Uint8Array {
    const end = this.#at - HELD;
    const bytes = this.#bytes;
    this.#swap();
    for (let k = 0; k < HELD; k++) this.#bytes[k] = bytes[end + k];
    const taken = bytes.subarray(this.#start, end);
    this.#start = 0;
    this.#at = HELD;
    return taken;
  }

  #swap(): void {
    const now = { bytes: this.#bytes, view: this.#view };
    this.#bytes = this.#other.bytes;
    this.#view = this.#other.view;
    this.#other = now;
    this.#stampOf = -1;
  }

  put({ words, length }: Piece): void {
    const view = this.#view;
    const at = this.#at;
    for (let k = 0; k < words.length; k++) view.setFloat64(at + k * WORD, words[k], true);
    this.#at = at + length;
  }

  /** Takes back the last bytes, which were written since the last `take`. */
  back(bytes: number): void {
    this.#at -= bytes;
  }

  /** JSON that is known to be short. */
  text(json: string): void {
    const room = this.#bytes.subarray(this.#at, this.#at + LONGEST_TEXT);
    this.#at += encoder.encodeInto(json, room).written;
  }

  /** A text as a JSON string. */
  string(text: string): void {
    this.text(JSON.stringify(text.slice(0, LONGEST_TEXT >> 4)));
  }

  /** An integer from 0 to 2^53. */
  integer(value: number): void {
    if (value < 1e4) {
      const count = value >= 100 ? (value >= 1000 ? 4 : 3) : value >= 10 ? 2 : 1;
      this.#view.setUint32(this.#at, DIGITS[value] >>> (8 * (4 - count)), true);
      this.#at += count;
      return;
    }
    const high = Math.floor(value / 1e4);
    this.integer(high);
    this.#four(value - high * 1e4);
  }

  #four(value: number): void {
    this.#view.setUint32(this.#at, DIGITS[value], true);
    this.#at += 4;
  }

  /** The same of a length of time, which is seldom that of the one before. */
  span(nanoseconds: number): void {
    const whole = Math.floor(nanoseconds / 1000);
    const rest = nanoseconds - whole * 1000;
    this.integer(whole);
    if (rest === 0) return;
    // Of four digits the first is 0: the point takes its place.
    this.#view.setUint32(this.#at, DIGITS[rest] - ZERO + DOT, true);
    this.#at += 4;
  }

  /** Nanoseconds, an integer from 0, as microseconds with three decimals: what trace events count in. */
  micros(nanoseconds: number): void {
    const start = this.#at;
    if (nanoseconds === this.#stampOf) {
      const view = this.#view;
      const length = this.#stampEnd - this.#stampAt;
      for (let k = 0; k < length; k += 4) {
        view.setUint32(start + k, view.getUint32(this.#stampAt + k, true), true);
      }
      this.#at = start + length;
      return;
    }
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
    const bytes = this.#bytes;
    if (value < 0) bytes[this.#at++] = MINUS;
    const whole = Math.floor(size);
    const rest = Math.round((size - whole) * 1e9);
    if (rest === 1e9) {
      this.integer(whole + 1);
      return;
    }
    this.integer(whole);
    if (rest === 0) return;
    const at = this.#at;
    const first = Math.floor(rest / 1e8);
    const eight = rest - first * 1e8;
    const high = Math.floor(eight / 1e4);
    bytes[at] = DOT;
    bytes[at + 1] = ZERO + first;
    this.#view.setUint32(at + 2, DIGITS[high], true);
    this.#view.setUint32(at + 6, DIGITS[eight - high * 1e4], true);
    let end = at + 10;
    while (bytes[end - 1] === ZERO) end--;
    this.#at = end;
  }

  /** Any number, exactly; what JSON has no number for is null. */
  number(value: number): void {
    this.text(Number.isFinite(value) ? String(value) : 'null');
  }
}
