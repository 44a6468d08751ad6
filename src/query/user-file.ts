/** A user's own CSV or Parquet file as a table beside those of a recording. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../model/sql.ts';
import { readReason } from '../os/plain-file.ts';
import { InputError, QueryError } from './errors.ts';
import { lineOf } from './sql-errors.ts';

export interface UserFile {
  /** Of the table. */
  readonly name: string;
  readonly path: string;
}

/** How a Parquet file begins. */
const PARQUET = 'PAR1';
/** What DuckDB takes for a pattern of several files' names. */
const PATTERN = /[*?[\]]/;

/** The one path that DuckDB may read for it. @throws InputError where it is no file */
export function pathOfUserFile({ path }: UserFile): string {
  const wrong = (what: string) => new InputError(`${path}: ${what}`);
  let isFile: boolean;
  try {
    isFile = statSync(path).isFile();
  } catch (error) {
    throw wrong(readReason(error));
  }
  if (!isFile) throw wrong('is not a file: a table must be a CSV or Parquet file');
  const whole = resolve(path);
  if (PATTERN.test(whole)) {
    throw wrong('a path with *, ? or brackets would match several files: rename the file');
  }
  return whole;
}

function isParquet(path: string): boolean {
  const head = new Uint8Array(PARQUET.length);
  const file = openSync(path, 'r');
  try {
    readSync(file, head, 0, head.length, 0);
  } finally {
    closeSync(file);
  }
  return Buffer.from(head).toString('latin1') === PARQUET;
}

/** Makes its table. @throws InputError where it cannot be read, QueryError where there is a table of that name */
export async function addUserFile(connection: DuckDBConnection, file: UserFile): Promise<void> {
  const path = pathOfUserFile(file);
  const { name } = file;
  const taken = await connection.runAndReadAll(
    `SELECT 1 FROM information_schema.tables
      WHERE table_catalog = 'memory' AND table_schema = 'main' AND lower(table_name) = lower(${quoteText(name)})`,
  );
  if (taken.currentRowCount > 0) {
    throw new QueryError(`${name}: the recording already has a table of that name: choose another`);
  }
  const view = `main.${quoteName(name)}`;
  const read = isParquet(path) ? 'read_parquet' : 'read_csv';
  try {
    await connection.run(`CREATE VIEW ${view} AS SELECT * FROM ${read}(${quoteText(path)})`);
  } catch (error) {
    throw new InputError(`${file.path}: ${lineOf(error, [])}`);
  }
  await connection.run(`COMMENT ON VIEW ${view} IS ${quoteText(`file ${file.path}`)}`);
}
