/**
 * Parses raw stats text in pieces of any size and tells a visitor line by line. Nothing is allocated per record: see
 * `record-reader.ts` for the lines that make up nearly all of a file. This is the grammar of all lines.
 *
 * As tolerant as tacc_stats' own readers: unknown properties, `#` and `@` lines are skipped; a line of an unknown
 * type, or with another number of values than its schema, is left out; so is a last line without its newline, which may
 * have been cut. Whatever is left out or strange is reported, by kind and line.
 */
import { visible } from '../visible.ts';
import { readDecimal } from './decimal.ts';
import type { KnownType } from './entries.ts';
import { HeaderWatch } from './header-watch.ts';
import { LineBuffer, LONGEST_BYTES } from './line-buffer.ts';
import type { OddityKind } from './oddities.ts';
import { LOST } from './oddities.ts';
import { BEHIND_BYTES, RecordReader } from './record-reader.ts';
import { formatSchema, oddOptions, parseSchema } from './schema.ts';
import type { RawGroup, RawSummary, RawVisitor } from './visitor.ts';

const RETURN = 0x0d;
const BLANK = 0x20;
const TAB = 0x09;
const NEWLINE = 0x0a;
const byte = (character: string) => character.charCodeAt(0);
const DOLLAR = byte('$');
const BANG = byte('!');
const PERCENT = byte('%');
const HASH = byte('#');
const AT = byte('@');
const NINE = byte('9');
const ZERO = byte('0');

const TIME = /^\d+(\.\d+)?$/;
/** Characters of a line that a report of a problem shows. */
const SHOWN = 120;
/** Stands for bytes that are not valid UTF-8. */
const REPLACED = '\ufffd';

const isBlank = (code: number) => code === BLANK || code === TAB;

const textOf = (bytes: Uint8Array, from: number, to: number) =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');

export interface RawParserOptions {
  /** Records of other types are skipped: not read, checked or reported. */
  readonly types?: readonly string[];
}

/**
 * Reads a raw stats file in pieces of any size and tells a visitor what it contains. It never throws because of what a file
 * holds.
 * @example
 * ```ts
 * import { RawParser } from 'triscope/formats/tacc';
 *
 * const parser = new RawParser({
 *   group: ({ seconds, jobIds }) => console.log(seconds, jobIds),
 *   record: (schema, device, values) => console.log(schema.type, device, values[0]),
 * });
 * parser.push(new TextEncoder().encode('$tacc_stats 2.3.5\n!cpu user,E,U=cs\n\n1795226194 4001\ncpu 0 42974\n'));
 * const { records } = parser.end();
 * ```
 */
export class RawParser {
  private readonly visitor: RawVisitor;
  private readonly wanted: readonly string[] | undefined;
  private readonly lines = new LineBuffer(
    (bytes, end) => this.run(bytes, end),
    (bytes) => this.tooLong(bytes),
  );
  private readonly reader = new RecordReader();
  private readonly types = new Map<string, KnownType>();
  private readonly watch = new HeaderWatch((kind, reason) => this.tell(kind, reason, ''));
  private line = 0;
  private groups = 0;
  private records = 0;
  private problems = 0;
  private blanks = 0;
  /** Number of the last line that was a mark, or text after one. */
  private marked = -1;
  private readonly oddities: Partial<Record<OddityKind, number>> = {};

  /** @param visitor is called for what was read */
  constructor(visitor: RawVisitor, { types }: RawParserOptions = {}) {
    this.visitor = visitor;
    this.wanted = types;
  }

  /** What was read so far: version, host, times, and suspect spots. */
  get summary(): RawSummary {
    return {
      lines: this.line,
      groups: this.groups,
      records: this.records,
      problems: this.problems,
      oddities: { ...this.oddities },
    };
  }

  /** Takes the next bytes, which the caller may reuse afterwards; whole lines are delivered at once. */
  push(chunk: Uint8Array): void {
    this.lines.push(chunk);
  }

  /** Reports a last line without its newline. */
  end(): RawSummary {
    const rest = this.lines.end();
    if (rest.length > 0) {
      this.line++;
      this.lost('cut', 'cut off: no newline at the end', rest, 0, rest.length);
    }
    return this.summary;
  }

  /** Takes whole lines: `bytes` up to `end`, which is after a newline. */
  private run(bytes: Uint8Array, end: number): void {
    const visitor = this.visitor;
    const reader = this.reader;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    // Lines before this have enough bytes after them.
    const quick =
      bytes.length < BEHIND_BYTES ? 0 : bytes.lastIndexOf(NEWLINE, bytes.length - BEHIND_BYTES) + 1;
    let line = this.line;
    let group = this.groups;
    for (let at = 0; at < end; ) {
      if (at < quick && bytes[at] > NINE && group > 0) {
        const next = reader.read(bytes, view, at);
        if (next >= 0) {
          at = next;
          line++;
          const { entry } = reader;
          if (entry.group === group) {
            this.line = line;
            this.repeated(entry.device);
          }
          entry.group = group;
          this.records++;
          if (!entry.type.skipped) {
            visitor.record?.(entry.type.schema, entry.device, entry.type.values, line);
          }
          continue;
        }
      }
      const newline = bytes.indexOf(NEWLINE, at);
      this.line = line;
      this.take(bytes, at, newline);
      line = this.line;
      group = this.groups;
      at = newline + 1;
    }
    this.line = line;
  }

  private take(bytes: Uint8Array, from: number, lineEnd: number): void {
    if (lineEnd - from >= LONGEST_BYTES) {
      this.tooLong(bytes.subarray(from, from + SHOWN));
      return;
    }
    this.line++;
    let end = lineEnd;
    while (end > from && bytes[end - 1] === RETURN) end--;
    if (end < lineEnd) this.tell('carriage_return', 'ends with a carriage return', '');
    if (end === from) {
      if (++this.blanks === 2) this.tell('blank_lines', 'more than one blank line', '');
      return;
    }
    this.blanks = 0;
    const first = bytes[from];
    if (first >= ZERO && first <= NINE) this.group(bytes, from, end);
    else if (first === PERCENT) this.mark(bytes, from, end);
    else if (first === BANG) this.schema(bytes, from, end);
    else if (first === DOLLAR) this.property(bytes, from, end);
    else if (first === HASH) this.tell('comment', 'a comment', textOf(bytes, from, end));
    else if (first === AT) this.tell('devices', 'a line of devices', textOf(bytes, from, end));
    else this.record(bytes, from, end);
  }

  /** Reports something suspect that lost nothing. */
  private tell(kind: OddityKind, reason: string, text: string): void {
    this.oddities[kind] = (this.oddities[kind] ?? 0) + 1;
    const line = this.line;
    const shown = visible(text.slice(0, SHOWN));
    this.visitor.oddity?.({ kind, line, reason: visible(reason), text: shown });
  }

  /** Reports a line that is left out. */
  private lost(
    kind: keyof typeof LOST,
    reason: string,
    bytes: Uint8Array,
    from: number,
    end: number,
  ) {
    this.problems++;
    this.oddities[kind] = (this.oddities[kind] ?? 0) + 1;
    if (this.visitor.problem === undefined) return;
    const text = visible(textOf(bytes, from, Math.min(end, from + SHOWN)));
    this.visitor.problem({ kind, line: this.line, reason: visible(reason), text });
  }

  private tooLong(beginning: Uint8Array): void {
    this.line++;
    this.lost('long_line', LOST.long_line, beginning, 0, beginning.length);
  }

  private repeated(device: string): void {
    this.tell('repeated_device', 'this device was in this group before', device);
  }

  private property(bytes: Uint8Array, from: number, end: number): void {
    const text = textOf(bytes, from + 1, end);
    const blank = text.search(/[ \t]/);
    const name = blank < 0 ? text : text.slice(0, blank);
    const value = blank < 0 ? '' : text.slice(blank + 1);
    this.watch.property(name, value);
    this.visitor.property?.(name, value, this.line);
  }

  private schema(bytes: Uint8Array, from: number, end: number): void {
    const text = textOf(bytes, from + 1, end);
    const schema = parseSchema(text);
    if (typeof schema === 'string') {
      this.lost('schema', schema, bytes, from, end);
      return;
    }
    for (const option of oddOptions(text)) {
      this.tell('schema_option', `'${option}': not an option that is known`, text);
    }
    const known = this.types.get(schema.type);
    if (known !== undefined) {
      if (formatSchema(known.schema) === formatSchema(schema)) return;
      this.tell('schema_change', `type ${schema.type} gets other keys from here on`, text);
      this.reader.forget();
    }
    const values = new BigUint64Array(schema.keys.length);
    const skipped = this.wanted?.includes(schema.type) === false;
    this.types.set(schema.type, {
      schema,
      values,
      words: new Uint32Array(values.buffer),
      skipped,
    });
    this.visitor.schema?.(schema, this.line);
  }

  private group(bytes: Uint8Array, from: number, end: number): void {
    const fields = textOf(bytes, from, end).split(/\s+/).filter(Boolean);
    const [time, jobs = '', host = null] = fields;
    if (!TIME.test(time) || fields.length > 3) {
      this.lost('time_line', 'neither a time with job ids nor a record', bytes, from, end);
      return;
    }
    const seconds = Number(time);
    const boot = this.watch.group(seconds, host);
    this.groups++;
    const jobIds = jobs.split(',').filter(Boolean);
    const group: RawGroup = { time, seconds, jobIds, host, boot, line: this.line };
    this.visitor.group?.(group);
  }

  private mark(bytes: Uint8Array, from: number, end: number): void {
    if (this.groups === 0) {
      this.lost('before_time', 'a mark before any time', bytes, from, end);
      return;
    }
    this.marked = this.line;
    this.visitor.mark?.(textOf(bytes, from + 1, end), this.line);
  }

  private unknown(bytes: Uint8Array, from: number, end: number): void {
    const text = textOf(bytes, from, Math.min(end, from + SHOWN));
    if (visible(text) !== text || text.includes(REPLACED)) {
      this.lost('not_text', 'not text', bytes, from, end);
    } else if (this.marked === this.line - 1) {
      this.marked = this.line;
      this.lost('bare_text', 'text without %, after a mark', bytes, from, end);
    } else this.lost('unknown_type', 'unknown type', bytes, from, end);
  }

  /** A record line that may have tabs, several blanks or numbers of 20 digits, or that is no record. */
  private record(bytes: Uint8Array, from: number, end: number): void {
    let at = from;
    while (at < end && !isBlank(bytes[at])) at++;
    const known = this.types.get(textOf(bytes, from, at));
    if (known === undefined) {
      this.unknown(bytes, from, end);
      return;
    }
    if (this.groups === 0) {
      this.lost('before_time', 'a record before any time', bytes, from, end);
      return;
    }
    while (at < end && isBlank(bytes[at])) at++;
    const device = at;
    while (at < end && !isBlank(bytes[at])) at++;
    if (at === device) {
      this.lost('no_device', 'no device', bytes, from, end);
      return;
    }
    const deviceEnd = at;
    const wanted = known.values.length;
    let count = 0;
    for (;;) {
      while (at < end && isBlank(bytes[at])) at++;
      if (at >= end) break;
      const start = at;
      while (at < end && !isBlank(bytes[at])) at++;
      if (count < wanted && !readDecimal(bytes, start, at, known.words, count)) {
        const what = visible(textOf(bytes, start, Math.min(at, start + 24)));
        const reason = `'${what}' is not a number of 64 bits`;
        this.lost('not_a_number', reason, bytes, from, end);
        return;
      }
      count++;
    }
    if (count !== wanted) {
      const reason = `${count} values, its schema has ${wanted}`;
      this.lost('value_count', reason, bytes, from, end);
      return;
    }
    this.records++;
    const entry = this.reader.entryOf(known, bytes, device, deviceEnd);
    if (entry.group === this.groups) this.repeated(entry.device);
    entry.group = this.groups;
    if (known.skipped) return;
    this.visitor.record?.(known.schema, entry.device, known.values, this.line);
  }
}
