/**
 * Checks what a user's statement does before any of it runs. DuckDB binds a statement when it is prepared, and some
 * functions do their work, or harm, then; so it is checked by its syntax tree, and by the innermost statement of what
 * EXPLAIN wraps. A read-only transaction is the second safeguard (`readOnly`).
 */
import type { DuckDBConnection, DuckDBExtractedStatements } from '@duckdb/node-api';
import { QueryError } from './errors.ts';

/**
 * Table functions that look at what there is, or make rows. All others may not be called: they read files, switch
 * logging or profiling on, or take addresses in memory; those that run SQL from a text would bypass this check.
 */
const FUNCTIONS: ReadonlySet<string> = new Set([
  ...['range', 'generate_series', 'unnest', 'repeat', 'repeat_row'],
  ...['json_each', 'json_tree', 'query_table', 'summary'],
  ...['duckdb_columns', 'duckdb_constraints', 'duckdb_databases', 'duckdb_dependencies'],
  ...['duckdb_functions', 'duckdb_indexes', 'duckdb_keywords', 'duckdb_memory', 'duckdb_schemas'],
  ...['duckdb_optimizers', 'duckdb_sequences', 'duckdb_settings', 'duckdb_tables', 'duckdb_types'],
  ...['duckdb_variables', 'duckdb_views'],
  ...['pragma_table_info', 'pragma_show', 'pragma_version', 'pragma_collations'],
  ...['pg_timezone_names', 'icu_calendar_names'],
]);

/** How statements that read begin. A parenthesis begins one, too. */
const READERS = new Set([
  ...['select', 'with', 'from', 'values', 'table', 'describe', 'desc', 'show', 'summarize'],
  ...['pivot', 'pivot_wider', 'unpivot', 'pivot_longer', '('],
]);

/** Blanks and comments; a comment within a comment is none of ours, as it ends elsewhere than it seems to. */
const GAP = String.raw`(?:\s|--[^\n]*(?:\n|$)|/\*(?:(?!/\*|\*/)[\s\S])*\*/)*`;
const COMMENT = /--[^\n]*|\/\*[\s\S]*?\*\//g;
const FIRST = new RegExp(`^${GAP}([a-z_]+|.)?`, 'isu');
const FORMAT = String.raw`FORMAT\s+(?:text|json|html|graphviz|yaml|mermaid)`;
/** EXPLAIN with the options that it is known to have. */
const EXPLAIN = new RegExp(
  `^${GAP}EXPLAIN(?=[\\s(/-])${GAP}(?:ANALYZE(?=[\\s(/-])${GAP})?` +
    `(?:\\(\\s*(?:ANALYZE|${FORMAT}|ANALYZE\\s*,\\s*${FORMAT})\\s*\\)${GAP})?`,
  'i',
);

interface Judged {
  /** Makes what the last needs, one after the other: a PIVOT's values, where they are not listed. */
  readonly before: readonly number[];
  readonly last: number;
  readonly statements: DuckDBExtractedStatements;
  /** Whether it is a SELECT, and no explanation of one. */
  readonly isSelect: boolean;
}

/** EXPLAIN with its options, its comments blanked, and what it wraps. */
function unwrapped(sql: string): { explain: string; inner: string } {
  const explain = EXPLAIN.exec(sql)?.[0] ?? '';
  const blank = (text: string) => text.replace(/[^\n]/g, ' ');
  return { explain: explain.replace(COMMENT, blank), inner: sql.slice(explain.length) };
}

interface Tree {
  readonly error: boolean;
  readonly error_type?: string;
  readonly error_message?: string;
  readonly statements?: readonly unknown[];
}

export const refused = (word: string): QueryError =>
  new QueryError(`recordings are read-only: use SELECT, not ${word.toUpperCase()}`);

const NONE: ReadonlySet<string> = new Set();

/**
 * The statements that a user's text is: one, or what DuckDB makes of a PIVOT.
 * @param own names of macros for tables, in lower case, that were judged when they were defined
 * @throws QueryError for more than one, or one that does more than read; DuckDB's error for one that does not parse
 */
export async function judge(
  connection: DuckDBConnection,
  sql: string,
  own: ReadonlySet<string> = NONE,
): Promise<Judged> {
  if (sql.includes('\0')) throw new QueryError('a query must not contain the character NUL');
  const { explain, inner } = unwrapped(sql);
  const whole = explain + inner;
  const word = firstWordOf(inner);
  if (word === '' || word === ';') throw new QueryError('the query is empty');
  if (!READERS.has(word)) {
    // Syntax errors are reported as such; but DuckDB runs a part of these statements when it parses them.
    if (!['pragma', 'import'].includes(word)) await connection.extractStatements(whole);
    throw refused(word);
  }
  const tree = await treeOf(connection, inner);
  if (tree.error && tree.error_type !== 'not implemented') {
    // The same as DuckDB's error, with the place.
    await connection.extractStatements(whole);
    throw new QueryError(`SQL: ${tree.error_message ?? 'the statement does not parse'}`);
  }
  if (tree.error) return pivot(connection, inner, explain !== '');
  if (tree.statements?.length !== 1) throw several(tree.statements?.length ?? 0);
  for (const name of functionsIn(tree.statements)) {
    if (!FUNCTIONS.has(name) && !own.has(name)) throw notCalled(name);
  }
  const statements = await connection.extractStatements(whole);
  if (statements.count !== 1) throw several(statements.count);
  return { before: [], last: 0, statements, isSelect: explain === '' };
}

export const several = (count: number): QueryError =>
  new QueryError(`there are ${count} statements: give one at a time`);

const notCalled = (name: string): QueryError =>
  new QueryError(`recordings are read-only: the function ${name} cannot be called`);

function firstWordOf(sql: string): string {
  return (FIRST.exec(sql)?.[1] ?? '').toLowerCase();
}

async function treeOf(connection: DuckDBConnection, sql: string): Promise<Tree> {
  const rows = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)::VARCHAR', [
    sql,
  ]);
  return JSON.parse(String(rows.getRowsJS()[0][0])) as Tree;
}

/** Names of the table functions that a tree calls, in lower case. */
function functionsIn(tree: unknown): string[] {
  const names: string[] = [];
  // A list instead of recursion, because a hostile tree may have any depth.
  const left: unknown[] = [tree];
  while (left.length > 0) {
    const node = left.pop();
    if (typeof node !== 'object' || node === null) continue;
    const { type, function: called } = node as Record<string, unknown>;
    if (type === 'TABLE_FUNCTION') {
      names.push(String((called as { function_name?: unknown })?.function_name).toLowerCase());
    }
    for (const one of Object.values(node)) left.push(one);
  }
  return names;
}

/**
 * A PIVOT whose values are not listed is no tree, and becomes several statements: types that list its values, then the
 * query. Nothing else that begins with a reader's word begins with a CREATE.
 */
async function pivot(
  connection: DuckDBConnection,
  sql: string,
  isExplained: boolean,
): Promise<Judged> {
  const statements = await connection.extractStatements(sql);
  const { count } = statements;
  if (!/\bpivot/i.test(sql)) throw several(count);
  if (isExplained) {
    throw new QueryError('EXPLAIN of a PIVOT must list its values: PIVOT … ON column IN (…)');
  }
  const others = await connection.runAndReadAll(
    "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type = 'table'",
  );
  for (const [name] of others.getRowsJS()) {
    // Anywhere in the text, since without a syntax tree its role is not known.
    const called = new RegExp(`\\b${String(name).replaceAll(/\W/g, '.')}\\b`, 'i');
    if (!FUNCTIONS.has(String(name)) && called.test(sql)) throw notCalled(String(name));
  }
  const before = Array.from({ length: count - 1 }, (_, k) => k);
  return { before, last: count - 1, statements, isSelect: true };
}
