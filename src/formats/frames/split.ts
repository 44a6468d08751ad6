/** Splits bytes in chunks of any size into whole, undamaged frames. */
import { CrcIndex, MARK_BYTES } from './crc-index.ts';
import { crc32 } from './crc32.ts';
import { frameCrc } from './encode.ts';
import { AT, FrameError, HEADER_BYTES, MAGIC, MOST_FRAME_BYTES } from './layout.ts';

const ZEROS = new Uint8Array(1 << 16);

/** What is at a place: an intact frame of so many bytes, perhaps the beginning of one, or something else. */
type Found = number | 'part' | { readonly wrong: string };

export class FrameSplitter {
  private readonly onFrame: (frame: Uint8Array, offset: number) => void;
  private readonly onDamage: (error: FrameError) => void;
  private readonly file: string | undefined;
  /** Bytes not yet taken: `#start` to `#end` of `#bytes`. */
  private bytes = new Uint8Array(0);
  private start = 0;
  private end = 0;
  /** Offset in the stream of `#bytes[0]`. */
  private base = 0;
  /** Looking for an intact frame after a damaged one. */
  private searching = false;
  /** From the first damage on: checking what claims to be a frame takes the same time, however long it says it is. */
  private index: CrcIndex | null = null;

  /** `onFrame` gets a copy that begins at a multiple of 8. Intact frames may follow `onDamage`. */
  constructor(
    onFrame: (frame: Uint8Array, offset: number) => void,
    onDamage: (error: FrameError) => void,
    file?: string,
  ) {
    this.onFrame = onFrame;
    this.onDamage = onDamage;
    this.file = file;
  }

  push(chunk: Uint8Array): void {
    this.append(chunk);
    this.run(false);
  }

  /** The same for this many bytes of 0, of which only as many are looked at as a frame can have. */
  pushZeros(count: number): void {
    let left = count;
    while (left > 0 && !(this.searching && this.start === this.end)) {
      const some = ZEROS.subarray(0, Math.min(left, ZEROS.length));
      this.push(some);
      left -= some.length;
    }
    if (left === 0) return;
    this.base += this.end + left;
    this.start = 0;
    this.end = 0;
    this.index = new CrcIndex(this.base);
  }

  /** Nothing more comes. Returns the bytes at the end that begin a frame and do not finish it. */
  finish(): number {
    this.run(true);
    return this.searching ? 0 : this.end - this.start;
  }

  private append(chunk: Uint8Array): void {
    if (this.end + chunk.length > this.bytes.length) {
      // Bytes that the index may still look at are kept.
      const from = this.index === null ? this.start : Math.max(0, this.start - MARK_BYTES);
      const held = this.end - from;
      // Twice what is needed: many small chunks of one large frame are copied a few times, not each time.
      const needed = held + chunk.length;
      const into = needed > this.bytes.length ? new Uint8Array(2 * needed) : this.bytes;
      into.set(this.bytes.subarray(from, this.end));
      this.bytes = into;
      this.base += from;
      this.start -= from;
      this.end = held;
    }
    this.bytes.set(chunk, this.end);
    this.end += chunk.length;
    this.index?.extend(this.bytes, this.base, this.base + this.end);
  }

  private startIndex(): void {
    if (this.index !== null) return;
    this.index = new CrcIndex(this.base + this.start);
    this.index.extend(this.bytes, this.base, this.base + this.end);
  }

  private run(last: boolean): void {
    for (;;) {
      if (this.searching) this.start = this.magicFrom(this.start);
      if (this.start >= this.end) return;
      const found = this.at(this.start);
      if (typeof found === 'number') {
        const offset = this.base + this.start;
        const frame = this.bytes.slice(this.start, this.start + found);
        this.start += found;
        this.searching = false;
        this.onFrame(frame, offset);
        continue;
      }
      if (found === 'part') {
        if (!last) return;
        // A cut end has no intact frame in it; a damaged length has.
        this.startIndex();
        if (!this.searching && !this.goodFrom(this.start + 1)) return;
      }
      if (!this.searching) {
        const what = found === 'part' ? 'the frame says it is longer than the file' : found.wrong;
        this.onDamage(new FrameError(what, this.base + this.start, this.file));
      }
      this.startIndex();
      this.searching = true;
      this.start++;
    }
  }

  private at(start: number): Found {
    const left = this.end - start;
    if (left < 4) return 'part';
    const head = new DataView(this.bytes.buffer, start, Math.min(left, HEADER_BYTES));
    if (head.getUint32(0, true) !== MAGIC) {
      return { wrong: "no frame begins here ('TRIF' is missing)" };
    }
    if (left < HEADER_BYTES) return 'part';
    const length = head.getUint32(AT.length, true);
    if (length < HEADER_BYTES || length % 8 !== 0 || length > MOST_FRAME_BYTES) {
      return { wrong: `a frame cannot be ${length} bytes long` };
    }
    if (left < length) return 'part';
    return this.crcOf(start, length) === head.getUint32(AT.crc, true)
      ? length
      : { wrong: 'the frame is damaged: its checksum is another' };
  }

  private crcOf(start: number, length: number): number {
    if (this.index === null) return frameCrc(this.bytes.subarray(start, start + length));
    const head = crc32(this.bytes.subarray(start + AT.length, start + AT.crc));
    const at = this.base + start;
    return this.index.of(this.bytes, this.base, at + HEADER_BYTES, at + length, head);
  }

  /** Where the next magic is, or could begin, from `from` on. */
  private magicFrom(from: number): number {
    const bytes = this.bytes;
    for (
      let k = bytes.indexOf(0x54, from);
      k >= 0 && k < this.end;
      k = bytes.indexOf(0x54, k + 1)
    ) {
      const could = [0x52, 0x49, 0x46].every(
        (byte, n) => k + n + 1 >= this.end || bytes[k + n + 1] === byte,
      );
      if (could) return k;
    }
    return this.end;
  }

  private goodFrom(from: number): boolean {
    for (let k = this.magicFrom(from); k < this.end; k = this.magicFrom(k + 1)) {
      if (typeof this.at(k) === 'number') return true;
    }
    return false;
  }
}
