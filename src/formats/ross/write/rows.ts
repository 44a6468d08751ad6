/**
 * Rows of samples (model/schemas/ross-rows) to the bytes of ROSS's framed files: v7.0.0 to v8.0.0, and v8.1.0 on.
 * Words are copied as they are: the fields of a row lie in the order of the files. Nothing is allocated per row.
 */
import {
  MODE_VT,
  ROW_FIELDS,
  ROW_GVT,
  ROW_KIND,
  ROW_KP,
  ROW_LP,
  ROW_MODE,
  ROW_MODEL,
  ROW_PAYLOAD,
  ROW_PE,
  ROW_REAL,
  ROW_VIRTUAL,
  ROW_WORDS,
} from '../../../model/schemas/ross-rows.ts';
import {
  FRAME_BYTES,
  isPacked,
  KP_BYTES,
  LayoutError,
  LITTLE_ENDIAN,
  lpBytes,
  MODEL_BYTES,
  PE_BYTES,
  type RossLayout,
  VT_MODEL_BYTES,
} from './layout.ts';
import { encodePacked, packedBytes } from './packed.ts';

/** The same bytes as words, and as a view for places that are no multiple of 4. */
interface Out {
  readonly bytes: Uint8Array;
  /** Null where the array itself does not begin at a multiple of 4. */
  readonly words: Int32Array | null;
  readonly view: DataView;
}

function outOf(bytes: Uint8Array): Out {
  const { buffer, byteOffset, byteLength } = bytes;
  return {
    bytes,
    words: (byteOffset & 3) === 0 ? new Int32Array(buffer, byteOffset, byteLength >> 2) : null,
    view: new DataView(buffer, byteOffset, byteLength),
  };
}

/**
 * Words of the row at `at`, its payload included. @throws LayoutError for what is no row
 * @example
 * ```ts
 * import { rowWords } from 'triscope/formats';
 *
 * function countRows(rows: Int32Array): number {
 *   let count = 0;
 *   for (let at = 0; at < rows.length; at += rowWords(rows, at)) count++;
 *   return count;
 * }
 * ```
 */
export function rowWords(rows: Int32Array, at: number): number {
  const kind = rows[at + ROW_KIND];
  if (kind < ROW_PE || kind > ROW_MODEL) {
    throw new LayoutError(`word ${at} of the rows has kind ${kind}; rows have kinds 0 to 3`);
  }
  const words = ROW_WORDS[kind];
  return kind === ROW_MODEL ? words + (((rows[at + ROW_PAYLOAD] + 7) >> 3) << 1) : words;
}

function framedBytes(layout: RossLayout, rows: Int32Array, from: number, to: number): number {
  const lp = FRAME_BYTES + lpBytes(layout);
  let bytes = 0;
  for (let at = from; at < to; at += rowWords(rows, at)) {
    const kind = rows[at + ROW_KIND];
    if (kind === ROW_PE) bytes += FRAME_BYTES + PE_BYTES;
    else if (kind === ROW_KP) bytes += FRAME_BYTES + KP_BYTES;
    else if (kind === ROW_LP) bytes += lp;
    else {
      const head = rows[at + ROW_MODE] === MODE_VT ? VT_MODEL_BYTES : FRAME_BYTES + MODEL_BYTES;
      bytes += head + rows[at + ROW_PAYLOAD];
    }
  }
  return bytes;
}

/** Eight words. Written out: a loop's own work costs three times as much as what it copies. */
function copy8(words: Int32Array, to: number, rows: Int32Array, from: number): void {
  words[to] = rows[from];
  words[to + 1] = rows[from + 1];
  words[to + 2] = rows[from + 2];
  words[to + 3] = rows[from + 3];
  words[to + 4] = rows[from + 4];
  words[to + 5] = rows[from + 5];
  words[to + 6] = rows[from + 6];
  words[to + 7] = rows[from + 7];
}

function copyFrame(
  words: Int32Array,
  to: number,
  kind: number,
  size: number,
  rows: Int32Array,
  row: number,
): void {
  words[to] = kind;
  words[to + 1] = size;
  words[to + 2] = rows[row + ROW_VIRTUAL];
  words[to + 3] = rows[row + ROW_VIRTUAL + 1];
  words[to + 4] = rows[row + ROW_REAL];
  words[to + 5] = rows[row + ROW_REAL + 1];
}

function copyPe(words: Int32Array, to: number, rows: Int32Array, row: number): void {
  copyFrame(words, to, ROW_PE, PE_BYTES, rows, row);
  const from = row + ROW_FIELDS;
  copy8(words, to + 6, rows, from);
  copy8(words, to + 14, rows, from + 8);
  copy8(words, to + 22, rows, from + 16);
  words[to + 30] = rows[from + 24];
  words[to + 31] = rows[from + 25];
}

function copyKp(words: Int32Array, to: number, rows: Int32Array, row: number): void {
  copyFrame(words, to, ROW_KP, KP_BYTES, rows, row);
  const from = row + ROW_FIELDS;
  copy8(words, to + 6, rows, from);
  words[to + 14] = rows[from + 8];
  words[to + 15] = rows[from + 9];
  words[to + 16] = rows[from + 10];
}

/** An LP's 36 bytes; or 48: 8 fields, 8 bytes that ROSS never sets, efficiency, 4 bytes of padding. */
function copyLp(words: Int32Array, to: number, rows: Int32Array, row: number, size: number): void {
  copyFrame(words, to, ROW_LP, size, rows, row);
  const from = row + ROW_FIELDS;
  copy8(words, to + 6, rows, from);
  if (size === 36) {
    words[to + 14] = rows[from + 8];
    return;
  }
  words[to + 14] = 0;
  words[to + 15] = 0;
  words[to + 16] = rows[from + 8];
  words[to + 17] = 0;
}

/** The same at any byte. */
function putWords(out: Out, at: number, rows: Int32Array, from: number, count: number): void {
  for (let k = 0; k < count; k++) {
    out.view.setInt32(at + 4 * k, rows[from + k], LITTLE_ENDIAN);
  }
}

function putFrame(
  out: Out,
  at: number,
  kind: number,
  size: number,
  rows: Int32Array,
  row: number,
): void {
  out.view.setInt32(at, kind, LITTLE_ENDIAN);
  out.view.setInt32(at + 4, size, LITTLE_ENDIAN);
  putWords(out, at + 8, rows, row + ROW_VIRTUAL, 2);
  putWords(out, at + 16, rows, row + ROW_REAL, 2);
}

function putSample(
  out: Out,
  at: number,
  kind: number,
  size: number,
  rows: Int32Array,
  row: number,
): void {
  putFrame(out, at, kind, size, rows, row);
  const from = row + ROW_FIELDS;
  if (kind !== ROW_LP || size === 36) {
    putWords(out, at + FRAME_BYTES, rows, from, size >> 2);
    return;
  }
  putWords(out, at + FRAME_BYTES, rows, from, 8);
  out.bytes.fill(0, at + FRAME_BYTES + 32, at + FRAME_BYTES + 48);
  putWords(out, at + FRAME_BYTES + 40, rows, from + 8, 1);
}

function putPayload(out: Out, at: number, rows: Int32Array, row: number): number {
  const size = rows[row + ROW_PAYLOAD];
  const from = rows.byteOffset + 4 * (row + ROW_WORDS[ROW_MODEL]);
  if (size > 0) out.bytes.set(new Uint8Array(rows.buffer, from, size), at);
  return at + size;
}

/** u64 lp, kp, pe, f64 virtual time, f64 real time, i32 size, i32 kind, payload. */
function putVtModel(out: Out, at: number, rows: Int32Array, row: number): number {
  const { view } = out;
  for (let k = 0; k < 3; k++) {
    view.setBigUint64(at + 8 * k, BigInt(rows[row + ROW_FIELDS + 2 - k] >>> 0), LITTLE_ENDIAN);
  }
  putWords(out, at + 24, rows, row + ROW_VIRTUAL, 2);
  putWords(out, at + 32, rows, row + ROW_REAL, 2);
  view.setInt32(at + 40, rows[row + ROW_PAYLOAD], LITTLE_ENDIAN);
  view.setInt32(at + 44, ROW_MODEL, LITTLE_ENDIAN);
  return putPayload(out, at + VT_MODEL_BYTES, rows, row);
}

function putModel(
  out: Out,
  at: number,
  rows: Int32Array,
  doubles: Float64Array,
  row: number,
): number {
  putFrame(out, at, ROW_MODEL, MODEL_BYTES, rows, row);
  putWords(out, at + FRAME_BYTES, rows, row + ROW_FIELDS, 3);
  out.view.setFloat32(at + FRAME_BYTES + 12, doubles[(row + ROW_GVT) >> 1], LITTLE_ENDIAN);
  out.view.setInt32(at + FRAME_BYTES + 16, rows[row + ROW_MODE], LITTLE_ENDIAN);
  out.view.setInt32(at + FRAME_BYTES + 20, rows[row + ROW_PAYLOAD], LITTLE_ENDIAN);
  return putPayload(out, at + FRAME_BYTES + MODEL_BYTES, rows, row);
}

function encodeFramed(
  layout: RossLayout,
  rows: Int32Array,
  from: number,
  to: number,
  bytes: Uint8Array,
  at: number,
): number {
  const out = outOf(bytes);
  const { words } = out;
  const doubles = new Float64Array(rows.buffer, rows.byteOffset, rows.length >> 1);
  const lpSize = lpBytes(layout);
  let pos = at;
  let row = from;
  while (row < to) {
    const kind = rows[row + ROW_KIND];
    if (kind < ROW_PE || kind >= ROW_MODEL) {
      const next = row + rowWords(rows, row);
      const vt = rows[row + ROW_MODE] === MODE_VT;
      pos = vt ? putVtModel(out, pos, rows, row) : putModel(out, pos, rows, doubles, row);
      row = next;
      continue;
    }
    const size = kind === ROW_PE ? PE_BYTES : kind === ROW_KP ? KP_BYTES : lpSize;
    if (words === null || (pos & 3) !== 0) putSample(out, pos, kind, size, rows, row);
    else if (kind === ROW_PE) copyPe(words, pos >>> 2, rows, row);
    else if (kind === ROW_KP) copyKp(words, pos >>> 2, rows, row);
    else copyLp(words, pos >>> 2, rows, row, size);
    pos += FRAME_BYTES + size;
    row += ROW_WORDS[kind];
  }
  return pos - at;
}

/**
 * Bytes that rows take in a file. `from` and `to` are words: the rows in between are whole, and so are sampling
 * points (a PE's row with the KPs' and LPs' after it).
 * @throws LayoutError for rows that the layout has no place for
 * @example
 * ```ts
 * import { encodedBytes, encodeRows } from 'triscope/formats';
 *
 * const rows = new Int32Array(0); // as `src/model/schemas/ross-rows.ts` describes them
 * const out = new Uint8Array(encodedBytes('ross-7', rows, 0, rows.length));
 * encodeRows('ross-7', rows, 0, rows.length, out, 0);
 * ```
 */
export function encodedBytes(
  layout: RossLayout,
  rows: Int32Array,
  from: number,
  to: number,
): number {
  return isPacked(layout)
    ? packedBytes(layout, rows, from, to)
    : framedBytes(layout, rows, from, to);
}

/**
 * Writes rows, the words `from` up to `to` of `rows`, as the file has them into `out` from byte `at` on, in this machine's
 * byte order, and returns the bytes written. `rows` begins at a multiple of 8 bytes. Fastest where `at` is a multiple of 4.
 *
 * `lastGvts`, for packed layouts only: each PE's number of GVTs at the sample before; kept up to date here, one array
 * per file. In 2017 files `num_GVTs` is the change since then, not a total as later; without it the total is written.
 * @throws LayoutError for rows that the layout has no place for
 * @example
 * ```ts
 * import { encodedBytes, encodeRows } from 'triscope/formats';
 *
 * const rows = new Int32Array(0); // as `src/model/schemas/ross-rows.ts` describes them
 * const out = new Uint8Array(encodedBytes('ross-8.1', rows, 0, rows.length));
 * const bytes = encodeRows('ross-8.1', rows, 0, rows.length, out, 0);
 * ```
 */
export function encodeRows(
  layout: RossLayout,
  rows: Int32Array,
  from: number,
  to: number,
  out: Uint8Array,
  at: number,
  lastGvts?: Uint32Array,
): number {
  if (isPacked(layout)) return encodePacked(layout, rows, from, to, out, at, lastGvts);
  return encodeFramed(layout, rows, from, to, out, at);
}
