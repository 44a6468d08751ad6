/** The bytes of a raw stats file, plain or gzip, in blocks, read synchronously. */
import { constants, gunzipSync } from 'node:zlib';
import { type FileSource, FormatError } from '../format.ts';

const BLOCK = 1 << 18;
/** Packed files are unpacked as a whole: a day of a node is some MB. More than this is refused. */
const MOST_UNPACKED = 2 ** 30;

export const isGzip = (head: Uint8Array): boolean => head[0] === 0x1f && head[1] === 0x8b;

/** What the beginning of a packed file unpacks to, as far as it goes; nothing where it is damaged. */
export function unpackedHead(head: Uint8Array): Uint8Array {
  try {
    return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 1 << 26 });
  } catch {
    return new Uint8Array(0);
  }
}

/** The longest beginning that can be unpacked, found by halving. */
function salvaged(packed: Uint8Array): Uint8Array {
  let good: Uint8Array = new Uint8Array(0);
  let low = 0;
  let high = packed.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    try {
      good = gunzipSync(packed.subarray(0, middle), {
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: MOST_UNPACKED,
      });
      low = middle;
    } catch {
      high = middle - 1;
    }
  }
  return good;
}

function* gunzipped(source: FileSource): Generator<Uint8Array> {
  const packed = new Uint8Array(source.size);
  const length = source.read(0, packed);
  const bytes = packed.subarray(0, length);
  let whole: Uint8Array;
  let fault: string | null = null;
  try {
    whole = gunzipSync(bytes, { maxOutputLength: MOST_UNPACKED });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') {
      const what = 'unpacks to more than 1 GB';
      throw new FormatError({ path: source.path, offset: -1, what, skipped: 0 }, 'gunzip it first');
    }
    fault = message;
    whole = salvaged(bytes);
  }
  for (let at = 0; at < whole.length; at += BLOCK) yield whole.subarray(at, at + BLOCK);
  if (fault !== null) {
    const what = `damaged gzip (${fault}); what came before was read`;
    throw new FormatError({ path: source.path, offset: -1, what, skipped: 0 });
  }
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
