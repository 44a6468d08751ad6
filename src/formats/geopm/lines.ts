/** Reads text files line by line, with only a part of the file in memory. */
import type { FileSource } from '../format.ts';
import { FormatError } from '../format.ts';

const STRETCH = 1 << 20;
/** The longest line that is read, in bytes: no file of GEOPM has a longer one. */
const MOST_LINE_BYTES = 1 << 24;
const NEWLINE = 0x0a;

/** Where a line begins. */
export interface LinePlace {
  /** Number of the line, from 1. */
  readonly number: number;
  /** Byte of the file. */
  readonly offset: number;
}

export const FIRST_LINE: LinePlace = { number: 1, offset: 0 };

export interface TextLine extends LinePlace {
  /** The line's bytes without its end. */
  readonly text: string;
  /** The byte at which the next line begins. */
  readonly next: number;
  /** False for a last line without a line feed: its writer may have been interrupted. */
  readonly whole: boolean;
}

/** @throws FormatError for a line of more than 16 MB */
export function* linesOf(source: FileSource, from = FIRST_LINE): Generator<TextLine, void> {
  const decoder = new TextDecoder();
  let buffer = Buffer.allocUnsafe(STRETCH);
  let kept = 0;
  let { number, offset: base } = from;
  for (let position = base; ; ) {
    const got = source.read(position, buffer.subarray(kept));
    position += got;
    const end = kept + got;
    let at = 0;
    for (;;) {
      const stop = buffer.subarray(0, end).indexOf(NEWLINE, at);
      if (stop < 0) break;
      yield line(decoder, buffer, at, stop, number++, base, true);
      at = stop + 1;
    }
    if (got === 0) {
      if (at < end) yield line(decoder, buffer, at, end, number, base, false);
      return;
    }
    kept = end - at;
    base += at;
    if (kept > MOST_LINE_BYTES) {
      throw new FormatError(
        {
          path: source.path,
          offset: base,
          line: number,
          what: 'a line of more than 16 MB',
          skipped: 0,
        },
        'is it a text file?',
      );
    }
    if (kept > buffer.length / 2) {
      const larger = Buffer.allocUnsafe(2 * buffer.length);
      buffer.copy(larger, 0, at, end);
      buffer = larger;
    } else buffer.copyWithin(0, at, end);
  }
}

function line(
  decoder: InstanceType<typeof TextDecoder>,
  buffer: Buffer,
  from: number,
  to: number,
  number: number,
  base: number,
  whole: boolean,
): TextLine {
  const end = to > from && buffer[to - 1] === 0x0d ? to - 1 : to;
  const text = decoder.decode(buffer.subarray(from, end));
  return { text, number, offset: base + from, next: base + to + (whole ? 1 : 0), whole };
}
