/** Selects rows in memory by an SQL condition: `WHERE` without a recording. See `filter.ts` for limits. */

import { quoteName, quoteText } from '../model/sql.ts';
import { MissingPieceError, QueryError } from './errors.ts';
import { SETTINGS } from './settings.ts';
import { lineOf } from './sql-errors.ts';

/** A value that is looked for. */
export type FilterCell = string | number | boolean | null;

/** A column of the rows that are filtered. */
export interface FilterColumn {
  /** Name in the condition. */
  readonly name: string;
  /** SQL type of its values. */
  readonly type: 'VARCHAR' | 'DOUBLE' | 'BIGINT' | 'BOOLEAN';
}

export interface FilterTask {
  /** Its name in the condition. */
  readonly table: string;
  readonly columns: readonly FilterColumn[];
  readonly rows: readonly (readonly FilterCell[])[];
  /** An SQL condition. */
  readonly where: string;
}

/** Rows of an INSERT: its text stays small. */
const AT_ONCE = 500;

function literal(value: FilterCell): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return quoteText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'NULL';
  return String(value);
}

async function load() {
  try {
    const [{ judge }, { openLocked }] = await Promise.all([
      import('./judge.ts'),
      import('./locked.ts'),
    ]);
    return { judge, openLocked };
  } catch {
    throw new MissingPieceError('SQL needs @duckdb/node-api: npm install @duckdb/node-api');
  }
}

/** The numbers of the rows for which `where` is true, in their order. @throws QueryError in one line, MissingPieceError */
export async function filterHere({ table, columns, rows, where }: FilterTask): Promise<number[]> {
  const { judge, openLocked } = await load();
  const instance = await openLocked(SETTINGS);
  const connection = await instance.connect();
  try {
    const types = columns.map(({ name, type }) => `${quoteName(name)} ${type}`).join(', ');
    await connection.run(`CREATE TABLE ${quoteName(table)} ("#" INTEGER, ${types})`);
    for (let from = 0; from < rows.length; from += AT_ONCE) {
      const values = rows
        .slice(from, from + AT_ONCE)
        .map((row, k) => `(${[from + k, ...row.map(literal)].join(', ')})`);
      await connection.run(`INSERT INTO ${quoteName(table)} VALUES ${values.join(', ')}`);
    }
    // On lines of its own: a comment in it must not swallow the parenthesis.
    const sql = `SELECT "#" FROM ${quoteName(table)} WHERE (\n${where}\n) ORDER BY "#"`;
    const { before, last, statements } = await judge(connection, sql);
    if (before.length > 0) throw new QueryError('--where takes a condition, such as avg_cpi > 1.5');
    await connection.run('BEGIN TRANSACTION READ ONLY');
    const statement = await statements.prepare(last);
    const found = await statement.runAndReadAll();
    return found.getRowsJS().map(([row]) => Number(row));
  } catch (error) {
    throw error instanceof QueryError ? error : new QueryError(lineOf(error, [table]));
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
