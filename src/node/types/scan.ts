/** Finds words and numbers in the text of kernel files without making strings of them. */

const NEWLINE = 0x0a;
const BLANK = 0x20;
const TAB = 0x09;
const [ZERO, NINE] = [0x30, 0x39];
const MAX = Buffer.from(String(2n ** 64n - 1n));

/** Whether `bytes[from, to)` are the digits of an unsigned number of at most 64 bits. */
export function isNumber(bytes: Uint8Array, from: number, to: number): boolean {
  const length = to - from;
  if (length === 0 || length > MAX.length) return false;
  for (let k = from; k < to; k++) if (bytes[k] < ZERO || bytes[k] > NINE) return false;
  if (length < MAX.length) return true;
  for (let k = 0; k < length; k++) {
    if (bytes[from + k] !== MAX[k]) return bytes[from + k] < MAX[k];
  }
  return true;
}

/** The number with the digits `bytes[from, to)`; NaN if they are none. Exact below 2^53. */
export function numberAt(bytes: Uint8Array, from: number, to: number): number {
  if (!isNumber(bytes, from, to)) return Number.NaN;
  let value = 0;
  for (let k = from; k < to; k++) value = 10 * value + (bytes[k] - ZERO);
  return value;
}

/** Goes through a text word by word and line by line. `over` starts on a text; the last word found is `bytes[from, to)`. */
export class Scanner {
  bytes: Buffer = Buffer.alloc(0);
  from = 0;
  to = 0;
  private at = 0;
  private end = 0;

  /** The text is `bytes[at, end)`. */
  over(bytes: Buffer, end: number, at = 0): this {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
    return this;
  }

  /** Finds the next word of this line; false if there is none. */
  word(): boolean {
    const { bytes } = this;
    const end = this.end;
    let at = this.at;
    while (at < end && (bytes[at] === BLANK || bytes[at] === TAB)) at++;
    this.from = at;
    while (at < end && bytes[at] !== BLANK && bytes[at] !== TAB && bytes[at] !== NEWLINE) at++;
    this.to = at;
    this.at = at;
    return at > this.from;
  }

  /** Finds the word after the next `count`. */
  wordAfter(count: number): boolean {
    for (let k = 0; k < count; k++) if (!this.word()) return false;
    return this.word();
  }

  /** Finds the rest of this line, without leading blanks. */
  rest(): void {
    const { bytes } = this;
    while (this.at < this.end && (bytes[this.at] === BLANK || bytes[this.at] === TAB)) this.at++;
    this.from = this.at;
    this.at = this.lineEnd();
    this.to = this.at;
  }

  /** Goes to the next line; false if there is none. */
  line(): boolean {
    this.at = this.lineEnd() + 1;
    return this.at < this.end;
  }

  private lineEnd(): number {
    const { bytes } = this;
    const end = this.end;
    let at = this.at;
    while (at < end && bytes[at] !== NEWLINE) at++;
    return at;
  }

  /** The last word found, or a part of it: a text with one character per byte. */
  text(from = this.from, to = this.to): string {
    return this.bytes.toString('latin1', from, to);
  }

  /** The word's number; NaN if it is none. */
  number(): number {
    return numberAt(this.bytes, this.from, this.to);
  }
}
