/**
 * Rows of `process_thread`, gathered in columns that are reused: what `take` returns is valid until the next row is
 * added.
 */
import type { Batch, Column } from '../model/metric.ts';
import { PROCESS_THREAD } from '../model/schemas/process.ts';
import type { Count, ThreadNumbers } from './thread-numbers.ts';

/** Which of the two halves of a number of 64 bits is the lower one. */
const LOW = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1;
const HALF = 2 ** 32;
/** Nanoseconds of a tick: what user programs see is in hundredths of a second on every Linux. */
const TICK = 10_000_000;
/** Ticks whose nanoseconds a double holds. */
const MOST_TICKS = Math.floor(Number.MAX_SAFE_INTEGER / TICK);

/** Ticks as nanoseconds. */
export const nanoseconds = (ticks: Count): Count =>
  typeof ticks === 'number' && ticks <= MOST_TICKS ? TICK * ticks : BigInt(TICK) * BigInt(ticks);

/** 1 in states in which a thread stands still: a device blocks it, or it was stopped. */
export const blocked = (state: string): number => (state === 'D' || state === 'T' ? 1 : 0);

/** Columns that have room for `rows`, with what is there. */
function grown(columns: readonly Column[], rows: number): Column[] {
  return PROCESS_THREAD.metrics.map(({ cell }, k) => {
    const old = columns[k];
    if (cell === 'label') return old ?? [];
    const Type = { u32: Uint32Array, u64: BigUint64Array, f64: Float64Array }[cell];
    const column = new Type(rows);
    if (old !== undefined) column.set(old as never);
    return column;
  });
}

export class ThreadRows {
  private length = 0;
  private room = 0;
  private columns: Column[] = [];
  /** The columns of 64 bits as pairs of halves; undefined for others. */
  private halves: (Uint32Array | undefined)[] = [];

  add(real: number, host: string, process: number, thread: number, of: ThreadNumbers): void {
    if (this.length === this.room) this.grow();
    const row = this.length++;
    const plain = [real, host, process, thread, of.name, of.state, of.cpu];
    for (let k = 0; k < plain.length; k++) (this.columns[k] as (number | string)[])[row] = plain[k];
    this.count(7, row, of.running);
    this.count(8, row, of.waiting);
    this.count(9, row, of.timeslices);
    this.count(10, row, nanoseconds(of.user));
    this.count(11, row, nanoseconds(of.system));
    this.count(12, row, of.minorFaults);
    this.count(13, row, of.majorFaults);
    (this.columns[14] as Uint32Array)[row] = blocked(of.state);
  }

  /** The rows added since the last call; null if there are none. */
  take(): Batch | null {
    const { length } = this;
    if (length === 0) return null;
    this.length = 0;
    for (const column of this.columns) if (Array.isArray(column)) column.length = length;
    return { schema: PROCESS_THREAD, length, columns: this.columns };
  }

  private count(column: number, row: number, value: Count): void {
    const halves = this.halves[column];
    if (halves === undefined) return;
    if (typeof value === 'bigint') (this.columns[column] as BigUint64Array)[row] = value;
    else {
      // Stored in 32 bits: the rest is cut off.
      halves[2 * row + LOW] = value;
      halves[2 * row + 1 - LOW] = value / HALF;
    }
  }

  private grow(): void {
    this.room = Math.max(64, 2 * this.room);
    this.columns = grown(this.columns, this.room);
    this.halves = this.columns.map((column) =>
      column instanceof BigUint64Array ? new Uint32Array(column.buffer) : undefined,
    );
  }
}
