/**
 * Devices of types, found by the bytes that their lines begin with. The bytes are kept as words in one array, so that
 * they are compared four at a time.
 */
import type { RawSchema } from './schema.ts';

export interface KnownType {
  readonly schema: RawSchema;
  readonly values: BigUint64Array;
  /** The same memory as pairs of 32 bits, low half first. */
  readonly words: Uint32Array;
  /** Its records are skipped. */
  readonly skipped: boolean;
}

/** A device of a type. */
export interface DeviceEntry {
  readonly type: KnownType;
  readonly device: string;
  /** `type device `, with its last blank: its whole words begin here in the table's words; their number. */
  readonly at: number;
  readonly count: number;
  /** What is left of a word under `mask`. */
  readonly tail: number;
  readonly mask: number;
  /** Bytes of it. */
  readonly length: number;
  /** Another entry of the same hash. */
  readonly chain: DeviceEntry | undefined;
  /** The entry that followed it last. */
  next: DeviceEntry;
  /** Number of the last group with a record of it. */
  group: number;
}

const NEWLINE = 0x0a;
const BLANK = 0x20;
/** Devices kept; when there are more, all are forgotten and learnt again. */
const MOST = 1 << 17;
/** Longer beginnings are not kept: no collector writes them. */
const LONGEST = 1024;
/** Bits of a word's first bytes. */
const FIRST = [0, 0xff, 0xffff, 0xffffff];
const SEED = 0x811c9dc5;
const PRIME = 0x01000193;

function hashOf(bytes: Uint8Array, from: number, end: number): number {
  let hash = SEED;
  for (let k = from; k < end; k++) hash = Math.imul(hash ^ bytes[k], PRIME);
  return hash;
}

const NOTHING: KnownType = {
  schema: { type: '', keys: [] },
  values: new BigUint64Array(0),
  words: new Uint32Array(0),
  skipped: false,
};

export class DeviceEntries {
  /** Stands for no entry: no line begins with a newline. */
  readonly none: DeviceEntry;
  private words = new Int32Array(1 << 12);
  private used = 0;
  private known = new Map<number, DeviceEntry>();
  private readonly scratch = new Uint8Array(LONGEST + 4);
  private readonly scratchView = new DataView(this.scratch.buffer);

  constructor() {
    const none = {
      type: NOTHING,
      device: '',
      at: 0,
      count: 0,
      tail: NEWLINE,
      mask: 0xff,
      length: 1,
    };
    this.none = { ...none, chain: undefined, group: 0 } as unknown as DeviceEntry;
    this.none.next = this.none;
  }

  /** Whether the line at `from` begins with the entry's bytes. */
  begins(view: DataView, from: number, { at, count, mask, tail }: DeviceEntry): boolean {
    const words = this.words;
    let byte = from;
    for (let k = at; k < at + count; k++) {
      if (view.getInt32(byte, true) !== words[k]) return false;
      byte += 4;
    }
    return (view.getInt32(byte, true) & mask) === tail;
  }

  /** The entry of the line at `from`, as far as it is known. */
  find(bytes: Uint8Array, view: DataView, from: number): DeviceEntry | undefined {
    let at = from;
    for (let blanks = 0; blanks < 2; at++) {
      if (bytes[at] === BLANK) blanks++;
      else if (bytes[at] === NEWLINE) return undefined;
    }
    return this.lookUp(view, from, at - from, hashOf(bytes, from, at));
  }

  /** The entry of the device in `bytes[from, end)`; made where it is new. */
  of(type: KnownType, bytes: Uint8Array, from: number, end: number): DeviceEntry {
    const scratch = this.scratch;
    const name = Buffer.from(type.schema.type);
    const length = name.length + end - from + 2;
    if (length > LONGEST) {
      const device = textOf(bytes, from, end);
      return { ...this.none, type, device, next: this.none, group: 0 };
    }
    scratch.set(name);
    scratch[name.length] = BLANK;
    scratch.set(bytes.subarray(from, end), name.length + 1);
    scratch[length - 1] = BLANK;
    scratch.fill(0, length, length + 4);
    const hash = hashOf(scratch, 0, length);
    return (
      this.lookUp(this.scratchView, 0, length, hash) ??
      this.add(type, textOf(bytes, from, end), length, hash)
    );
  }

  /** Forgets all. */
  clear(): void {
    this.known.clear();
    this.used = 0;
    this.none.next = this.none;
  }

  private lookUp(
    view: DataView,
    from: number,
    length: number,
    hash: number,
  ): DeviceEntry | undefined {
    let entry = this.known.get(hash);
    while (entry !== undefined && !(entry.length === length && this.begins(view, from, entry))) {
      entry = entry.chain;
    }
    return entry;
  }

  /** Keeps the beginning that is in `#scratch`. */
  private add(type: KnownType, device: string, length: number, hash: number): DeviceEntry {
    if (this.known.size >= MOST) this.clear();
    const count = length >> 2;
    const at = this.used;
    if (at + count > this.words.length) {
      const larger = new Int32Array(2 * (at + count));
      larger.set(this.words);
      this.words = larger;
    }
    for (let k = 0; k < count; k++) this.words[at + k] = this.scratchView.getInt32(4 * k, true);
    this.used += count;
    const entry: DeviceEntry = {
      type,
      device,
      at,
      count,
      tail: this.scratchView.getInt32(4 * count, true),
      mask: FIRST[length & 3],
      length,
      chain: this.known.get(hash),
      next: this.none,
      group: 0,
    };
    this.known.set(hash, entry);
    return entry;
  }
}

const textOf = (bytes: Uint8Array, from: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from).toString('utf8');
