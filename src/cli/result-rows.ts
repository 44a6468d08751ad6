/** Rows of a query as text, CSV and JSON. */
import { once } from 'node:events';
import type { ResultColumn, Value } from '../query/index.ts';
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
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? jsonText(value) : String(value);
}

const csvCell = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** A line of CSV (RFC 4180, but \n); missing values are empty. */
export const csvLine = (row: readonly Value[]): string =>
  `${row.map((value) => csvCell(plainText(value))).join(',')}\n`;

const NUMBER = /INT|FLOAT|DOUBLE|DECIMAL/;

const cellText = (value: Value): string =>
  typeof value === 'number' ? figure(value) : plainText(value).replace(/\s+/g, ' ');

/** Rows under a header: numbers to the right, texts to the left. */
export function textTable(
  columns: readonly ResultColumn[],
  rows: readonly (readonly Value[])[],
  indent = '',
): string {
  const texts = [columns.map(({ name }) => name), ...rows.map((row) => row.map(cellText))];
  const widths = columns.map((_, k) => Math.max(...texts.map((row) => row[k].length)));
  const lines = texts.map((row) => {
    const cells = row.map((text, k) =>
      NUMBER.test(columns[k].type) && !columns[k].type.endsWith(']')
        ? text.padStart(widths[k])
        : text.padEnd(widths[k]),
    );
    return (indent + cells.join('  ')).trimEnd();
  });
  return `${lines.join('\n')}\n`;
}

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
  await say(textTable(columns, rows));
  if (more)
    process.stderr.write(`triscope: the first ${limit} rows; --limit, --csv or --json give more\n`);
}
