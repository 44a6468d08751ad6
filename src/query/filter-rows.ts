/** Rows in memory, chosen by an SQL condition: `WHERE` without a recording. */
import { MissingPieceError, QueryError } from './errors.ts';
import { quoteName, quoteText } from './sql.ts';
import { lineOf } from './sql-errors.ts';

export type Cell = string | number | boolean | null;

export interface FilterColumn {
  readonly name: string;
  readonly type: 'VARCHAR' | 'DOUBLE' | 'BIGINT' | 'BOOLEAN';
}

/** Rows of an INSERT: its text stays small. */
const AT_ONCE = 500;

function literal(value: Cell): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return quoteText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'NULL';
  return String(value);
}

async function load() {
  try {
    return await import('@duckdb/node-api');
  } catch {
    throw new MissingPieceError('SQL needs @duckdb/node-api: npm install @duckdb/node-api');
  }
}

/**
 * The numbers of the rows for which `where` is true, in their order.
 * @throws QueryError in one line, MissingPieceError
 */
export async function filterRows(
  table: string,
  columns: readonly FilterColumn[],
  rows: readonly (readonly Cell[])[],
  where: string,
): Promise<number[]> {
  const { DuckDBInstance, StatementType } = await load();
  const instance = await DuckDBInstance.create(':memory:', {
    enable_external_access: 'false',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
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
    await connection.run('SET lock_configuration = true');
    // On lines of its own: a comment in it must not swallow the parenthesis.
    const sql = `SELECT "#" FROM ${quoteName(table)} WHERE (\n${where}\n) ORDER BY "#"`;
    const statements = await connection.extractStatements(sql);
    if (statements.count !== 1) throw new QueryError('--where takes one condition');
    const statement = await statements.prepare(0);
    if (statement.statementType !== StatementType.SELECT) {
      throw new QueryError('--where takes a condition, such as avg_cpi > 1.5');
    }
    const found = await statement.runAndReadAll();
    return found.getRowsJS().map(([row]) => Number(row));
  } catch (error) {
    throw error instanceof QueryError ? error : new QueryError(lineOf(error, [table]));
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
