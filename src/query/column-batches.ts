/** Results as columns: the bytes of DuckDB's vectors, without a value or a row as an object. */
import type { DuckDBDataChunk, DuckDBValue, DuckDBValueConverter, JS } from '@duckdb/node-api';
import type { Columns } from '../model/metric.ts';
import { bindings } from './bulk.ts';
import { DuckDBDateValue, DuckDBTypeId, JSDuckDBValueConverter } from './duckdb.ts';

/** A column's values. Missing ones are 0, NaN where they are floating, null where they are no numbers. */
export type ColumnData =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array
  | readonly JS[];

/** Rows of a result: its columns by their number, or by name. */
export interface ColumnBatch<C = readonly ColumnData[]> extends Columns<C> {
  /** By column: 1 where the row's value is missing; null where none is. */
  readonly missing: { readonly [K in keyof C]: Uint8Array | null };
}

type NumberArray = Exclude<ColumnData, readonly JS[]>;

/** By SQL type: its array. BOOLEAN is a byte, 0 or 1. */
const ARRAYS: Readonly<Record<string, { new (length: number): NumberArray }>> = {
  BOOLEAN: Uint8Array,
  TINYINT: Int8Array,
  UTINYINT: Uint8Array,
  SMALLINT: Int16Array,
  USMALLINT: Uint16Array,
  INTEGER: Int32Array,
  UINTEGER: Uint32Array,
  BIGINT: BigInt64Array,
  UBIGINT: BigUint64Array,
  FLOAT: Float32Array,
  DOUBLE: Float64Array,
};

/** Values that no JavaScript type holds exactly are texts as DuckDB prints them: a Date has no microseconds. */
const TEXTS = new Set([
  ...[DuckDBTypeId.DATE, DuckDBTypeId.TIME, DuckDBTypeId.TIME_TZ, DuckDBTypeId.TIME_NS],
  ...[DuckDBTypeId.TIMESTAMP, DuckDBTypeId.TIMESTAMP_S, DuckDBTypeId.TIMESTAMP_MS],
  ...[DuckDBTypeId.TIMESTAMP_NS, DuckDBTypeId.TIMESTAMP_TZ, DuckDBTypeId.INTERVAL],
  ...[DuckDBTypeId.BLOB, DuckDBTypeId.BIT],
]);

const plainValue: DuckDBValueConverter<JS> = (value, type, convert) =>
  value !== null && TEXTS.has(type.typeId)
    ? textOf(value)
    : JSDuckDBValueConverter(value, type, convert);

/** The API cannot print infinite dates. */
function textOf(value: DuckDBValue): string {
  if (!(value instanceof DuckDBDateValue) || value.isFinite) return String(value);
  return value.days > 0 ? 'infinity' : '-infinity';
}

const isFloating = (values: ColumnData): boolean =>
  values instanceof Float64Array || values instanceof Float32Array;

/** Chunks of a result with columns of these SQL types, as one batch. */
export function batchOf(chunks: readonly DuckDBDataChunk[], types: readonly string[]): ColumnBatch {
  const rows = chunks.reduce((sum, chunk) => sum + chunk.rowCount, 0);
  const missing: (Uint8Array | null)[] = [];
  const columns = types.map((type, column): ColumnData => {
    let gone: Uint8Array | null = null;
    const ArrayOf = ARRAYS[type];
    const values = ArrayOf === undefined ? null : new ArrayOf(rows);
    const others: JS[] = [];
    let at = 0;
    for (const chunk of chunks) {
      gone = markMissing(chunk, column, at, rows, gone);
      if (values === null) others.push(...chunk.convertColumnValues(column, plainValue));
      else copy(chunk, column, values, at);
      at += chunk.rowCount;
    }
    missing.push(gone);
    if (values !== null && gone !== null) blank(values, gone);
    return values ?? others;
  });
  return { rows, columns, missing };
}

/** Bytes of a text in a vector: its length, in the first four, then its beginning or where it is. */
const TEXT_ENTRY_BYTES = 16;

/** Bytes of the texts of a chunk; what lists hold is not counted. */
export function textBytes(chunk: DuckDBDataChunk, types: readonly string[]): number {
  let bytes = 0;
  for (const [column, type] of types.entries()) {
    if (type !== 'VARCHAR' && type !== 'BLOB') continue;
    const vector = bindings.data_chunk_get_vector(chunk.chunk, column);
    const entries = bindings.vector_get_data(vector, chunk.rowCount * TEXT_ENTRY_BYTES);
    const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
    for (let at = 0; at < view.byteLength; at += TEXT_ENTRY_BYTES)
      bytes += view.getUint32(at, true);
  }
  return bytes;
}

function copy(chunk: DuckDBDataChunk, column: number, into: NumberArray, at: number): void {
  const vector = bindings.data_chunk_get_vector(chunk.chunk, column);
  const width = into.BYTES_PER_ELEMENT;
  const bytes = bindings.vector_get_data(vector, chunk.rowCount * width);
  new Uint8Array(into.buffer).set(bytes, at * width);
}

function markMissing(
  chunk: DuckDBDataChunk,
  column: number,
  at: number,
  rows: number,
  known: Uint8Array | null,
): Uint8Array | null {
  const vector = bindings.data_chunk_get_vector(chunk.chunk, column);
  const bits = bindings.vector_get_validity(vector, 8 * Math.ceil(chunk.rowCount / 64)) ?? null;
  if (bits === null) return known;
  let gone = known;
  for (let row = 0; row < chunk.rowCount; row++) {
    if ((bits[row >> 3] & (1 << (row & 7))) !== 0) continue;
    gone ??= new Uint8Array(rows);
    gone[at + row] = 1;
  }
  return gone;
}

function blank(values: NumberArray, gone: Uint8Array): void {
  const isBig = values instanceof BigInt64Array || values instanceof BigUint64Array;
  for (let row = 0; row < gone.length; row++) {
    if (gone[row] === 0) continue;
    if (isBig) values[row] = 0n;
    else (values as Float64Array)[row] = isFloating(values) ? Number.NaN : 0;
  }
}
