/** Rows of a query as text, CSV and JSON. */
import { once } from 'node:events';
import { csvText } from '../model/csv.ts';
import type { ResultColumn, Value } from '../query/index.ts';
import { fitRows, widthOf } from './fit.ts';
import { sparkline } from './sparkline.ts';
import { figure } from './table.ts';

/** Writes to stdout; waits where it is full. */
export async function say(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** JSON of a value: 64-bit integers beyond 2^53 and infinite numbers as text. */
export function jsonText(value: Value): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (typeof one === 'bigint') return String(one);
    return typeof one === 'number' && !Number.isFinite(one) ? String(one) : one;
  });
}

function plainText(value: Value): string {
  if (value === null) return '';
  return typeof value === 'object' ? jsonText(value) : String(value);
}

const isNumber = (value: Value) => typeof value === 'number' || typeof value === 'bigint';

/** A line of CSV; missing values are empty. */
export const csvLine = (row: readonly Value[], formulas: 'keep' | 'quote' = 'keep'): string =>
  `${row.map((value) => csvText(plainText(value), isNumber(value) ? 'keep' : formulas)).join(',')}\n`;

const NUMBER = /INT|FLOAT|DOUBLE|DECIMAL/;

/** Lists of numbers from this length on are drawn; CSV and JSON have their numbers. */
const SERIES = 8;
const SERIES_WIDTH = 24;

function seriesText(list: readonly Value[]): string {
  const numbers = list.map((one) => (one === null ? Number.NaN : Number(one)));
  const most = numbers.reduce((top, one) => (Number.isNaN(one) ? top : Math.max(top, one)), 0);
  return sparkline(numbers, most, SERIES_WIDTH);
}

const isSeries = (value: Value): value is Value[] =>
  Array.isArray(value) &&
  value.length >= SERIES &&
  value.every((one) => one === null || typeof one === 'number' || typeof one === 'bigint');

function cellText(value: Value): string {
  if (typeof value === 'number') return figure(value);
  return isSeries(value) ? seriesText(value) : plainText(value).replace(/\s+/g, ' ');
}

/** Rows under a header: numbers to the right, texts to the left. As wide as the terminal at most. */
export function textTable(
  columns: readonly ResultColumn[],
  rows: readonly (readonly Value[])[],
  indent = '',
): string {
  return fittedTable(columns, rows, indent).text;
}

function fittedTable(
  columns: readonly ResultColumn[],
  rows: readonly (readonly Value[])[],
  indent = '',
): { readonly text: string; readonly left: number } {
  const texts = [columns.map(({ name }) => name), ...rows.map((row) => row.map(cellText))];
  const { rows: shown, widths, left } = fitRows(texts, widthOf(process.stdout) - indent.length);
  const lines = shown.map((row) => {
    const cells = row.map((text, k) =>
      NUMBER.test(columns[k].type) && !columns[k].type.endsWith(']')
        ? text.padStart(widths[k])
        : text.padEnd(widths[k]),
    );
    return (indent + cells.join('  ')).trimEnd();
  });
  return { text: `${lines.join('\n')}\n`, left };
}

/** What EXPLAIN gives: a drawing of several lines, which is shown as it is. */
const isPlan = (columns: readonly ResultColumn[]): boolean =>
  columns.map(({ name }) => name).join() === 'explain_key,explain_value';

const planText = (plan: Value): string =>
  plainText(plan)
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/\p{Cc}/gu, ' ').trimEnd())
    .join('\n');

/** Prints up to `limit` rows, and says on stderr that there were more. */
export async function printTable(
  columns: readonly ResultColumn[],
  blocks: AsyncIterable<readonly (readonly Value[])[]>,
  limit: number,
): Promise<void> {
  const rows: (readonly Value[])[] = [];
  let more = false;
  for await (const block of blocks) {
    const room = limit - rows.length;
    rows.push(...block.slice(0, room));
    more = block.length > room;
    if (more) break;
  }
  if (isPlan(columns)) return say(rows.map(([, plan]) => `${planText(plan)}\n`).join(''));
  const { text, left } = fittedTable(columns, rows);
  await say(text);
  if (left > 0) {
    process.stderr.write(
      `triscope: the last ${left} of ${columns.length} columns do not fit; --csv or --json give all\n`,
    );
  }
  if (more)
    process.stderr.write(`triscope: the first ${limit} rows; --limit, --csv or --json give more\n`);
}
