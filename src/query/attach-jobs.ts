/** The tables of an archive's job index among those of a query. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../model/sql.ts';
import { jobViews } from './job-tables.ts';
import { runAll } from './make.ts';
import { lineOf } from './sql-errors.ts';

/**
 * Makes the tables of an index known in a schema.
 * @param database a name for it
 * @returns why it failed, in one line; null if it succeeded
 */
export async function attachJobs(
  connection: DuckDBConnection,
  path: string,
  schemaName: string,
  database: string,
): Promise<string | null> {
  const schema = quoteName(schemaName);
  try {
    await connection.run(`ATTACH ${quoteText(path)} AS ${database} (READ_ONLY)`);
    await runAll(connection, [
      `CREATE SCHEMA IF NOT EXISTS ${schema}`,
      ...jobViews(`${database}.main`, schema),
    ]);
    return null;
  } catch (error) {
    return `${path}: ${lineOf(error, [])}`;
  }
}
