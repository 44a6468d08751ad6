/** The bytes of a raw stats file, plain or gzip, in blocks, read synchronously. */
import { constants, gunzipSync } from 'node:zlib';
import type { FileSource } from '../format.ts';
import { damagedGzip, unpacked } from './unpack.ts';

const BLOCK = 1 << 18;
/** Packed files of up to this many bytes are unpacked at once, if the result has at most MOST_UNPACKED_BYTES: it is faster. */
const MOST_AT_ONCE_BYTES = 2 ** 21;
const MOST_UNPACKED_BYTES = 2 ** 26;
/** Damaged files of up to this many bytes, packed and unpacked, are searched for the damage: nothing before it is lost. */
const MOST_SEARCHED_BYTES = 2 ** 18;
const MOST_FOUND_BYTES = 2 ** 24;

export const isGzip = (head: Uint8Array): boolean => head[0] === 0x1f && head[1] === 0x8b;

/** What damaged gzip unpacks to before the damage, which is found by the first byte that cannot be unpacked. */
function beforeDamage(packed: Uint8Array): Uint8Array | null {
  const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MOST_FOUND_BYTES };
  let found: Uint8Array = new Uint8Array(0);
  let good = 0;
  for (let bad = packed.length + 1; bad - good > 1; ) {
    const middle = (good + bad) >>> 1;
    try {
      found = gunzipSync(packed.subarray(0, middle), options);
      good = middle;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null;
      bad = middle;
    }
  }
  return found;
}

/** What the beginning of a packed file unpacks to, as far as it goes. */
export function unpackedHead(head: Uint8Array): Uint8Array {
  try {
    return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 1 << 26 });
  } catch {
    return beforeDamage(head) ?? new Uint8Array(0);
  }
}

function* pieces(whole: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < whole.length; at += BLOCK) yield whole.subarray(at, at + BLOCK);
}

function* gunzipped(source: FileSource): Generator<Uint8Array> {
  if (source.size > MOST_AT_ONCE_BYTES) {
    yield* unpacked(source);
    return;
  }
  const packed = new Uint8Array(source.size);
  const bytes = packed.subarray(0, source.read(0, packed));
  let reason = '';
  let whole: Uint8Array | null;
  try {
    whole = gunzipSync(bytes, { maxOutputLength: MOST_UNPACKED_BYTES });
  } catch (error) {
    reason = (error as Error).message;
    whole = bytes.length > MOST_SEARCHED_BYTES ? null : beforeDamage(bytes);
  }
  // Larger than it looks, or damaged and large: unpacked piece by piece.
  if (whole === null) yield* unpacked(source);
  else yield* pieces(whole);
  if (whole !== null && reason !== '') throw damagedGzip(source.path, reason);
}

export function isPacked(source: FileSource): boolean {
  const head = new Uint8Array(2);
  source.read(0, head);
  return isGzip(head);
}

/**
 * The file's text in blocks of up to `bufferBytes`, unpacked if it is gzip; each block is valid until the next. Plain text
 * is read from byte `from` on.
 * @throws FormatError at damaged gzip, at its place
 * @example
 * ```ts
 * import { openFile } from 'triscope/formats';
 * import { blocksOf, RawParser } from 'triscope/formats/tacc';
 *
 * const source = openFile('archive/c401-101/1795226192.gz');
 * const parser = new RawParser({ mark: (text) => console.log(text) });
 * for (const block of blocksOf(source)) parser.push(block); // unpacked piece by piece
 * parser.end();
 * source.close();
 * ```
 */
export function* blocksOf(
  source: FileSource,
  bufferBytes = BLOCK,
  from = 0,
): Generator<Uint8Array> {
  if (isPacked(source)) {
    yield* gunzipped(source);
    return;
  }
  const buffer = new Uint8Array(bufferBytes);
  for (let at = from; ; ) {
    const got = source.read(at, buffer);
    if (got === 0) return;
    yield buffer.subarray(0, got);
    at += got;
  }
}
