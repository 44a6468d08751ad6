/** Tables of a view: the numbers of a picture, and the contents of its CSV. */
import { csvText } from '../../../src/model/csv.ts';

export type ShownCell = string | number | null;

export interface ShownColumn {
  readonly key: string;
  readonly title: string;
  /** Shown after the title. */
  readonly unit?: string;
  /** Explained when the header is pointed at or focused. */
  readonly help?: string;
  /** A number as text; not given: as it is. Texts stand as they are. */
  readonly figure?: (value: number) => string;
  /** A bar behind numbers, from 0 to the column's most; `signed`: about 0, colours of change. */
  readonly bar?: boolean | 'signed';
  /** Parts of a whole, drawn as one bar before the text; shares sum to 1 at most. */
  readonly parts?: (
    row: ShownRow,
  ) => readonly { readonly share: number; readonly colour: string; readonly text: string }[];
}

export interface ShownRow {
  readonly id: string;
  readonly cells: Readonly<Record<string, ShownCell>>;
  /** Why its numbers are suspect: shown by hatching, in a tooltip, and in a column of the CSV. */
  readonly suspect?: string;
}

export interface ShownTable {
  readonly columns: readonly ShownColumn[];
  readonly rows: readonly ShownRow[];
}

/** RFC 4180: a header, then one line a row; missing is empty. Numbers are whole, not as rounded for the page. */
export function tableCsv({ columns, rows }: ShownTable): string {
  const isDoubted = rows.some(({ suspect }) => suspect !== undefined);
  const head = columns.map(({ title, unit }) => (unit ? `${title} (${unit})` : title));
  const lines = rows.map(({ cells, suspect }) => {
    const values = columns.map(({ key }) => {
      const value = cells[key] ?? null;
      return value === null || Number.isNaN(value) ? '' : String(value);
    });
    return isDoubted ? [...values, suspect ?? ''] : values;
  });
  return [isDoubted ? [...head, 'suspect'] : head, ...lines]
    .map((line) => `${line.map((cell) => csvText(cell)).join(',')}\r\n`)
    .join('');
}

/** Rows by a column; missing ones last, whichever way. `down`: highest first. */
export function sortRows(rows: readonly ShownRow[], key: string, down: boolean): ShownRow[] {
  const way = down ? -1 : 1;
  const missing = (cell: ShownCell | undefined) =>
    cell === null || cell === undefined || (typeof cell === 'number' && Number.isNaN(cell));
  return [...rows].sort((a, b) => {
    const [x, y] = [a.cells[key], b.cells[key]];
    if (missing(x) || missing(y)) return Number(missing(x)) - Number(missing(y));
    if (typeof x === 'number' && typeof y === 'number') return way * (x - y);
    return way * String(x).localeCompare(String(y), 'en', { numeric: true });
  });
}
