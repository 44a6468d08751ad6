/** Splits pieces of any size into whole lines. A line is copied only if it spans several pieces. */

const NEWLINE = 0x0a;
/** A longer line is skipped: no collector writes such lines. */
export const LONGEST_BYTES = 1 << 24;
const SHOWN_BYTES = 256;

export class LineBuffer {
  private readonly lines: (bytes: Uint8Array, end: number) => void;
  private readonly tooLong: (beginning: Uint8Array) => void;
  /** The beginning of a line, up to `#length`. */
  private rest = new Uint8Array(256);
  private length = 0;
  /** Skipping a line that is too long, whose beginning is kept. */
  private skipping = false;

  /** `lines` gets whole lines, up to `end`, which is after a newline; the bytes are valid until it returns. */
  constructor(
    lines: (bytes: Uint8Array, end: number) => void,
    tooLong: (beginning: Uint8Array) => void,
  ) {
    this.lines = lines;
    this.tooLong = tooLong;
  }

  push(chunk: Uint8Array): void {
    let bytes = chunk;
    if (this.length > 0) {
      const newline = chunk.indexOf(NEWLINE);
      this.keep(newline < 0 ? chunk : chunk.subarray(0, newline + 1));
      if (newline < 0) return;
      this.flush();
      bytes = chunk.subarray(newline + 1);
    }
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end > 0) this.lines(bytes, end);
    this.keep(bytes.subarray(end));
  }

  /** What is left without a newline. */
  end(): Uint8Array {
    const rest = this.rest.subarray(0, this.length);
    this.length = 0;
    this.skipping = false;
    return rest;
  }

  private flush(): void {
    const line = this.rest.subarray(0, this.length);
    this.length = 0;
    if (this.skipping) this.tooLong(line);
    else this.lines(line, line.length);
    this.skipping = false;
  }

  private keep(bytes: Uint8Array): void {
    if (this.skipping) return;
    const length = this.length + bytes.length;
    if (length > LONGEST_BYTES) {
      this.skipping = true;
      if (this.length === 0) {
        this.rest.set(bytes.subarray(0, SHOWN_BYTES));
        this.length = SHOWN_BYTES;
      }
      this.length = Math.min(SHOWN_BYTES, this.length);
      this.rest = this.rest.slice(0, SHOWN_BYTES);
      return;
    }
    if (length > this.rest.length) {
      const larger = new Uint8Array(2 * length);
      larger.set(this.rest.subarray(0, this.length));
      this.rest = larger;
    }
    this.rest.set(bytes, this.length);
    this.length = length;
  }
}
