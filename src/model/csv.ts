/** Cells of CSV (RFC 4180, but lines end with \n). */

/** How a text begins that a spreadsheet may run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** A text in quotes, those within doubled. */
export const quotedText = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/**
 * A text as a cell.
 * @param formulas `quote`: one that a spreadsheet would run gets a `'` before it, as spreadsheets mark texts
 */
export function csvText(text: string, formulas: 'keep' | 'quote' = 'keep'): string {
  const told = formulas === 'quote' && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(told) ? quotedText(told) : told;
}
