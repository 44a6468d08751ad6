/**
 * Plain record lines, `type device value…` with single blanks, read from their bytes: the hot loop of the reader. It
 * allocates nothing and looks at each byte once. A device's line is known by the bytes it begins with, and the line
 * that followed it in the group before is tried first. Any other line is left to the parser's slower way.
 */
import type { RawSchema } from './schema.ts';

export interface KnownType {
  readonly schema: RawSchema;
  readonly values: BigUint64Array;
  /** The same memory as pairs of 32 bits, low half first. */
  readonly words: Uint32Array;
}

/** A device of a type. */
export interface Entry {
  readonly type: KnownType;
  readonly device: string;
  /** `type device `, with its last blank. */
  readonly prefix: Uint8Array;
  /** The entry that followed it last. */
  next: Entry;
  /** Number of the last group with a record of it. */
  group: number;
}

const NEWLINE = 0x0a;
const BLANK = 0x20;
const ZERO = 0x30;
const WORD = 2 ** 32;
/** Digits that 32 bits hold. */
const PART = 9;
/** Digits that a double holds. */
const EXACT = 15;
const POWERS = Float64Array.from({ length: PART + 1 }, (_, k) => 10 ** k);
const HALF = 2 ** 15;
const REST = 2 ** 17;
/** Devices kept; when there are more, all are forgotten and learnt again. */
const MOST = 1 << 17;

/** Writes `top 10^digits + low`, each below 10^9, as two words. */
function put(words: Uint32Array, at: number, top: number, digits: number, low: number): void {
  const power = POWERS[digits];
  if (PART + digits <= EXACT) {
    const value = top * power + low;
    const high = Math.floor(value / WORD);
    words[at] = value - high * WORD;
    words[at + 1] = high;
    return;
  }
  // Split at 15 bits: each product is below 2^45.
  const upper = (top >>> 15) * power;
  const lower = (top & (HALF - 1)) * power + low;
  const carry = Math.floor(upper / REST);
  const bottom = (upper - carry * REST) * HALF + lower;
  const over = Math.floor(bottom / WORD);
  words[at] = bottom - over * WORD;
  words[at + 1] = carry + over;
}

const NONE: RawSchema = { type: '', keys: [] };

/** An entry that no line begins with. */
function start(): Entry {
  const values = new BigUint64Array(0);
  const type = { schema: NONE, values, words: new Uint32Array(0) };
  const entry = { type, device: '', prefix: Uint8Array.of(NEWLINE), group: 0 } as unknown as Entry;
  entry.next = entry;
  return entry;
}

export class RecordReader {
  readonly #start = start();
  #entries = new Map<string, Entry>();
  #last: Entry = this.#start;

  /** The entry of the record that was read last. */
  get entry(): Entry {
    return this.#last;
  }

  /**
   * Reads the line at `from`, which must end with a newline within `bytes`: its values are in `entry.type.values`.
   * Returns the byte behind the newline; -1 where it is not the plain line of a device that is known.
   */
  read(bytes: Uint8Array, from: number): number {
    let entry = this.#last.next;
    let at = match(bytes, from, entry.prefix);
    if (at < 0) {
      const known = this.#find(bytes, from);
      if (known === undefined) return -1;
      this.#last.next = known;
      entry = known;
      at = from + known.prefix.length;
    }
    const { words } = entry.type;
    const end = words.length;
    if (end === 0) return -1;
    let behind = BLANK;
    for (let k = 0; k < end; k += 2) {
      if (k === end - 2) behind = NEWLINE;
      let value = bytes[at] - ZERO;
      // Also true of bytes below '0', which are negative here.
      if (value >>> 0 > 9) return -1;
      let digit = 0;
      // Nine digits one by one: a loop with a counter takes a third longer.
      for (;;) {
        digit = bytes[++at] - ZERO;
        if (digit >>> 0 > 9) break;
        value = (value * 10 + digit) | 0;
        digit = bytes[++at] - ZERO;
        if (digit >>> 0 > 9) break;
        value = (value * 10 + digit) | 0;
        digit = bytes[++at] - ZERO;
        if (digit >>> 0 > 9) break;
        value = (value * 10 + digit) | 0;
        digit = bytes[++at] - ZERO;
        if (digit >>> 0 > 9) break;
        value = (value * 10 + digit) | 0;
        digit = bytes[++at] - ZERO;
        if (digit >>> 0 > 9) break;
        value = (value * 10 + digit) | 0;
        digit = bytes[++at] - ZERO;
        if (digit >>> 0 > 9) break;
        value = (value * 10 + digit) | 0;
        digit = bytes[++at] - ZERO;
        if (digit >>> 0 > 9) break;
        value = (value * 10 + digit) | 0;
        digit = bytes[++at] - ZERO;
        if (digit >>> 0 > 9) break;
        value = (value * 10 + digit) | 0;
        digit = bytes[++at] - ZERO;
        break;
      }
      if (digit >>> 0 > 9) {
        words[k] = value;
        words[k + 1] = 0;
      } else {
        const second = at;
        let low = 0;
        do {
          if (at - second === PART) return -1;
          low = (low * 10 + digit) | 0;
          digit = bytes[++at] - ZERO;
        } while (digit >>> 0 <= 9);
        put(words, k, value, at - second, low);
      }
      if (bytes[at] !== behind) return -1;
      at++;
    }
    this.#last = entry;
    return at;
  }

  /** The entry of a device; made where it is new. */
  entryOf(type: KnownType, bytes: Uint8Array, from: number, end: number): Entry {
    const device = Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from);
    const prefix = Buffer.concat([Buffer.from(`${type.schema.type} `), device, Buffer.from(' ')]);
    const key = prefix.toString('latin1');
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      if (this.#entries.size >= MOST) this.forget();
      entry = { type, device: device.toString('utf8'), prefix, next: this.#start, group: 0 };
      // Latin-1 holds any bytes, and tells them apart.
      this.#entries.set(key, entry);
    }
    this.#last.next = entry;
    this.#last = entry;
    return entry;
  }

  /** Forgets all devices: a type got another schema. */
  forget(): void {
    this.#entries = new Map();
    this.#start.next = this.#start;
    this.#last = this.#start;
  }

  /** The entry whose prefix the line begins with. */
  #find(bytes: Uint8Array, from: number): Entry | undefined {
    let at = from;
    for (let blanks = 0; blanks < 2; at++) {
      if (bytes[at] === BLANK) blanks++;
      else if (bytes[at] === NEWLINE) return undefined;
    }
    const view = Buffer.from(bytes.buffer, bytes.byteOffset + from, at - from);
    return this.#entries.get(view.toString('latin1'));
  }
}

/** The byte behind `prefix` where the bytes at `from` begin with it; else -1. */
function match(bytes: Uint8Array, from: number, prefix: Uint8Array): number {
  // From the end, where devices differ; a line ends with a newline, which no prefix has but that of no line.
  const { length } = prefix;
  for (let k = 0; k < length; k++) if (bytes[from + k] !== prefix[k]) return -1;
  return from + length;
}
