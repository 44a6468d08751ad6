/**
 * A user's views and macros. They are made in DuckDB's temporary schema, for the statements of one connection,
 * and are checked like statements: a view as its query, a macro as a query for its value.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { QueryError } from './errors.ts';
import { judge } from './judge.ts';
import { blankUpTo } from './script.ts';

const GAP = String.raw`(?:\s|--[^\n]*\n|/\*(?:(?!/\*|\*/)[\s\S])*\*/)`;
const NAME = String.raw`(?:"(?:[^"]|"")+"|[\p{L}_][\p{L}\p{N}_$]*)`;
/** Whether an expression calls no function: default values are not checked. */
const LIST = String.raw`\((?:[^()'"]|'(?:[^']|'')*'|"(?:[^"]|"")*")*\)`;
const DEFINITION = new RegExp(
  `^${GAP}*CREATE${GAP}+(?:OR${GAP}+REPLACE${GAP}+)?(?:TEMP(?:ORARY)?${GAP}+)?` +
    `(?<kind>VIEW|MACRO|FUNCTION)${GAP}+(?<name>${NAME})${GAP}*(?<list>${LIST})?${GAP}*` +
    `AS${GAP}+(?<table>TABLE${GAP}+)?`,
  'iu',
);

const SCALAR = 'SELECT (';

/**
 * Makes a view or a macro known to the connection's statements.
 * @param own names of its macros for tables, to which this one's is added
 * @throws QueryError for other definitions, and those that would do more than read; DuckDB's error
 */
export async function defineOwn(
  connection: DuckDBConnection,
  sql: string,
  own: Set<string>,
): Promise<void> {
  const found = DEFINITION.exec(sql);
  const { kind = '', name = '', list = '', table } = found?.groups ?? {};
  const isView = /view/i.test(kind);
  if (found === null || (isView && table !== undefined) || (!isView && list === '')) {
    throw new QueryError(
      'recordings are read-only: the only things that a query may create are CREATE VIEW name AS SELECT … and CREATE MACRO name(…) AS …',
    );
  }
  const body = sql.slice(found[0].length);
  const isQuery = isView || table !== undefined;
  const blank = blankUpTo(sql, found[0].length);
  const asked = isQuery
    ? blank + body
    : `${blank.endsWith(' '.repeat(SCALAR.length)) ? blank.slice(SCALAR.length) : blank}${SCALAR}${body}\n)`;
  const { before, statements, last } = await judge(connection, asked, own);
  if (before.length > 0) {
    throw new QueryError(`${name}: a PIVOT in it must list its values: PIVOT … ON column IN (…)`);
  }
  if (!isView) await checkNew(connection, name, own);
  // A view's columns are looked up now, so that errors are reported with their place.
  if (isView) await statements.prepare(last);
  const whole = `CREATE OR REPLACE TEMP ${kind} ${name}${list} AS ${isView || !isQuery ? '' : 'TABLE '}${body}`;
  const made = await connection.extractStatements(whole);
  if (made.count !== 1)
    throw new QueryError(`${name}: the statement contains more than the definition`);
  await (await made.prepare(0)).run();
  if (table !== undefined) own.add(plain(name));
}

/** A name as SQL looks it up. */
const plain = (name: string): string =>
  name
    .replace(/^"(.*)"$/su, '$1')
    .replaceAll('""', '"')
    .toLowerCase();

/** What is not called by DuckDB's name for something else is judged by its own. @throws QueryError */
async function checkNew(
  connection: DuckDBConnection,
  name: string,
  own: ReadonlySet<string>,
): Promise<void> {
  if (own.has(plain(name))) return;
  const rows = await connection.runAndReadAll(
    `SELECT 1 FROM duckdb_functions()
      WHERE lower(function_name) = $1 AND (database_name = 'system' OR function_type NOT LIKE '%macro') LIMIT 1`,
    [plain(name)],
  );
  if (rows.currentRowCount > 0) throw new QueryError(`${name}: DuckDB has a function of that name`);
}
