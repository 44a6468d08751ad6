/** Pieces of SQL text. */

/** SQL ends at a NUL: one is shown by its sign. */
const withoutNul = (text: string): string => text.replaceAll('\0', '\u2400');

export const quoteName = (name: string): string => `"${withoutNul(name).replaceAll('"', '""')}"`;
/** A text between quotes. */
export const quoteText = (text: string): string => `'${withoutNul(text).replaceAll("'", "''")}'`;

/** The same, NULs as they are, where an expression may be. */
export const textOf = (text: string): string =>
  text.includes('\0')
    ? `(${text.split('\0').map(quoteText).join(' || chr(0) || ')})`
    : quoteText(text);
