/** Columns of DuckDB's results as arrays: from the bytes of its vectors, not value by value. */
import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import { bindings } from '../bulk.ts';

const BYTES_OF_VALIDITY = 8;

/** Bytes of a column's values in a chunk; valid until the next chunk. */
export function bytesOf(chunk: DuckDBDataChunk, column: number, width: number): Uint8Array {
  const vector = bindings.data_chunk_get_vector(chunk.chunk, column);
  return bindings.vector_get_data(vector, chunk.rowCount * width);
}

/** A bit per row, least significant first, 1 for valid; null if no value is missing. */
export function validityOf(chunk: DuckDBDataChunk, column: number): Uint8Array | null {
  const vector = bindings.data_chunk_get_vector(chunk.chunk, column);
  const bytes = Math.ceil(chunk.rowCount / 64) * BYTES_OF_VALIDITY;
  return bindings.vector_get_validity(vector, bytes) ?? null;
}

export async function* chunksOf(result: DuckDBResult): AsyncGenerator<DuckDBDataChunk> {
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    yield chunk;
  }
}

type NumberArray = Float64Array | Uint32Array;

/** Memory that grows. */
class Growing<T extends NumberArray> {
  private readonly make: (length: number) => T;
  private array: T;

  constructor(make: (length: number) => T, length: number) {
    this.make = make;
    this.array = make(length);
  }

  append(at: number, bytes: Uint8Array): void {
    const rows = bytes.length / this.array.BYTES_PER_ELEMENT;
    if (at + rows > this.array.length) {
      const larger = this.make(Math.max(at + rows, this.array.length * 2));
      larger.set(this.array);
      this.array = larger;
    }
    const { buffer, byteOffset, BYTES_PER_ELEMENT } = this.array;
    new Uint8Array(buffer, byteOffset).set(bytes, at * BYTES_PER_ELEMENT);
  }

  /** Makes missing values NaN. */
  missing(at: number, rows: number, validity: Uint8Array): void {
    for (let row = 0; row < rows; row++) {
      if ((validity[row >> 3] & (1 << (row & 7))) === 0) this.array[at + row] = Number.NaN;
    }
  }

  get(rows: number): T {
    return this.array.subarray(0, rows) as T;
  }
}

const FIRST = 1 << 16;

/** By column: `DOUBLE` and `UINTEGER` as arrays, `VARCHAR` as texts. Missing: NaN, 0, ''. */
export interface VectorColumns {
  readonly rows: number;
  numbers(column: number): Float64Array;
  integers(column: number): Uint32Array;
  texts(column: number): readonly string[];
}

/**
 * All rows of a statement of ours, whose columns have these types.
 * @param most greatest number of rows; `tooMany` makes the error for more
 */
export async function columnsOf(
  connection: DuckDBConnection,
  sql: string,
  types: readonly ('DOUBLE' | 'UINTEGER' | 'VARCHAR')[],
  most = Infinity,
  tooMany: () => Error = () => new Error('too many rows'),
): Promise<VectorColumns> {
  const result = await connection.stream(sql);
  const doubles = types.map(() => new Growing((n) => new Float64Array(n), 0));
  const integers = types.map(() => new Growing((n) => new Uint32Array(n), 0));
  const texts: string[][] = types.map(() => []);
  types.forEach((type, k) => {
    if (type === 'DOUBLE') doubles[k] = new Growing((n) => new Float64Array(n), FIRST);
    if (type === 'UINTEGER') integers[k] = new Growing((n) => new Uint32Array(n), FIRST);
  });
  let rows = 0;
  for await (const chunk of chunksOf(result)) {
    if (rows + chunk.rowCount > most) throw tooMany();
    types.forEach((type, k) => {
      if (type === 'VARCHAR') {
        const values = chunk.getColumnVector(k);
        for (let row = 0; row < chunk.rowCount; row++) {
          texts[k].push((values.getItem(row) as string | null) ?? '');
        }
        return;
      }
      const into = type === 'DOUBLE' ? doubles[k] : integers[k];
      into.append(rows, bytesOf(chunk, k, type === 'DOUBLE' ? 8 : 4));
      const validity = validityOf(chunk, k);
      if (validity !== null) into.missing(rows, chunk.rowCount, validity);
    });
    rows += chunk.rowCount;
  }
  return {
    rows,
    numbers: (column) => doubles[column].get(rows),
    integers: (column) => integers[column].get(rows),
    texts: (column) => texts[column],
  };
}
