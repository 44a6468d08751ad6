/** Cells of CSV (RFC 4180, but lines end with \n). */
import { flag } from '../model/option.ts';

/** How a text begins that a spreadsheet may run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A text as a cell.
 * @param formulas `quote`: one that a spreadsheet would run gets a `'` before it, as spreadsheets mark texts
 */
export function csvText(text: string, formulas: 'keep' | 'quote' = 'keep'): string {
  const told = formulas === 'quote' && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(told) ? `"${told.replaceAll('"', '""')}"` : told;
}

/** The option that asks for `quote`. */
export const QUOTE_FORMULAS = flag(
  false,
  "in CSV, a text that a spreadsheet would run as a formula (= + - @) gets a ' before it",
);
