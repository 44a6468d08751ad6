/**
 * What an open file is: tables, and a survey of them. Every format opens to this, and whoever wants a file's data reads
 * it here: SQL, pages, findings, `info`.
 *
 * ```
 * bytes ── one pass ──► parts    schema, number of rows, labels, span of times
 *                  └──► survey   what `info` prints
 * part.read([3, 7], within) ──► rows, rows, …   columns 3 and 7; labels as codes
 * ```
 */
import type { Batch, Cell, Column, Columns, RawColumn, Schema } from '../model/metric.ts';

export type { RawColumn };

/** Some rows of a part; `columns` are those that were asked for, in that order, valid until the next step. */
export type RawRows = Columns<readonly RawColumn[]>;

/** What a raw stats file says about the records of one of its headers, which its counters' repair needs. */
export interface RawOrigin {
  /** When the host was started, s since 1970; null where that is not known. */
  readonly boot: number | null;
  /** See `scalesEnergy`. */
  readonly scaledEnergy: boolean;
}

/** What is known of a part's times without reading it. */
export interface TimeSpan {
  /** Least time, in the unit of the time column. */
  readonly from: number;
  /** Greatest time, in the unit of the time column. */
  readonly to: number;
  /** Whether no row is earlier than the one before it. */
  readonly ordered: boolean;
}

/** The times whose rows are needed. Other rows may come all the same. */
export interface Within {
  /** Index of the column that holds the time. */
  readonly time: number;
  /** Least time needed, in that column's unit. */
  readonly from: number;
  /** Greatest time needed, in that column's unit. */
  readonly to: number;
}

/** Rows of one schema in a file, which can be read again and again, a few columns at a time. */
export interface Part {
  /** Its columns, each with its unit. */
  readonly schema: Schema;
  /** Number of rows. */
  readonly rows: number;
  /** By column: the labels that its cells are indexes into; null for a column of numbers. The label '' means missing. */
  readonly labels: readonly (readonly string[] | null)[];
  /** Where the rows are records of a raw stats file: what repairing its counters needs. */
  readonly raw?: RawOrigin | null;
  /** Range of the time column. Null, or left out, where it is known only after reading. */
  readonly span?: TimeSpan | null;
  /** Whether its rows are in memory. */
  readonly kept?: boolean;
  /** Frees rows that are in memory: from then on they are read from the file. */
  release?(): void;
  /** Reads the columns with these indexes, in the order of the file. */
  read(columns: readonly number[], within?: Within): Iterable<RawRows>;
}

/** One end of a file's time span, on each of the clocks that the file has. */
export interface Instant {
  /** Virtual time of a simulation. */
  readonly virtual_time?: number;
  /** Seconds since the start of the run. */
  readonly real_time?: number;
  /** Date and time, ISO 8601 in UTC. */
  readonly time?: string;
}

/** What `info` prints of a file. */
export interface FileInfo {
  /** Path of the file. */
  readonly path: string;
  /** Name of its format. */
  readonly format: string;
  /** Which version of the format, in words. */
  readonly era: string;
  /** Why it is taken for this format. */
  readonly because: string;
  /** Bytes of the file. */
  readonly bytes: number;
  /** Records by kind; kinds without records are left out. */
  readonly records: Readonly<Record<string, number>>;
  /** Entities by domain, in the plural: pes, kps, lps, hosts, … */
  readonly entities: Readonly<Record<string, number>>;
  /** Time of the first record; null if it has none. */
  readonly from: Instant | null;
  /** Time of the last record; null if it has none. */
  readonly to: Instant | null;
  /** Data that could not be used or is doubtful: the place, and what is wrong. */
  readonly suspect: readonly { readonly where: string; readonly what: string }[];
  /** What only this format knows. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** True if reading ended at damage, or skipped some. */
  readonly damaged: boolean;
}

/** Rows that came to a file, all columns of them. */
export type TakeRows = (part: Part, rows: RawRows) => void;

/** A file after one pass over it. What comes to the file later is not in it, until `grow`. */
export interface OpenFile {
  /** In the order in which the file defines them. */
  readonly parts: readonly Part[];
  /** What could not be read, or is doubtful; `info()` has the same. */
  readonly suspect: FileInfo['suspect'];
  /** Wall-clock time of the file's time 0, ns since 1970, where the file says it. */
  readonly zero: bigint | null;
  /** What `info` prints. */
  info(): FileInfo;
  /**
   * Takes in what was appended since: only that is read. Tells each row once; parts may be added. Left out for files that
   * are written at once, and where a last line that was still being written has been read as if it were whole.
   */
  grow?(take: TakeRows): void;
}

/** The column that holds a part's time, by its key; the first of these that it has. */
const TIME_KEYS = ['real_time', 'time', 't'];

/** The number of a schema's time column; null where there is none. */
export function timeColumnOf({ metrics }: Schema): number | null {
  for (const key of TIME_KEYS) {
    const at = metrics.findIndex((metric) => metric.key === key && metric.cell === 'f64');
    if (at >= 0) return at;
  }
  return null;
}

/** Codes of a column's texts, in the order in which they come. */
export class Codes {
  readonly labels: string[] = [];
  private readonly codes = new Map<string, number>();
  private text: string | null = null;
  private code = 0;

  of(text: string): number {
    if (text === this.text) return this.code;
    let code = this.codes.get(text);
    if (code === undefined) {
      code = this.labels.push(text) - 1;
      this.codes.set(text, code);
    }
    this.text = text;
    this.code = code;
    return code;
  }
}

/** By column of a schema: its labels' codes; null for numbers. */
export const codesFor = ({ metrics }: Schema): (Codes | null)[] =>
  metrics.map(({ cell }) => (cell === 'label' ? new Codes() : null));

/** Times of a part's rows in the order of the file. */
export class Course {
  private from = Infinity;
  private to = -Infinity;
  /** By how much a row is earlier than one before it, at most. */
  private back = 0;

  see(times: RawColumn): void {
    for (const time of times as Float64Array) {
      if (time < this.from) this.from = time;
      if (time > this.to) this.to = time;
      else if (this.to - time > this.back) this.back = this.to - time;
    }
  }

  /** Null where no row has a time. */
  get span(): TimeSpan | null {
    if (this.from > this.to) return null;
    return { from: this.from, to: this.to, ordered: this.back === 0 };
  }

  isOutside({ from, to }: Within): boolean {
    return this.to < from || this.from > to;
  }

  /** Whether no row after one of this time is within. */
  isBehind(time: number, { to }: Within): boolean {
    return time - this.back > to;
  }
}

/**
 * Steps through rows that a reader gives, and ends where all that follows is later than `within`.
 * @param read gives the columns that it is asked for
 */
export function* rowsWithin(
  read: (columns: readonly number[]) => Iterable<RawRows>,
  columns: readonly number[],
  course: Course,
  within: Within | undefined,
): Generator<RawRows, void, undefined> {
  if (within === undefined) {
    yield* read(columns);
    return;
  }
  if (course.isOutside(within)) return;
  const { time } = within;
  const asked = columns.includes(time) ? columns : [...columns, time];
  const at = asked.indexOf(time);
  for (const step of read(asked)) {
    const last = Number(step.columns[at][step.rows - 1]);
    yield step;
    if (course.isBehind(last, within)) return;
  }
}

const ARRAYS = {
  u32: Uint32Array,
  i32: Int32Array,
  u64: BigUint64Array,
  f32: Float32Array,
  f64: Float64Array,
  label: Uint32Array,
} as const;

/** An array for a column's cells; of labels for their codes. */
export const arrayFor = (cell: Cell, rows: number): RawColumn => new ARRAYS[cell](rows);

/**
 * Rows with their labels as texts, for sinks: a bus, a chart's series. Numbers are a copy.
 * @example
 * ```ts
 * import { batchOf, openData } from 'triscope/formats';
 *
 * const file = openData('run.tri/extra.frames', null);
 * for (const part of file?.parts ?? []) {
 *   const all = part.schema.metrics.map((_, column) => column);
 *   for (const rows of part.read(all)) console.log(batchOf(part, rows).rows);
 * }
 * file?.close();
 * ```
 */
export function batchOf({ schema, labels }: Part, { rows, columns }: RawRows): Batch {
  return {
    schema,
    rows,
    columns: columns.map((column, k): Column => {
      const texts = labels[k];
      const own = column.slice(0, rows) as RawColumn;
      return texts === null ? own : Array.from(own as Uint32Array, (code) => texts[code] ?? '');
    }),
  };
}

/**
 * All rows of a part as batches.
 * @example
 * ```ts
 * import { batchesOf, openData } from 'triscope/formats';
 *
 * const file = openData('run.tri/extra.frames', null);
 * for (const part of file?.parts ?? []) {
 *   for (const batch of batchesOf(part)) console.log(part.schema.name, batch.rows);
 * }
 * file?.close();
 * ```
 */
export function* batchesOf(part: Part): Generator<Batch, void, undefined> {
  const all = part.schema.metrics.map((_, k) => k);
  for (const rows of part.read(all)) yield batchOf(part, rows);
}
