/**
 * The values of a record, collected by key in any order: digits found in texts, or sums. Values that were not found are 0
 * in the record, as in tacc_stats.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { isNumber } from './scan.ts';

const ZERO = 0x30;
const WORD = 2 ** 32;
/** Sums up to this are exact as a double. */
const EXACT_HIGH = 2 ** 21;
const [PRIME, OFFSET] = [16777619, 2166136261];

const [UNSET, DIGITS, SUM] = [0, 1, 2];

/** Finds keys by their bytes: a hash table with open addressing, because most words of a text are no keys. */
export class KeyTable {
  private readonly keys: readonly Buffer[];
  /** Number of a key + 1; 0 if the slot is free. */
  private readonly slots: Int32Array;

  constructor(keys: readonly string[]) {
    this.keys = keys.map((key) => Buffer.from(key, 'latin1'));
    let size = 16;
    while (size < 4 * keys.length) size *= 2;
    this.slots = new Int32Array(size);
    this.keys.forEach((key, k) => {
      let slot = hash(key, 0, key.length) & (size - 1);
      while (this.slots[slot] !== 0) slot = (slot + 1) & (size - 1);
      this.slots[slot] = k + 1;
    });
  }

  /** Number of the key spelt by `bytes[from, to)`; -1 if it is none. */
  find(bytes: Uint8Array, from: number, to: number): number {
    const slots = this.slots;
    const mask = slots.length - 1;
    for (let slot = hash(bytes, from, to) & mask; ; slot = (slot + 1) & mask) {
      const k = slots[slot] - 1;
      if (k < 0) return -1;
      if (equal(this.keys[k], bytes, from, to)) return k;
    }
  }
}

function hash(bytes: Uint8Array, from: number, to: number): number {
  let value = OFFSET;
  for (let k = from; k < to; k++) value = Math.imul(value ^ bytes[k], PRIME);
  return value >>> 8;
}

function equal(key: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (key.length !== to - from) return false;
  for (let k = 0; k < key.length; k++) if (key[k] !== bytes[from + k]) return false;
  return true;
}

export class KeyValues {
  readonly length: number;
  private readonly kind: Uint8Array;
  private readonly from: Int32Array;
  private readonly to: Int32Array;
  /** Sums, modulo 2^64. */
  private readonly high: Float64Array;
  private readonly low: Float64Array;

  constructor(length: number) {
    this.length = length;
    this.kind = new Uint8Array(length);
    this.from = new Int32Array(length);
    this.to = new Int32Array(length);
    this.high = new Float64Array(length);
    this.low = new Float64Array(length);
  }

  clear(): void {
    this.kind.fill(UNSET);
  }

  /** Takes the digits `bytes[from, to)` as a key's value; they must not change until written. Ignores what is no number. */
  set(key: number, bytes: Uint8Array, from: number, to: number): boolean {
    if (!isNumber(bytes, from, to)) return false;
    this.kind[key] = DIGITS;
    this.from[key] = from;
    this.to[key] = to;
    return true;
  }

  /** Adds the number with these digits to the sum of a key. */
  add(key: number, bytes: Uint8Array, from: number, to: number): boolean {
    if (!isNumber(bytes, from, to)) return false;
    let high = 0;
    let low = 0;
    for (let k = from; k < to; k++) {
      low = low * 10 + (bytes[k] - ZERO);
      const carry = Math.floor(low / WORD);
      low -= carry * WORD;
      high = high * 10 + carry;
    }
    this.addParts(key, high, low);
    return true;
  }

  /** Adds `high` * 2^32 + `low`, integers of up to 32 bits. */
  addParts(key: number, high: number, low: number): void {
    if (this.kind[key] !== SUM) {
      this.kind[key] = SUM;
      this.high[key] = 0;
      this.low[key] = 0;
    }
    const sum = this.low[key] + low;
    const carry = sum >= WORD ? 1 : 0;
    this.low[key] = sum - carry * WORD;
    this.high[key] = (this.high[key] + high + carry) % WORD;
  }

  /** Adds the value that `other` has for its key `of` to the sum of `key`. `bytes`: the text that holds the digits. */
  addFrom(key: number, other: KeyValues, of: number, bytes: Uint8Array): void {
    if (other.kind[of] === DIGITS) this.add(key, bytes, other.from[of], other.to[of]);
    else if (other.kind[of] === SUM) this.addParts(key, other.high[of], other.low[of]);
  }

  /** Adds the values of all keys. `bytes`: the text that holds the digits. */
  write(writer: RawWriter, bytes: Uint8Array): void {
    for (let k = 0; k < this.length; k++) {
      const kind = this.kind[k];
      if (kind === DIGITS) writer.digits(bytes, this.from[k], this.to[k]);
      else if (kind === UNSET) writer.number(0);
      else if (this.high[k] < EXACT_HIGH) writer.number(this.high[k] * WORD + this.low[k]);
      else writer.bigint((BigInt(this.high[k]) << 32n) | BigInt(this.low[k]));
    }
  }
}
