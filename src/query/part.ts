/** Rows of one schema from one place: what a table is made of. */
import type { RawRows } from '../formats/frames/index.ts';
import type { Schema } from '../model/metric.ts';

/** What a raw stats file says about the records of one of its headers, which its counters' repair needs. */
export interface RawOrigin {
  /** When the host was started, s since 1970; null where that is not known. */
  readonly boot: number | null;
  /** See `scalesEnergy`. */
  readonly scaledEnergy: boolean;
}

/** What is known of a part's times without reading it. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
  /** Whether no row is earlier than the one before it. */
  readonly ordered: boolean;
}

/** Rows outside of these times are not needed, by the column of this number; they may come all the same. */
export interface Within {
  readonly time: number;
  readonly from: number;
  readonly to: number;
}

/** Rows that can be read again and again, a few columns at a time. `FrameTable` is one. */
export interface TablePart {
  readonly schema: Schema;
  /** Null where only reading tells. */
  readonly rows: number | null;
  /** By column: the labels that its cells are indexes into; null for a column of numbers. '' is missing. */
  readonly labels: readonly (readonly string[] | null)[];
  /** Of records of a raw stats file. */
  readonly raw?: RawOrigin | null;
  /** Of the time column, as it is in the part. Null, or left out: only reading tells. */
  readonly span?: TimeSpan | null;
  /** Whether its rows are in memory. */
  readonly kept?: boolean;
  /** Lets go of rows that are in memory: they are read from the file from then on. */
  release?(): void;
  /** Reads the columns of these numbers, some rows a step, which are valid until the next. */
  read(columns: readonly number[], within?: Within): Iterable<RawRows>;
}

/** Where a part's time column lies on the recording's timeline. */
export interface PlacedPart {
  readonly part: TablePart;
  /** Number of the column with the time; null where there is none. */
  readonly time: number | null;
  /** Seconds to add to it: then it is the time since the recording's start. */
  readonly shift: number;
  /** Where it is from. */
  readonly file: string;
}

/** What a reader could not use, or found doubtful. */
export interface Suspect {
  readonly file: string;
  readonly what: string;
}
