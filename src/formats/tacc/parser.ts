/**
 * Raw stats text, in pieces of any size, told to a visitor line by line. Nothing is allocated per record: values are
 * read from the bytes into one array per type, types and devices are decoded when first seen.
 *
 * As tolerant as the originals' readers: unknown properties, `#` and `@` lines are passed over; a line of an unknown
 * type, or with another number of values than its schema, is reported and left out; so is a last line without its
 * newline, which may have been cut.
 */
import { readDecimal } from './decimal.ts';
import { Names } from './names.ts';
import { parseSchema, type RawSchema } from './schema.ts';
import type { RawGroup, RawSummary, RawVisitor } from './visitor.ts';

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BLANK = 0x20;
const TAB = 0x09;
const byte = (character: string) => character.charCodeAt(0);
const DOLLAR = byte('$');
const BANG = byte('!');
const PERCENT = byte('%');
const HASH = byte('#');
const AT = byte('@');
const NINE = byte('9');
const ZERO = byte('0');

const TIME = /^\d+(\.\d+)?$/;
/** Characters of a line that a problem shows. */
const SHOWN = 120;

interface KnownType {
  readonly schema: RawSchema;
  readonly values: BigUint64Array;
  /** The same memory as pairs of 32 bits, low half first. */
  readonly words: Uint32Array;
}

const textOf = (bytes: Uint8Array, from: number, to: number) =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');

export class RawParser {
  readonly #visitor: RawVisitor;
  #rest = new Uint8Array(0);
  #line = 0;
  #groups = 0;
  #records = 0;
  #problems = 0;
  readonly #typeNames = new Names();
  readonly #devices = new Names();
  /** By the type's number in `typeNames`. */
  readonly #types: (KnownType | undefined)[] = [];

  constructor(visitor: RawVisitor) {
    this.#visitor = visitor;
  }

  get summary(): RawSummary {
    return {
      lines: this.#line,
      groups: this.#groups,
      records: this.#records,
      problems: this.#problems,
    };
  }

  /** Takes the next bytes; whole lines are told at once. */
  push(chunk: Uint8Array): void {
    let bytes = chunk;
    if (this.#rest.length > 0) {
      bytes = new Uint8Array(this.#rest.length + chunk.length);
      bytes.set(this.#rest);
      bytes.set(chunk, this.#rest.length);
    }
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(NEWLINE, from);
      if (end < 0) break;
      this.#take(bytes, from, end);
      from = end + 1;
    }
    // A copy, which slice() of a Buffer is not: the caller may use its own again.
    this.#rest = new Uint8Array(bytes.subarray(from));
  }

  /** Says what is left of a line without its newline. */
  end(): RawSummary {
    if (this.#rest.length > 0) {
      this.#line++;
      this.#problem('cut off: no newline at the end', this.#rest, 0, this.#rest.length);
      this.#rest = new Uint8Array(0);
    }
    return this.summary;
  }

  #take(bytes: Uint8Array, from: number, lineEnd: number): void {
    this.#line++;
    const end = lineEnd > from && bytes[lineEnd - 1] === RETURN ? lineEnd - 1 : lineEnd;
    if (end === from) return;
    const first = bytes[from];
    if (first >= ZERO && first <= NINE) this.#group(bytes, from, end);
    else if (first === PERCENT) this.#mark(bytes, from, end);
    else if (first === BANG) this.#schema(bytes, from, end);
    else if (first === DOLLAR) this.#property(bytes, from, end);
    else if (first !== HASH && first !== AT) this.#record(bytes, from, end);
  }

  #problem(reason: string, bytes: Uint8Array, from: number, end: number): void {
    this.#problems++;
    const text = textOf(bytes, from, Math.min(end, from + SHOWN));
    this.#visitor.problem?.({ line: this.#line, reason, text });
  }

  #property(bytes: Uint8Array, from: number, end: number): void {
    const text = textOf(bytes, from + 1, end);
    const blank = text.indexOf(' ');
    const name = blank < 0 ? text : text.slice(0, blank);
    this.#visitor.property?.(name, blank < 0 ? '' : text.slice(blank + 1), this.#line);
  }

  #schema(bytes: Uint8Array, from: number, end: number): void {
    const schema = parseSchema(textOf(bytes, from + 1, end));
    if (typeof schema === 'string') {
      this.#problem(schema, bytes, from, end);
      return;
    }
    const values = new BigUint64Array(schema.keys.length);
    const name = Buffer.from(schema.type);
    this.#types[this.#typeNames.of(name, 0, name.length)] = {
      schema,
      values,
      words: new Uint32Array(values.buffer),
    };
    this.#visitor.schema?.(schema, this.#line);
  }

  #group(bytes: Uint8Array, from: number, end: number): void {
    const fields = textOf(bytes, from, end).split(/\s+/).filter(Boolean);
    const [time, jobs = '', host = null] = fields;
    if (!TIME.test(time) || fields.length > 3) {
      this.#problem('neither a time with job ids nor a record', bytes, from, end);
      return;
    }
    this.#groups++;
    const group: RawGroup = {
      time,
      seconds: Number(time),
      jobIds: jobs.split(',').filter(Boolean),
      host,
      line: this.#line,
    };
    this.#visitor.group?.(group);
  }

  #mark(bytes: Uint8Array, from: number, end: number): void {
    if (this.#groups === 0) {
      this.#problem('a mark before any time', bytes, from, end);
      return;
    }
    this.#visitor.mark?.(textOf(bytes, from + 1, end), this.#line);
  }

  #record(bytes: Uint8Array, from: number, end: number): void {
    let at = from;
    while (at < end && bytes[at] !== BLANK && bytes[at] !== TAB) at++;
    const known = this.#types[this.#typeNames.of(bytes, from, at)];
    if (known === undefined) {
      this.#problem('unknown type', bytes, from, end);
      return;
    }
    if (this.#groups === 0) {
      this.#problem('a record before any time', bytes, from, end);
      return;
    }
    while (at < end && (bytes[at] === BLANK || bytes[at] === TAB)) at++;
    const device = at;
    while (at < end && bytes[at] !== BLANK && bytes[at] !== TAB) at++;
    if (at === device) {
      this.#problem('no device', bytes, from, end);
      return;
    }
    const deviceEnd = at;
    const { schema, values, words } = known;
    const wanted = values.length;
    let count = 0;
    for (;;) {
      while (at < end && (bytes[at] === BLANK || bytes[at] === TAB)) at++;
      if (at >= end) break;
      const start = at;
      while (at < end && bytes[at] !== BLANK && bytes[at] !== TAB) at++;
      if (count < wanted && !readDecimal(bytes, start, at, words, count)) {
        this.#problem('not a number of 64 bits', bytes, from, end);
        return;
      }
      count++;
    }
    if (count !== wanted) {
      this.#problem(`${count} values, its schema has ${wanted}`, bytes, from, end);
      return;
    }
    this.#records++;
    const name = this.#devices.texts[this.#devices.of(bytes, device, deviceEnd)];
    this.#visitor.record?.(schema, name, values, this.#line);
  }
}
