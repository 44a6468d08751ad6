/**
 * Writes raw stats text: header, then record groups. Values are copied as decimal digits or bigints, so that 64-bit
 * counters stay exact. A whole group goes to the sink at once, from a buffer that is reused.
 */
import { formatSchema, type RawSchema } from './schema.ts';

/** `2.3`: times with microseconds, host in each group, as since 2.0. `1.0`: whole seconds, no host. */
export type RawStyle = '1.0' | '2.3';

/** The versions whose formats these are. */
const VERSIONS: Readonly<Record<RawStyle, string>> = { '1.0': '1.0.2', '2.3': '2.3.5' };

/** The beginning of a raw stats file: host, kernel, seconds since its start, and schemas. */
export interface RawHeader {
  /** Name of the host. */
  readonly hostname: string;
  /** `Linux x86_64 5.14.0 #1 SMP …` */
  readonly uname: string;
  /** Seconds. */
  readonly uptime: number;
  /** Schemas of the types that the file may hold. */
  readonly schemas: readonly RawSchema[];
}

const NEWLINE = 0x0a;
const BLANK = 0x20;
const LAST_PLAIN = 0x7e;
const PERCENT = 0x25;
const ZERO = 0x30;
const START = 16 * 1024;
/** Most bytes of a number. */
const DIGITS_BYTES = 20;
const MILLION = 1_000_000;

/** Names may contain no blanks, which would end the field, and nothing that controls a terminal. */
const word = (text: string) => text.replace(/[\s\p{Cc}]/gu, '_') || '-';
const oneLine = (text: string) => text.replace(/\s*[\r\n]+\s*/g, ' ').replace(/\p{Cc}/gu, '_');

/**
 * Writes raw stats, byte for byte as tacc_stats of a version does.
 * @example
 * ```ts
 * import { parseSchema, RawWriter } from 'triscope/formats/tacc';
 *
 * const cpu = parseSchema('cpu user,E,U=cs');
 * if (typeof cpu === 'string') throw new Error(cpu);
 * const header = { hostname: 'c401-101', uname: 'Linux x86_64 6.1', uptime: 1252, schemas: [cpu] };
 * const writer = new RawWriter(header, (bytes) => process.stdout.write(bytes), '2.3');
 * writer.header();
 * writer.group(1_795_226_194_482_570, ['4001']); // microseconds since 1970
 * writer.record('cpu', '0');
 * writer.bigint(42974n);
 * writer.endRecord(1);
 * writer.flush();
 * ```
 */
export class RawWriter {
  private readonly sink: (bytes: Uint8Array) => void;
  private readonly style: RawStyle;
  private readonly _header: RawHeader;
  private buffer = Buffer.allocUnsafe(START);
  private used = 0;
  /** Where the record that is being written begins; -1 between records. */
  private _record = -1;
  /** Where the record that was last ended begins. */
  private last = 0;
  private values = 0;

  /** `sink` gets whole groups; the bytes are valid until it returns. */
  constructor(header: RawHeader, sink: (bytes: Uint8Array) => void, style: RawStyle = '1.0') {
    this._header = header;
    this.sink = sink;
    this.style = style;
  }

  /** Writes the header: properties, then schemas. `more`: properties of Triscope's own, which readers skip. */
  header(more: Readonly<Record<string, string>> = {}): void {
    const { hostname, uname, uptime, schemas } = this._header;
    const properties = {
      tacc_stats: VERSIONS[this.style],
      hostname: word(hostname),
      uname,
      uptime: String(Math.trunc(uptime)),
      ...more,
    };
    for (const [name, value] of Object.entries(properties))
      this.text(`$${name} ${oneLine(value)}\n`);
    for (const schema of schemas) this.text(`${formatSchema(schema)}\n`);
    this.flush();
  }

  /** Begins a group. `microseconds` since 1970, whole; `jobIds` that run here: none is written as `-`. */
  group(microseconds: number, jobIds: readonly string[]): void {
    const seconds = Math.floor(microseconds / 1e6);
    const fraction = String(microseconds - seconds * 1e6).padStart(6, '0');
    const jobs = jobIds.length === 0 ? '-' : jobIds.map(word).join(',');
    this.text(
      this.style === '1.0'
        ? `\n${seconds} ${jobs}\n`
        : `\n${seconds}.${fraction} ${jobs} ${word(this._header.hostname)}\n`,
    );
  }

  /** Adds a mark to the group, before its records; each line of `text` becomes one. */
  mark(text: string): void {
    for (const line of text.split(/\r?\n/)) {
      this.ensure(1);
      this.buffer[this.used++] = PERCENT;
      this.text(`${line}\n`);
    }
  }

  /** Begins a record; its values follow, as many as the type's schema has keys, then `endRecord`. */
  record(type: string, device: string): void {
    this._record = this.used;
    this.values = 0;
    if (!this.plain(type)) this.text(type);
    this.ensure(1);
    this.buffer[this.used++] = BLANK;
    if (!this.plain(device)) this.text(word(device));
  }

  /** Writes a word of printable ASCII, as nearly all are, because a call into Node costs more. False: nothing was written. */
  private plain(text: string): boolean {
    const { length } = text;
    this.ensure(length);
    const buffer = this.buffer;
    const at = this.used;
    for (let k = 0; k < length; k++) {
      const code = text.charCodeAt(k);
      if (code <= BLANK || code > LAST_PLAIN) return false;
      buffer[at + k] = code;
    }
    this.used = at + length;
    return length > 0;
  }

  /** Writes a value whose decimal digits are in `bytes`, from index `from` up to, not including, `to`. */
  digits(bytes: Uint8Array, from: number, to: number): void {
    this.ensure(to - from + 1);
    this.values++;
    const buffer = this.buffer;
    let at = this.used;
    buffer[at++] = BLANK;
    for (let k = from; k < to; k++) buffer[at++] = bytes[k];
    this.used = at;
  }

  /** Writes `value`, a whole number from 0 to 2^53. */
  number(value: number): void {
    this.ensure(DIGITS_BYTES + 1);
    this.values++;
    this.buffer[this.used++] = BLANK;
    let digits = 1;
    for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++;
    let left = value;
    for (let at = this.used + digits - 1; at >= this.used; at--) {
      const upper = Math.floor(left / 10);
      this.buffer[at] = ZERO + (left - upper * 10);
      left = upper;
    }
    this.used += digits;
  }

  /** Writes a 64-bit value from its 32-bit words `high` and `low`: exact, and without a bigint. */
  words(high: number, low: number): void {
    // Below 2^53: a double holds it.
    if (high < 0x200000) {
      this.number(high * 0x100000000 + low);
      return;
    }
    const upper = Math.floor(high / MILLION);
    // Below 10^6 · 2^32.
    const rest = (high - upper * MILLION) * 0x100000000 + low;
    const middle = Math.floor(rest / MILLION);
    this.number(upper * 0x100000000 + middle);
    this.ensure(6);
    let left = rest - middle * MILLION;
    for (let at = this.used + 5; at >= this.used; at--) {
      const more = Math.floor(left / 10);
      this.buffer[at] = ZERO + (left - more * 10);
      left = more;
    }
    this.used += 6;
  }

  /** Writes `value`, of up to 64 bits. */
  bigint(value: bigint): void {
    this.values++;
    this.text(` ${BigInt.asUintN(64, value)}`);
  }

  /** Ends the record. If it does not have `wanted` values, it is taken back, and false is returned. */
  endRecord(wanted: number): boolean {
    const whole = this.values === wanted;
    if (!whole) this.used = this._record;
    else {
      this.ensure(1);
      this.buffer[this.used++] = NEWLINE;
      this.last = this._record;
    }
    this._record = -1;
    return whole;
  }

  /** The record that was just completed, with its newline; the bytes are the writer's, valid until it writes again. */
  lastRecord(): Uint8Array {
    return this.buffer.subarray(this.last, this.used);
  }

  /** Adds whole records, as another writer made them. */
  records(bytes: Uint8Array): void {
    this.ensure(bytes.length);
    this.buffer.set(bytes, this.used);
    this.used += bytes.length;
  }

  /** Takes back the record that is being written. */
  dropRecord(): void {
    if (this._record >= 0) this.used = this._record;
    this._record = -1;
  }

  /** Passes what has been written to the sink. */
  flush(): void {
    if (this.used === 0) return;
    // Not a Buffer, whose slice() is no copy.
    this.sink(new Uint8Array(this.buffer.buffer, this.buffer.byteOffset, this.used));
    this.used = 0;
  }

  private text(text: string): void {
    // UTF-8 takes at most three bytes for a UTF-16 unit.
    this.ensure(3 * text.length);
    this.used += this.buffer.write(text, this.used);
  }

  private ensure(room: number): void {
    if (this.used + room <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.used + room));
    this.buffer.copy(larger, 0, 0, this.used);
    this.buffer = larger;
  }
}
