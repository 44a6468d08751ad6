/**
 * Suspect values in rows of traces and sessions, found while they are read: values that are not numbers, repeated
 * rows, times that go back. An invalid value is left out; the others are kept as written, and each place is reported.
 */
import type { CellValue } from '../../format.ts';
import { hashOf, numberOf } from '../values.ts';
import type { GeopmTableFile } from './detect.ts';
import type { TableFileRow } from './table-file.ts';

/** Maximum places listed per kind; further ones are counted. */
const MOST_TOLD = 20;
const LONGEST = 40;

/** Columns that hold names, hashes and hints. */
const TEXTS = /^(EVENT|SIGNAL|host|sample-time-first)$|REGION_(HASH|HINT)/;

const short = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

type Tell = (line: number, what: string) => void;

/** A kind of doubt: the first places, and how many there were. */
class Kind {
  private readonly more: string;
  private count = 0;
  private last = 0;

  /** @param more the words for those that are only counted */
  constructor(more: string) {
    this.more = more;
  }

  at(line: number, what: string, tell: Tell): void {
    this.last = line;
    if (++this.count <= MOST_TOLD) tell(line, what);
  }

  end(tell: Tell): void {
    const more = this.count - MOST_TOLD;
    if (more > 0) tell(this.last, `${more} more lines up to here ${this.more}`);
  }
}

export class RowDoubts {
  private readonly columns: readonly string[];
  private readonly isText: readonly boolean[];
  private readonly tell: Tell;
  /** Place of TIME where rows are in its order; -1 where they need not be. */
  private readonly time: number;
  private readonly noNumber = new Kind('have a value that is not a number');
  private readonly repeated = new Kind('are the same as the line before');
  private readonly back = new Kind('go back in time');
  private before: readonly string[] = [];
  private latest = -Infinity;

  constructor({ what, head }: GeopmTableFile, tell: Tell) {
    this.columns = head.columns;
    this.isText = head.columns.map((name) => TEXTS.test(name));
    // A profile trace has what each process told, when it told it; reports of sessions have no order.
    this.time = what === 'trace' || what === 'session' ? head.columns.indexOf('TIME') : -1;
    this.tell = tell;
  }

  /** The row's values: numbers, hashes and names; null for absent or invalid ones. */
  values({ cells, line }: TableFileRow): CellValue[] {
    if (this.time >= 0) this.order(cells, line);
    return cells.map((text, k) => this.value(text, k, line));
  }

  end(): void {
    for (const kind of [this.noNumber, this.repeated, this.back]) kind.end(this.tell);
  }

  private value(text: string, column: number, line: number): CellValue {
    if (text === '') return null;
    const number = numberOf(text);
    if (number !== null) return Number.isNaN(number) ? null : number;
    if (this.isText[column] || hashOf(text) !== null) return text;
    const what = `${this.columns[column]} is not a number: ${short(text)}`;
    this.noNumber.at(line, what, this.tell);
    return null;
  }

  private order(cells: readonly string[], line: number): void {
    const same = cells.every((text, k) => text === this.before[k]);
    if (same) this.repeated.at(line, 'the same as the line before', this.tell);
    this.before = cells;
    const time = numberOf(cells[this.time]);
    if (time === null || Number.isNaN(time)) return;
    if (time < this.latest) {
      this.back.at(line, `TIME goes back from ${this.latest} to ${time}`, this.tell);
    }
    this.latest = time;
  }
}
