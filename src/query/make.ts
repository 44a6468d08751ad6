/** Creates what `define` describes. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName } from '../model/sql.ts';
import type { FactTable, FactType } from './facts.ts';
import { lineOf } from './sql-errors.ts';

/**
 * Statements run at once: each run costs a millisecond besides its work, and DuckDB's parser keeps the text of all of them for
 * each.
 */
const AT_ONCE = 32;

export async function runAll(
  connection: DuckDBConnection,
  statements: readonly string[],
): Promise<void> {
  for (let from = 0; from < statements.length; from += AT_ONCE) {
    await connection.run(statements.slice(from, from + AT_ONCE).join(';\n'));
  }
}

type Value = FactTable['rows'][number][number];

/** Rows are appended, so that their values are never part of a statement's text. */
export async function makeFacts(
  connection: DuckDBConnection,
  facts: readonly FactTable[],
  schema: string,
): Promise<void> {
  await runAll(
    connection,
    facts.map(({ name, columns }) => {
      const list = columns.map(([column, type]) => `${quoteName(column)} ${type}`).join(', ');
      return `CREATE TABLE ${quoteName(schema)}.${quoteName(name)} (${list})`;
    }),
  );
  for (const { name, columns, rows } of facts) {
    if (rows.length === 0) continue;
    const appender = await connection.createAppender(name, schema);
    const append: Readonly<Record<FactType, (value: NonNullable<Value>) => void>> = {
      VARCHAR: (value) => appender.appendVarchar(String(value)),
      UINTEGER: (value) => appender.appendUInteger(Number(value)),
      INTEGER: (value) => appender.appendInteger(Number(value)),
      HUGEINT: (value) => appender.appendHugeInt(BigInt(value)),
      DOUBLE: (value) => appender.appendDouble(Number(value)),
    };
    for (const row of rows) {
      for (const [k, [, type]] of columns.entries()) {
        const value = row[k];
        if (value === null || value === undefined) appender.appendNull();
        else append[type](value);
      }
      appender.endRow();
    }
    appender.closeSync();
  }
}

/** Views over what files hold. One that cannot be, for columns that hold what they never do, is left out: gives why. */
export async function runDerived(
  connection: DuckDBConnection,
  statements: readonly string[],
): Promise<string[]> {
  const faults: string[] = [];
  for (const statement of statements) {
    try {
      await connection.run(statement);
    } catch (error) {
      const what = /^(?:CREATE|COMMENT ON) (?:VIEW|MACRO) (?:"(?:[^"]|"")*"\.)?([\w"]+)/.exec(
        statement,
      );
      faults.push(`${what?.[1] ?? 'a view'} cannot be made: ${lineOf(error, [])}`);
    }
  }
  return faults;
}
