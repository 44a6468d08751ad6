/** The option of commands that print CSV. */
import { flag } from '../model/option.ts';

/** The option that asks for formulas to be marked: `csvText`. */
export const QUOTE_FORMULAS = flag(
  false,
  "in CSV, a text that a spreadsheet would run as a formula (= + - @) gets a ' before it",
);
