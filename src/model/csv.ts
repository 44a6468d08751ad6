/** Cells of CSV (RFC 4180, but lines end with \n). */

/** Beginnings of texts that a spreadsheet may take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** A text in quotes, those within doubled. */
export const quotedText = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/**
 * A text as a cell.
 * @param formulas `quote`: a text that a spreadsheet would take for a formula gets a `'` before it, as spreadsheets mark texts
 */
export function csvText(text: string, formulas: 'keep' | 'quote' = 'keep'): string {
  const told = formulas === 'quote' && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(told) ? quotedText(told) : told;
}
