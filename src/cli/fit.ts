/** Text tables that fit the terminal. */
import { oneLine } from './terminal.ts';

/** A text column is not made narrower than this. */
const NARROW = 12;
const BETWEEN = 2;

const NUMBER = /^[-+−±]?[\d.,]+(e[-+]?\d+)?( ?[kMGT%])?$/;

/** Columns of the terminal, or what COLUMNS says. Infinity, without either, disables wrapping. */
export function widthOf(stream: { readonly isTTY?: boolean; readonly columns?: number }): number {
  const told = Number(process.env.COLUMNS);
  if (Number.isInteger(told) && told > 0) return told;
  return stream.isTTY === true && stream.columns ? stream.columns : Infinity;
}

/** The text cut to at most `width` characters; “…” marks the cut. */
export const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;

/** Words in lines of at most `width` characters. */
export function wrapped(text: string, width: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, indent + line];
}

interface Fitted {
  readonly rows: readonly (readonly string[])[];
  readonly widths: readonly number[];
  /** Number of columns at the end that were left out. */
  readonly left: number;
}

/**
 * Makes rows (the first is the header) as wide as `width`: texts are cut, the longest first; where that is not enough,
 * the last columns are left out. Numbers are never cut.
 */
export function fitRows(cells: readonly (readonly string[])[], width: number): Fitted {
  const rows = cells.map((row) => row.map(oneLine));
  const count = rows[0]?.length ?? 0;
  const widths = Array.from({ length: count }, (_, k) =>
    rows.reduce((most, row) => Math.max(most, (row[k] ?? '').length), 0),
  );
  const total = () => widths.reduce((sum, one) => sum + one + BETWEEN, -BETWEEN);
  const mayShrink = widths.map((_, k) =>
    rows.slice(1).some((row) => (row[k] ?? '') !== '' && !NUMBER.test(row[k])),
  );
  while (total() > width) {
    const widest = widths.reduce(
      (best, one, k) =>
        mayShrink[k] && one > NARROW && (best < 0 || one > widths[best]) ? k : best,
      -1,
    );
    if (widest < 0) break;
    // The widest column shrinks to the width of the next, or as far as needed.
    const others = widths.filter((one, k) => mayShrink[k] && one < widths[widest]);
    const floor = Math.max(NARROW, ...others.filter((one) => one > NARROW));
    widths[widest] = Math.max(
      Math.min(floor, widths[widest] - 1),
      widths[widest] - (total() - width),
    );
  }
  let kept = count;
  while (kept > 1 && total() > width) {
    kept--;
    widths.pop();
  }
  const shown = rows.map((row) => widths.map((one, k) => cut(row[k] ?? '', one)));
  return { rows: shown, widths, left: count - kept };
}
