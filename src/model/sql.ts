/** Pieces of SQL text. */

/** SQL ends at a NUL: one is shown by its sign. */
const withoutNul = (text: string): string => text.replaceAll('\0', '\u2400');

/**
 * A name as SQL has it, in double quotes: of a table or column that a user or a file names.
 * @example
 * ```ts
 * import { quoteName } from 'triscope/query';
 *
 * const sql = `SELECT ${quoteName('rate "raw"')} FROM node_cpu`; // SELECT "rate ""raw""" FROM node_cpu
 * ```
 */
export const quoteName = (name: string): string => `"${withoutNul(name).replaceAll('"', '""')}"`;

/**
 * A text as SQL has it, in single quotes.
 * @example
 * ```ts
 * import { quoteText } from 'triscope/query';
 *
 * const sql = `SELECT * FROM node_cpu WHERE host = ${quoteText("o'hara")}`; // … = 'o''hara'
 * ```
 */
export const quoteText = (text: string): string => `'${withoutNul(text).replaceAll("'", "''")}'`;

/** The same, NULs as they are, where an expression may be. */
export const textOf = (text: string): string =>
  text.includes('\0')
    ? `(${text.split('\0').map(quoteText).join(' || chr(0) || ')})`
    : quoteText(text);
