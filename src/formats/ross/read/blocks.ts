/**
 * Reads a file piece by piece and gives its records, block by block. Memory is one buffer, which grows only for a
 * record that is larger than it; what a file claims is not believed beyond what is there.
 */
import type { Hole } from '../../../os/holes.ts';
import { type Damage, type FileSource, FormatError } from '../../format.ts';
import { BAD, Block, Chunk, FULL } from './chunk.ts';
import type { RossFileLayout } from './layouts.ts';

/** Fits in a processor's second-level cache; reading more at a time is no faster. */
const BUFFER_BYTES = 1 << 18;
/** Records of a block: few enough that their bytes stay in the first-level cache while columns are gathered. */
const BLOCK_RECORDS = 256;
/** Records in a row that must make sense before reading goes on after damage. */
const TRUSTED = 3;
/** Bytes of a file that most disks store, or leave out as a hole, together. */
const DISK_BLOCK_BYTES = 4096;
/** Bytes that are looked at to find out. */
const LOOKAHEAD_BYTES = 1 << 16;

interface BlocksOptions {
  readonly salvage?: boolean;
  readonly bufferBytes?: number;
  /** Called at damage with `salvage`; without it damage is thrown. */
  readonly onDamage?: (damage: Damage) => void;
}

/** The decoder: everything that reads ROSS's files goes through it. */
export class BlockReader {
  private readonly source: FileSource;
  private readonly layout: RossFileLayout;
  private readonly options: BlocksOptions;
  private readonly chunk: Chunk;
  private readonly block: Block;
  private readonly trial: Block;
  /** Byte of the buffer at which the next record begins. */
  private at = 0;
  /** Byte of the file from which on nothing was read, where it ends within a record or damaged. */
  private restAt: number | null = null;
  /** The next stretch that nobody wrote: the buffer never reaches into it. */
  private hole: Hole | null = null;

  constructor(source: FileSource, layout: RossFileLayout, options: BlocksOptions = {}) {
    this.source = source;
    // What a walk remembers is its own: of one file several may be under way.
    this.layout = layout.fork?.() ?? layout;
    this.options = options;
    const bytes = Math.min(options.bufferBytes ?? BUFFER_BYTES, Math.max(source.size, 64));
    this.chunk = new Chunk(bytes, layout.little);
    this.chunk.fileSize = source.size;
    this.block = new Block(this.chunk, Math.max(BLOCK_RECORDS, 2 * layout.mostEntries));
    this.trial = new Block(this.chunk, TRUSTED * layout.mostEntries);
    this.layout.reset();
  }

  /** Whether reading ended before the file's end: more bytes may make a record of the rest. */
  get hasRest(): boolean {
    return this.restAt !== null;
  }

  /** Byte of the file up to which it was looked at. */
  get end(): number {
    return this.chunk.fileSize;
  }

  /** Makes `blocks` go on with what was appended to the file since, and with the rest before it. */
  resume(): void {
    const chunk = this.chunk;
    chunk.fileSize = this.source.size;
    chunk.position = this.restAt ?? chunk.position + this.at;
    chunk.length = 0;
    this.at = 0;
    this.restAt = null;
    this.lookForHole();
  }

  /** All records. The block is valid until the next is asked for. @throws FormatError at damage */
  *blocks(): Generator<Block, void> {
    this.lookForHole();
    this.refill(0);
    // The walk is a call: code within a generator runs slower.
    do {
      this.walk();
      if (this.block.length > 0) yield this.block;
    } while (this.goOn());
  }

  private walk(): void {
    this.block.clear();
    this.at = this.layout.walk(this.block, this.at);
  }

  /** What to do where the walk ended; false at the end of the file. @throws FormatError */
  private goOn(): boolean {
    const { stop, need, why } = this.block;
    if (stop === FULL) return true;
    if (stop === BAD) return this.passOver(why);
    if (this.atHole()) return this.passHole();
    if (!this.atEnd()) {
      this.refill(need);
      return true;
    }
    const rest = this.chunk.length - this.at;
    if (rest === 0) return false;
    return this.passOver(
      `expected a record of at least ${need} bytes, but the file ends after ${rest}`,
    );
  }

  private atEnd(): boolean {
    return this.chunk.position + this.chunk.length >= this.chunk.fileSize;
  }

  /** Bytes of a record, or of the smallest. */
  private get step(): number {
    return this.layout.stride || this.layout.least;
  }

  private lookForHole(): void {
    const at = this.chunk.position + this.chunk.length;
    const hole = this.source.hole?.(at) ?? null;
    this.hole = hole;
    if (hole === null) return;
    // The disk's block before a hole ends with zeros that nobody wrote either: a record may end with some of them, and is not all of them.
    const block = new Uint8Array(Math.min(DISK_BLOCK_BYTES, hole.from - at));
    this.source.read(hole.from - block.length, block);
    let used = block.length;
    while (used > 0 && block[used - 1] === 0) used--;
    const end = hole.from - block.length + used + this.step - 1;
    this.hole = { from: Math.max(at, Math.min(hole.from, end)), to: hole.to };
  }

  /** Passes over what could be records of nothing but zeros: the disk's block after a hole begins with such. */
  private passZeros(): void {
    const { chunk, step } = this;
    const last = Math.min(chunk.length, DISK_BLOCK_BYTES) - step;
    const isZero = (at: number) => chunk.bytes.subarray(at, at + step).every((b) => b === 0);
    while (this.at <= last && isZero(this.at)) this.at += step;
  }

  private atHole(): boolean {
    const { position, length } = this.chunk;
    return this.hole !== null && position + length === this.hole.from;
  }

  /** Goes on from a byte of the file, without what was read. */
  private jump(position: number): void {
    this.chunk.position = Math.min(position, this.chunk.fileSize);
    this.chunk.length = 0;
    this.at = 0;
    this.lookForHole();
    this.refill(0);
  }

  /** Moves what is left of the buffer to its beginning and fills it up, so that `need` bytes are there if any. */
  private refill(need: number): void {
    const chunk = this.chunk;
    const rest = chunk.length - this.at;
    chunk.bytes.copyWithin(0, this.at, chunk.length);
    chunk.position += this.at;
    chunk.length = rest;
    this.at = 0;
    if (need > chunk.bytes.length) chunk.grow(need);
    const most = this.hole === null ? Infinity : this.hole.from - chunk.position;
    const room = chunk.bytes.subarray(rest, Math.min(chunk.bytes.length, most));
    const got = this.source.read(chunk.position + rest, room);
    chunk.length += got;
    // A file that has become shorter while it was read ends here.
    if (got < room.length) chunk.fileSize = chunk.position + chunk.length;
  }

  /** Nothing is said of what was never written: a hole is damage, also where zeros could be records. */
  private passHole(): boolean {
    const { from, to } = this.hole as Hole;
    const offset = this.chunk.position + this.at;
    const { step } = this;
    // Records of one size lie after it where they would without it.
    const next = offset + Math.ceil((to - offset) / step) * step;
    return this.passOver(`a hole of ${to - from} bytes, which nobody wrote`, () => {
      this.jump(next);
      this.passZeros();
      return this.chunk.length > this.at && (this.makesSense(this.at) || this.resynchronise());
    });
  }

  /** Damage at `#at`. Returns whether reading can go on. @throws FormatError unless told to salvage */
  private passOver(what: string, goOn = () => this.resynchronise()): boolean {
    const chunk = this.chunk;
    const offset = chunk.position + this.at;
    const path = this.source.path;
    if (this.options.salvage !== true) {
      throw new FormatError(
        { path, offset, what, skipped: 0 },
        'the records before it are intact; --salvage continues after it',
      );
    }
    const found = goOn();
    if (!found) this.restAt = offset;
    const skipped = chunk.position + this.at - offset;
    this.options.onDamage?.({ path, offset, what, skipped });
    return found;
  }

  /** Moves on to the next byte from which records make sense; false where there is none. */
  private resynchronise(): boolean {
    const chunk = this.chunk;
    if (this.skipRecords()) return true;
    this.at++;
    for (;;) {
      if (chunk.length - this.at < LOOKAHEAD_BYTES && !this.atEnd()) this.refill(LOOKAHEAD_BYTES);
      if (chunk.length - this.at < this.layout.least) {
        if (this.hole !== null && this.atHole()) {
          this.jump(this.hole.to);
          continue;
        }
        this.at = chunk.length;
        return false;
      }
      const isLast = this.atEnd() || this.atHole();
      const last = isLast ? chunk.length : chunk.length - LOOKAHEAD_BYTES + 1;
      for (; this.at < last; this.at++) {
        if (this.makesSense(this.at)) return true;
      }
    }
  }

  /** Where all records have one size, damage within one leaves those after it where they were. */
  private skipRecords(): boolean {
    const { stride } = this.layout;
    if (stride === 0) return false;
    if (!this.atEnd()) this.refill(LOOKAHEAD_BYTES);
    const last = this.chunk.length - stride;
    const bound = Math.min(last, this.at + Math.max(LOOKAHEAD_BYTES >> 1, stride));
    for (let at = this.at + stride; at <= bound; at += stride) {
      if (!this.makesSense(at)) continue;
      this.at = at;
      return true;
    }
    return false;
  }

  private makesSense(at: number): boolean {
    const trial = this.trial;
    const layout = this.layout;
    trial.clear();
    layout.reset();
    const end = layout.walk(trial, at);
    layout.reset();
    const { each, looksRight } = layout;
    const records = each === null ? trial.length : trial.of[each].count;
    if (looksRight && each !== null) {
      const { count, record } = trial.of[each];
      for (let k = 0; k < count; k++) if (!looksRight(this.chunk, record[k])) return false;
    }
    return records >= TRUSTED || (records > 0 && end === this.chunk.length && this.atEnd());
  }
}
