/** Scripts of SQL: statements one after the other, some of which define views and macros for those after them. */

/** A statement, where it is in its script: errors then tell the script's lines and columns. */
export interface ScriptStatement {
  /** The statement. */
  readonly sql: string;
  /** Whether it defines a view or a macro. */
  readonly defines: boolean;
}

/** Texts, names and comments, in which a semicolon ends nothing. */
const PIECE =
  /\b[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|[;\s]|[^;\s'"$/-]+|./gu;
const COMMENT = /^(?:--|\/\*)/;
const CREATES = /^\s*create\b/i;

/** Blank text up to a place: as many lines, and in the last as many columns. */
export function blankUpTo(text: string, at: number): string {
  const before = text.slice(0, at);
  const line = before.lastIndexOf('\n') + 1;
  return '\n'.repeat(before.split('\n').length - 1) + ' '.repeat(at - line);
}

/**
 * The statements of a script; none of comments and blanks alone.
 * @example
 * ```ts
 * import { statementsOf } from 'triscope/query';
 *
 * statementsOf('CREATE VIEW busy AS SELECT 1; SELECT * FROM busy').length; // 2
 * ```
 */
export function statementsOf(script: string): ScriptStatement[] {
  const statements: ScriptStatement[] = [];
  // A comment before a statement is no part of it.
  let begin = -1;
  const end = (at: number) => {
    if (begin < 0) return;
    const sql = script.slice(begin, at);
    statements.push({ sql: blankUpTo(script, begin) + sql, defines: CREATES.test(sql) });
    begin = -1;
  };
  for (const { 0: piece, index } of script.matchAll(PIECE)) {
    if (piece === ';') end(index);
    else if (begin < 0 && piece.trim() !== '' && !COMMENT.test(piece)) begin = index;
  }
  end(script.length);
  return statements;
}
