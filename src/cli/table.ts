/** Text tables, numbers and colours for people. */

import { fitRows, widthOf } from './fit.ts';
import { steering } from './terminal.ts';

/** Rows under a header; numbers to the right, the first column to the left. As wide as the terminal at most. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  indent = '  ',
): string[] {
  const fitted = fitRows([header, ...rows], widthOf(process.stdout) - indent.length);
  const { widths } = fitted;
  return fitted.rows.map((row) => {
    const cells = widths.map((width, k) =>
      k === 0 ? (row[k] ?? '').padEnd(width) : (row[k] ?? '').padStart(width),
    );
    return (indent + cells.join('  ')).trimEnd();
  });
}

/** A number for reading: integers whole, others to six digits. */
export function figure(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  return String(Number(value.toPrecision(6)));
}

/** Marks text for a terminal; leaves it alone where output is piped, or NO_COLOR is set. */
export function painter(stream: { readonly isTTY?: boolean }): {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
} {
  const on =
    stream.isTTY === true && (process.env.NO_COLOR ?? '') === '' && process.env.TERM !== 'dumb';
  const paint = (code: number) => (text: string) =>
    on ? steering(`\x1b[${code}m`) + text + steering('\x1b[0m') : text;
  return { bold: paint(1), dim: paint(2), good: paint(32), bad: paint(31) };
}
