/**
 * Whole columns into DuckDB's vectors. @duckdb/node-api sets value by value (about 50 ns each, more where nulls are);
 * the bindings below it copy bytes. They are loaded from where node-api finds them, so that both use the same library.
 */
import { createRequire } from 'node:module';
import type { RawColumn } from '../formats/part.ts';
import { accessors } from './duckdb.ts';

export type Vector = { readonly vector: never };

/** A chunk, and what a table function is called with, as the bindings have them. */
export type RawChunk = { readonly chunk: never };
type CallInfo = { readonly info: never };

interface Bindings {
  table_function_set_function(
    tableFunction: unknown,
    main: (info: CallInfo, out: RawChunk) => void,
  ): void;
  function_get_init_data(info: CallInfo): object | undefined;
  function_set_error(info: CallInfo, error: string): void;
  data_chunk_set_size(chunk: RawChunk, rows: number): void;
  data_chunk_get_vector(chunk: unknown, column: number): Vector;
  copy_data_to_vector(
    to: Vector,
    at: number,
    from: ArrayBufferLike,
    start: number,
    bytes: number,
  ): void;
  vector_ensure_validity_writable(vector: Vector): void;
  copy_data_to_vector_validity: Bindings['copy_data_to_vector'];
  vector_get_data(vector: Vector, bytes: number): Uint8Array;
  /** Null where all are valid. */
  vector_get_validity(vector: Vector, bytes: number): Uint8Array | null;
}

const api = createRequire(createRequire(import.meta.url).resolve('@duckdb/node-api'));
export const bindings = api('@duckdb/node-bindings') as Bindings;

// Its decoder takes a byte order mark at the beginning of a value away, as if each were a file.
accessors.textDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Rows of a DuckDB chunk, at most. */
export const CHUNK_ROWS = 2048;

/** One bit a row: 1 valid. Words of 64 bits, as DuckDB's. */
const validity = new Uint32Array(CHUNK_ROWS / 32);

/** Copies `column` into a chunk whose row count is `column.length`, the floating-point NaN as null. */
export function fill(chunk: unknown, at: number, column: RawColumn): void {
  const vector = bindings.data_chunk_get_vector(chunk, at);
  const { buffer, byteOffset, byteLength } = column;
  bindings.copy_data_to_vector(vector, 0, buffer, byteOffset, byteLength);
  const isMissing =
    column instanceof Float64Array
      ? markMissing64(column)
      : column instanceof Float32Array && markMissing32(column);
  if (isMissing) setValidity(vector, column.length);
}

/** Makes all `rows` values of a column null. */
export function fillMissing(chunk: unknown, at: number, rows: number): void {
  validity.fill(0);
  setValidity(bindings.data_chunk_get_vector(chunk, at), rows);
}

function setValidity(vector: Vector, rows: number): void {
  bindings.vector_ensure_validity_writable(vector);
  const bytes = Math.ceil(rows / 64) * 8;
  bindings.copy_data_to_vector_validity(vector, 0, validity.buffer, 0, bytes);
}

/** Writes `validity`. Returns whether anything is missing. Twice, as compiled code for one type is several times as fast. */
function markMissing64(column: Float64Array): boolean {
  const { length } = column;
  let row = 0;
  while (row < length && !Number.isNaN(column[row])) row++;
  if (row === length) return false;
  validity.fill(-1);
  for (; row < length; row++) {
    if (Number.isNaN(column[row])) validity[row >> 5] &= ~(1 << (row & 31));
  }
  return true;
}

function markMissing32(column: Float32Array): boolean {
  const { length } = column;
  let row = 0;
  while (row < length && !Number.isNaN(column[row])) row++;
  if (row === length) return false;
  validity.fill(-1);
  for (; row < length; row++) {
    if (Number.isNaN(column[row])) validity[row >> 5] &= ~(1 << (row & 31));
  }
  return true;
}
