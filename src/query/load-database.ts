/** DuckDB is large, and may be missing: it is loaded when first used. */
import { MissingPieceError } from './errors.ts';

const NOT_INSTALLED = ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED'];

/** @throws MissingPieceError */
export async function loadDatabase() {
  try {
    return (await import('./database.ts')).Database;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!NOT_INSTALLED.includes(code ?? '')) throw error;
    const why = message.split('\n')[0];
    throw new MissingPieceError(
      `queries need DuckDB, which is not installed (${why}): npm install @duckdb/node-api`,
    );
  }
}
