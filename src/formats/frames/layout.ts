/**
 * Stream frames: columns of samples as bytes, in a file or on a wire. Everything is little endian.
 *
 * ```
 * byte  0  u32 magic 'TRIF'
 *       4  u32 length of the whole frame in bytes, a multiple of 8
 *       8  u32 schema id, chosen by the writer, unique in the stream
 *      12  u32 rows (data), labels (dictionary), 0 (schema)
 *      16  u32 columns
 *      20  u32 flags: 1 schema definition, 2 label dictionary, 0 data
 *      24  u32 sequence number of the stream's data frames, modulo 2^32; a definition has the next data frame's
 *      28  u32 CRC-32 (zlib's) of bytes 4…27 and the payload
 *      32  payload
 * ```
 * Payload of a schema definition: JSON `{name, domain, help, metrics}`, UTF-8, padded with spaces to 8 bytes. It comes
 * before the schema's first data. Of a dictionary: JSON `{column, first, labels}`: the labels of column number
 * `column` from index `first` on; it comes before the data that needs it. Of data: the columns in the schema's order,
 * each contiguous and padded with zeros to 8 bytes; a label is a u32 index into its column's dictionary.
 *
 * Missing values: NaN in f32 and f64, the empty text among labels. Integers are always there.
 */
import { EXIT, TriscopeError } from '../../model/error.ts';
import { CELL_BYTES, type Cell, type Schema } from '../../model/metric.ts';
import type { RawColumn } from '../part.ts';

/** 'TRIF' as a little-endian u32. */
export const MAGIC = 0x46495254;
export const HEADER_BYTES = 32;
export const FLAG_SCHEMA = 1;
export const FLAG_DICTIONARY = 2;

/** Readers take a longer frame for a damaged one. */
export const MOST_FRAME_BYTES = 64 * 1024 * 1024;
/** Writers split batches so that frames stay below this. */
export const SPLIT_BYTES = 4 * 1024 * 1024;

/** Where the header's fields are, in bytes. */
export const AT = { length: 4, schema: 8, rows: 12, columns: 16, flags: 20, sequence: 24, crc: 28 };

export const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** Bytes of a column of `rows` values, padding included. */
export const columnBytes = (cell: Cell, rows: number): number => padded(CELL_BYTES[cell] * rows);

/** Bytes of the payload of `rows` rows. */
export function payloadBytes(schema: Schema, rows: number): number {
  let bytes = 0;
  for (const { cell } of schema.metrics) bytes += columnBytes(cell, rows);
  return bytes;
}

const LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** Turns cells of `width` bytes from the machine's byte order into little endian, or back, in place. */
export function toLittle(bytes: Uint8Array, width: number, little = LITTLE): void {
  if (little) return;
  for (let k = 0; k < bytes.length; k += width) bytes.subarray(k, k + width).reverse();
}

/** `rows` cells that begin at byte `start`, in the machine's byte order; of labels their codes. */
export function columnIn(cell: Cell, bytes: ArrayBuffer, start: number, rows: number): RawColumn {
  toLittle(new Uint8Array(bytes, start, CELL_BYTES[cell] * rows), CELL_BYTES[cell]);
  switch (cell) {
    case 'u32':
    case 'label':
      return new Uint32Array(bytes, start, rows);
    case 'i32':
      return new Int32Array(bytes, start, rows);
    case 'u64':
      return new BigUint64Array(bytes, start, rows);
    case 'f32':
      return new Float32Array(bytes, start, rows);
    case 'f64':
      return new Float64Array(bytes, start, rows);
  }
}

/** The payload of a dictionary frame. */
export interface DictionaryPart {
  /** Number of the column in its schema. */
  readonly column: number;
  /** Index of the first of `labels`. */
  readonly first: number;
  readonly labels: readonly string[];
}

/** A damaged stream. The message names the place; what was read before it is good. */
export class FrameError extends TriscopeError {
  override readonly name = 'FrameError';
  override readonly exitCode = EXIT.input;
  /** Byte offset of the damaged frame. */
  readonly offset: number;
  readonly what: string;
  constructor(what: string, offset: number, file?: string) {
    super(`${file === undefined ? 'stream' : file}: byte ${offset}: ${what}`);
    this.what = what;
    this.offset = offset;
  }
}
