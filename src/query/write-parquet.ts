/** Rows of a program as a Parquet file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TriscopeError } from '../model/error.ts';
import { quoteText } from '../model/sql.ts';
import { scratchFolder } from '../os/scratch.ts';
import { loadDatabase } from './load-database.ts';

/**
 * Writes rows of plain values, of which each has the same columns, to a Parquet file.
 * @throws MissingPieceError where DuckDB is not installed; TriscopeError where the file cannot be written
 */
export async function writeParquet(
  rows: readonly Readonly<Record<string, unknown>>[],
  file: string,
): Promise<void> {
  // It says what to install.
  await loadDatabase();
  const { DuckDBInstance } = await import('./duckdb.ts');
  const folder = scratchFolder('triscope-parquet-');
  try {
    const lines = join(folder.path, 'rows.jsonl');
    writeFileSync(lines, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    try {
      const connection = await instance.connect();
      const read = `read_json(${quoteText(lines)}, format = 'newline_delimited', sample_size = -1)`;
      await connection.run(`COPY (SELECT * FROM ${read}) TO ${quoteText(file)} (FORMAT parquet)`);
      connection.closeSync();
    } finally {
      instance.closeSync();
    }
  } catch (error) {
    if (error instanceof TriscopeError) throw error;
    throw new TriscopeError(`${file}: cannot be written: ${(error as Error).message}`);
  } finally {
    folder.remove();
  }
}
