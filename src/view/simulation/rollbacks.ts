/** Rollbacks as columns, in the order in which they came. Runs in the server. */
import type { RawColumn } from '../../formats/part.ts';
import type { Batch } from '../../model/metric.ts';
import { GrowingNumbers } from './growing.ts';

/** Causes by their code; 0: one that is not known here. */
export const CAUSES = ['', 'straggler', 'cancellation', 'abort', 'cancelback'] as const;
export type Cause = (typeof CAUSES)[number];

/** Columns that are read, in the order of `add`. `cause` apart. */
export const ROLLBACK_COLUMNS = [
  'real_time',
  'pe_id',
  'kp_id',
  'rollback_id',
  'parent_pe',
  'parent_id',
  'source_pe',
  'source_lp',
  'events_undone',
  'straggler_recv_time',
  'depth',
] as const;
type RollbackColumn = (typeof ROLLBACK_COLUMNS)[number];

export class Rollbacks {
  private columns = new Map<RollbackColumn, GrowingNumbers>(
    ROLLBACK_COLUMNS.map((key) => [key, new GrowingNumbers()]),
  );
  private causes = new GrowingNumbers();
  private readonly most: number;

  /** `most`: number of rollbacks kept; the older half is dropped when there are more. */
  constructor(most = Infinity) {
    this.most = most;
  }

  get length(): number {
    return this.causes.length;
  }

  /** Values of a column; the first `length` count. */
  column(key: RollbackColumn): Float64Array {
    return (this.columns.get(key) as GrowingNumbers).values;
  }

  cause(row: number): Cause {
    return CAUSES[this.causes.values[row]];
  }

  /** The same rollbacks, which stay when more come here. */
  copy(): Rollbacks {
    const copy = new Rollbacks(this.most);
    copy.columns = new Map([...this.columns].map(([key, column]) => [key, column.copy()]));
    copy.causes = this.causes.copy();
    return copy;
  }

  /** Takes a batch of `ross_rollback`, its times as they are. */
  take({ schema, columns, rows }: Batch): void {
    const at = (key: string) => schema.metrics.findIndex((metric) => metric.key === key);
    const numbers = ROLLBACK_COLUMNS.map((key) => (columns[at(key)] ?? null) as RawColumn | null);
    const causes = columns[at('cause')] as readonly string[] | undefined;
    this.add(numbers, (row) => causes?.[row] ?? '', rows, 0);
  }

  /**
   * Adds rows. `columns` in the order of `ROLLBACK_COLUMNS`; null if a column is missing: NaN.
   * @param shift seconds to add to the times
   */
  add(
    columns: readonly (RawColumn | null)[],
    causes: (row: number) => string,
    rows: number,
    shift: number,
  ): void {
    for (const [k, key] of ROLLBACK_COLUMNS.entries()) {
      const into = this.columns.get(key) as GrowingNumbers;
      const column = columns[k];
      const move = key === 'real_time' ? shift : 0;
      for (let row = 0; row < rows; row++) {
        into.push(column === null ? Number.NaN : Number(column[row]) + move);
      }
    }
    for (let row = 0; row < rows; row++) {
      this.causes.push(Math.max(0, CAUSES.indexOf(causes(row) as Cause)));
    }
    if (this.length <= this.most) return;
    const keep = this.most >> 1;
    for (const column of [...this.columns.values(), this.causes]) column.forget(keep);
  }
}
