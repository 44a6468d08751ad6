/** GEOPM's tables: traces, profile traces and the CSV of sessions. Lines that begin with `#` come first, then names, then rows. */
import type { Damage, FileSource } from '../../format.ts';
import { FormatError } from '../../format.ts';
import { FIRST_LINE, type LinePlace, linesOf } from '../lines.ts';
import { unquoted } from '../values.ts';

export interface TableHead {
  /** From lines such as `# node_name: vm`. */
  readonly properties: ReadonlyMap<string, string>;
  readonly columns: readonly string[];
  readonly delimiter: string;
  /** Number of the line with the names, from 1. */
  readonly line: number;
}

export interface TableFileRow {
  /** One text per column, without quotes. */
  readonly cells: readonly string[];
  readonly line: number;
  /** Byte at which the row begins. */
  readonly offset: number;
  readonly whole: boolean;
}

const PROPERTY = /^#\s*([A-Za-z_]+):\s?(.*)$/;
/** Delimiters that GEOPM writes or can be asked for; traces use `|`. */
const DELIMITERS = ['|', ',', ';', '\t'];

/** Cells of a line. A delimiter within quotes belongs to the cell. */
export function cellsOf(line: string, delimiter: string): string[] {
  if (!line.includes('"')) return line.split(delimiter).map((cell) => cell.trim());
  const cells: string[] = [];
  let from = 0;
  let quoted = false;
  for (let k = 0; k <= line.length; k++) {
    if (line[k] === '"') quoted = !quoted;
    else if (k === line.length || (!quoted && line.startsWith(delimiter, k))) {
      cells.push(unquoted(line.slice(from, k).trim()).text);
      from = k + delimiter.length;
    }
  }
  return cells;
}

const NAME = /^"?[A-Za-z_][\w:.#@% ()/*-]*"?$/;

/** The names in a line; null if it does not look like a line of names. */
function namesIn(line: string): { columns: string[]; delimiter: string } | null {
  const delimiter = DELIMITERS.find((d) => line.includes(d)) ?? '|';
  const columns = cellsOf(line, delimiter);
  return columns.length > 0 && columns.every((name) => NAME.test(name))
    ? { columns, delimiter }
    : null;
}

/** The head of the table that the text begins with; null if there is none. */
export function tableHead(lines: readonly string[]): TableHead | null {
  const properties = new Map<string, string>();
  for (let k = 0; k < lines.length; k++) {
    const text = lines[k].replace(/\r$/, '');
    if (text.trim() === '') continue;
    // A name may end in `#`, so only lines that begin with `#` are comments.
    if (text.startsWith('#')) {
      const property = PROPERTY.exec(text);
      if (property !== null) properties.set(property[1], unquoted(property[2].trim()).text);
      continue;
    }
    const names = namesIn(text);
    return names === null ? null : { properties, ...names, line: k + 1 };
  }
  return null;
}

/** The rows of a table, read in one go or, while the file grows, in several. */
export class TableLines {
  private readonly source: FileSource;
  private readonly head: TableHead;
  private readonly damaged: ((damage: Damage) => void) | undefined;
  /** Byte at which the next reading begins. */
  private from: LinePlace = FIRST_LINE;

  /**
   * @param damaged called for rows whose number of values differs from the number of names; without it they are an error
   */
  constructor(source: FileSource, head: TableHead, damaged?: (damage: Damage) => void) {
    this.source = source;
    this.head = head;
    this.damaged = damaged;
  }

  /** @param growing leave a line that has no end yet to the next reading @throws FormatError */
  *rows(growing: boolean): Generator<TableFileRow, void> {
    const { columns, delimiter, line } = this.head;
    for (const { text, number, offset, whole, next } of linesOf(this.source, this.from)) {
      if (growing && !whole) return;
      this.from = { number: number + 1, offset: next };
      if (number <= line || text.trim() === '' || text.startsWith('#')) continue;
      const cells = cellsOf(text, delimiter);
      if (cells.length === columns.length) {
        yield { cells, line: number, offset, whole };
        continue;
      }
      const cut = whole ? '' : '; the line has no end: the file is cut off, or is being written';
      const what = `${cells.length} values where there are ${columns.length} names${cut}`;
      const { path } = this.source;
      const damage = { path, offset, line: number, what, skipped: text.length };
      if (this.damaged === undefined)
        throw new FormatError({ ...damage, skipped: 0 }, 'use --salvage to skip it');
      this.damaged(damage);
    }
  }
}
