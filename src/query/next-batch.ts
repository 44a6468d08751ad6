/** Takes a result from DuckDB in batches. */
import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import { batchOf, type ColumnBatch, textBytes } from './column-batches.ts';

/** Approximate number of rows in a batch of columns. */
const BATCH_ROWS = 1 << 15;

/** Most bytes of its texts, except for its last chunk's. */
const BATCH_BYTES = 1 << 23;

async function nextChunk(result: DuckDBResult): Promise<DuckDBDataChunk | null> {
  const chunk = await result.fetchChunk();
  return chunk === null || chunk.rowCount === 0 ? null : chunk;
}

/** The next rows of a result as columns; null if there are none. */
export async function nextBatch(
  result: DuckDBResult,
  types: readonly string[],
): Promise<ColumnBatch | null> {
  const chunks: DuckDBDataChunk[] = [];
  let rows = 0;
  let bytes = 0;
  while (rows < BATCH_ROWS && bytes < BATCH_BYTES) {
    const chunk = await nextChunk(result);
    if (chunk === null) break;
    chunks.push(chunk);
    rows += chunk.rowCount;
    bytes += textBytes(chunk, types);
  }
  return rows === 0 ? null : batchOf(chunks, types);
}
