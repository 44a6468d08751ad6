/** A piece of a file in memory, and where the records in it are. Both are used again and again. */
import { LITTLE_ENDIAN } from '../write/layout.ts';

/** Kinds of records as they are told apart here: an LP's has two sizes, so that one table of fields fits each. */
export const PE = 0;
export const KP = 1;
export const LP = 2;
export const MODEL = 3;
export const EVENT = 4;
export const VT_MODEL = 5;
export const WIDE_LP = 6;
export const KINDS = 7;

/** What users call them. */
export const KIND_NAMES = ['pe', 'kp', 'lp', 'model', 'event', 'vt_model', 'lp'] as const;

/** The same words as integers and as floats. */
export interface Words {
  readonly u32: Uint32Array;
  readonly f32: Float32Array;
}

/** The file's bytes from `position` on; the first `length` of the buffer. */
export class Chunk {
  bytes: Uint8Array;
  view: DataView;
  u16: Uint16Array;
  u32: Uint32Array;
  f32: Float32Array;
  length = 0;
  /** Byte of the file that the buffer begins with. */
  position = 0;
  /** Bytes of the whole file. */
  fileSize = 0;
  private _shifted: Words | null = null;
  /** From and to which byte of the file `shifted` is filled; from -1: nothing is. */
  private shiftedFrom = -1;
  private shiftedTo = -1;
  /** Byte order of the file. */
  readonly little: boolean;

  constructor(capacity: number, little: boolean) {
    this.little = little;
    this.bytes = new Uint8Array(0);
    this.view = new DataView(this.bytes.buffer);
    this.u16 = new Uint16Array(this.bytes.buffer);
    this.u32 = new Uint32Array(this.bytes.buffer);
    this.f32 = new Float32Array(this.bytes.buffer);
    this.grow(capacity);
  }

  /** Makes room for at least `capacity` bytes and keeps what is there. */
  grow(capacity: number): void {
    const bytes = new Uint8Array((capacity + 7) & ~7);
    bytes.set(this.bytes.subarray(0, this.length));
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
    this.u16 = new Uint16Array(bytes.buffer);
    this.u32 = new Uint32Array(bytes.buffer);
    this.f32 = new Float32Array(bytes.buffer);
  }

  /** The words at odd multiples of 2: those that begin at byte 4 k - 2, for k from 0. */
  get shifted(): Words {
    let words = this._shifted;
    if (words === null || words.u32.byteLength <= this.bytes.length) {
      const u32 = new Uint32Array(this.bytes.length / 4 + 1);
      words = { u32, f32: new Float32Array(u32.buffer) };
      this._shifted = words;
      this.shiftedFrom = -1;
    }
    const { position, length } = this;
    if (this.shiftedFrom !== position || this.shiftedTo !== position + length) {
      new Uint8Array(words.u32.buffer).set(this.bytes.subarray(0, length), 2);
      this.shiftedFrom = position;
      this.shiftedTo = position + length;
    }
    return words;
  }

  /** Whether words of the buffer are numbers of the file as they are. */
  get native(): boolean {
    return this.little === LITTLE_ENDIAN;
  }

  /** The bits of 4 bytes. Floats that are not negative are in the order of their bits. */
  bits(at: number): number {
    if (!this.little || !LITTLE_ENDIAN || (at & 1) !== 0) {
      return this.view.getUint32(at, this.little);
    }
    const half = at >>> 1;
    return (this.u16[half] | (this.u16[half + 1] << 16)) >>> 0;
  }

  /** Bytes from `at` of the buffer to the file's end. */
  left(at: number): number {
    return this.fileSize - this.position - at;
  }
}

/** The records of one kind in a chunk, by the bytes of the buffer at which they begin. */
export class KindIndex {
  count = 0;
  /** The record; for a KP or LP within a PE's record of 2017 that record. */
  readonly record: Int32Array;
  /** Where its own fields begin: the same as `record`, but within a record of 2017 the KP's or LP's. */
  readonly part: Int32Array;
  /** Bytes of the model. */
  readonly size: Int32Array;
  /** Numbers that the file does not hold but implies: of the KP and LP within a record of 2017. */
  readonly kp: Uint32Array;
  readonly lp: Uint32Array;

  /** `parts`: records of this kind may lie within others. Elsewhere `part` is the same array as `record`. */
  constructor(capacity: number, parts: boolean) {
    this.record = new Int32Array(capacity);
    this.part = parts ? new Int32Array(capacity) : this.record;
    this.size = new Int32Array(capacity);
    this.kp = new Uint32Array(parts ? capacity : 0);
    this.lp = new Uint32Array(parts ? capacity : 0);
  }
}

/** Why a walk over a chunk ended. */
export const FULL = 0;
/** The chunk ends within a record: `need` bytes from its beginning are wanted. */
export const SHORT = 1;
/** What is there can be no record: `why`. */
export const BAD = 2;

/** Records of a chunk in file order. */
export class Block {
  readonly chunk: Chunk;
  readonly capacity: number;
  length = 0;
  /** Kind of each record. Records of a kind come in the order of `of[kind]`. */
  readonly kinds: Uint8Array;
  readonly of: readonly KindIndex[];
  /** All places ORed: tells whether all lie at multiples of 4. */
  places = 0;
  /** Bytes from each record to the next, where that is the same for all of one kind and there is no other; or 0. */
  stride = 0;
  stop = FULL;
  need = 0;
  private _why: string | (() => string) = '';

  constructor(chunk: Chunk, capacity: number) {
    this.chunk = chunk;
    this.capacity = capacity;
    this.kinds = new Uint8Array(capacity);
    this.of = Array.from(
      { length: KINDS },
      (_, k) => new KindIndex(capacity, k === KP || k === LP),
    );
  }

  clear(): void {
    this.length = 0;
    this.places = 0;
    this.stride = 0;
    for (let k = 0; k < KINDS; k++) this.of[k].count = 0;
  }

  add(kind: number, record: number, size: number): void {
    const index = this.of[kind];
    const n = index.count++;
    index.record[n] = record;
    index.part[n] = record;
    index.size[n] = size;
    this.kinds[this.length++] = kind;
    this.places |= record;
    this.stride = 0;
  }

  addPart(kind: number, record: number, part: number, kp: number, lp: number): void {
    const index = this.of[kind];
    const n = index.count++;
    index.record[n] = record;
    index.part[n] = part;
    index.size[n] = 0;
    index.kp[n] = kp;
    index.lp[n] = lp;
    this.kinds[this.length++] = kind;
    this.places |= record | part;
  }

  short(need: number): void {
    this.stop = SHORT;
    this.need = need;
  }

  /** A text with numbers in it is made when it is asked for: most places are looked at to no effect. */
  bad(why: string | (() => string)): void {
    this.stop = BAD;
    this._why = why;
  }

  get why(): string {
    return typeof this._why === 'string' ? this._why : this._why();
  }

  /** Whether columns can be gathered by words. */
  get aligned(): boolean {
    return (this.places & 3) === 0 && this.chunk.native;
  }

  /** The same by halves of words. */
  get even(): boolean {
    return (this.places & 1) === 0 && this.chunk.native;
  }
}
