/** The bytes of a raw stats file, plain or gzip, in blocks, read synchronously. */
import { constants, gunzipSync } from 'node:zlib';
import type { FileSource } from '../format.ts';
import { unpacked } from './unpack.ts';

const BLOCK = 1 << 18;
/** Packed files of up to so many bytes are unpacked at once, if that gives no more than MOST_UNPACKED: it is quicker. */
const MOST_AT_ONCE = 2 ** 21;
const MOST_UNPACKED = 2 ** 26;

export const isGzip = (head: Uint8Array): boolean => head[0] === 0x1f && head[1] === 0x8b;

/** What the beginning of a packed file unpacks to, as far as it goes; nothing where it is damaged. */
export function unpackedHead(head: Uint8Array): Uint8Array {
  try {
    return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 1 << 26 });
  } catch {
    return new Uint8Array(0);
  }
}

function* gunzipped(source: FileSource): Generator<Uint8Array> {
  if (source.size > MOST_AT_ONCE) {
    yield* unpacked(source);
    return;
  }
  const packed = new Uint8Array(source.size);
  const bytes = packed.subarray(0, source.read(0, packed));
  let whole: Uint8Array;
  try {
    whole = gunzipSync(bytes, { maxOutputLength: MOST_UNPACKED });
  } catch {
    // Larger than it looks, or damaged: piece by piece all of it can be had that is there.
    yield* unpacked(source);
    return;
  }
  for (let at = 0; at < whole.length; at += BLOCK) yield whole.subarray(at, at + BLOCK);
}

/** Blocks from the file's beginning; each is valid until the next. @throws FormatError at damaged gzip, at its place */
export function* blocksOf(source: FileSource, bufferBytes = BLOCK): Generator<Uint8Array> {
  const head = new Uint8Array(2);
  source.read(0, head);
  if (isGzip(head)) {
    yield* gunzipped(source);
    return;
  }
  const buffer = new Uint8Array(bufferBytes);
  for (let at = 0; ; ) {
    const got = source.read(at, buffer);
    if (got === 0) return;
    yield buffer.subarray(0, got);
    at += got;
  }
}
