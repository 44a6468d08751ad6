/** Rows in memory, as far as there is room for them: what is asked for again and again is decoded once. */
import { CELL_BYTES, type Schema } from '../model/metric.ts';
import { arrayFor, type RawColumn, type RawRows, type TimeSpan, type Within } from './part.ts';

/** Most rows of a stretch. The first is as long as the rows that come first, and each later one as all before it. */
const MOST_ROWS = 65_536;

interface Stretch {
  rows: number;
  /** Rows for which its columns have room. */
  readonly room: number;
  readonly columns: readonly RawColumn[];
}

export class KeptRows {
  private readonly schema: Schema;
  private readonly keep: ((bytes: number) => boolean) | undefined;
  /** Null where nothing is kept, or no longer. */
  private stretches: Stretch[] | null;
  private total = 0;

  /** @param keep whether so many more bytes may stay; without it nothing does */
  constructor(schema: Schema, keep: ((bytes: number) => boolean) | undefined) {
    this.schema = schema;
    this.keep = keep;
    this.stretches = keep === undefined ? null : [];
  }

  /** Whether all rows are here. */
  get isThere(): boolean {
    return this.stretches !== null;
  }

  release(): void {
    this.stretches = null;
  }

  /** Copies rows of all columns. */
  add({ rows, columns }: RawRows): void {
    for (let from = 0; from < rows; ) {
      let last = this.stretches?.at(-1);
      if (last === undefined || last.rows === last.room) last = this.begin(rows - from);
      if (last === undefined) return;
      const { columns: into, rows: at, room } = last;
      const to = Math.min(rows, from + room - at);
      for (let k = 0; k < into.length; k++) {
        (into[k] as Float64Array).set(columns[k].subarray(from, to) as Float64Array, at);
      }
      last.rows += to - from;
      this.total += to - from;
      from = to;
    }
  }

  /** Another stretch; undefined where there is no room, which ends the keeping. */
  private begin(rows: number): Stretch | undefined {
    const { metrics } = this.schema;
    const room = Math.min(MOST_ROWS, Math.max(rows, this.total));
    const bytes = metrics.reduce((sum, { cell }) => sum + CELL_BYTES[cell] * room, 0);
    if (this.stretches === null || this.keep?.(bytes) !== true) {
      this.release();
      return undefined;
    }
    const stretch = { rows: 0, room, columns: metrics.map(({ cell }) => arrayFor(cell, room)) };
    this.stretches.push(stretch);
    return stretch;
  }

  /** Some columns. Where times are ordered, stretches outside of `within` are left out. */
  *read(
    columns: readonly number[],
    within: Within | undefined,
    span: TimeSpan | null,
  ): Generator<RawRows, void, undefined> {
    for (const { rows, columns: all } of this.stretches ?? []) {
      if (within !== undefined && span?.ordered === true) {
        const times = all[within.time];
        if (times[0] > within.to || times[rows - 1] < within.from) continue;
      }
      yield { rows, columns: columns.map((k) => all[k].subarray(0, rows) as RawColumn) };
    }
  }
}
