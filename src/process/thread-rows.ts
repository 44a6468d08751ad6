/**
 * Rows of `process_thread`, gathered in columns that are reused: what `take` returns is valid until the next row is
 * added.
 */
import type { Batch } from '../model/metric.ts';
import { PROCESS_THREAD } from '../model/schemas/process.ts';
import { COUNT, COUNTS, type ThreadNumbers } from './thread-numbers.ts';

/** 1 in states in which a thread stands still: a device blocks it, or it was stopped. */
export const blocked = (state: string): number => (state === 'D' || state === 'T' ? 1 : 0);

/** Columns with room for so many rows. */
function columnsOf(rows: number) {
  const small = () => new Uint32Array(rows);
  const counts = Array.from({ length: COUNTS }, () => new BigUint64Array(rows));
  return {
    real: new Float64Array(rows),
    ...{ host: [] as string[], name: [] as string[], state: [] as string[] },
    ...{ process: small(), thread: small(), cpu: small(), blocked: small() },
    counts,
    /** The counts as pairs of halves, as the threads keep them. */
    halves: counts.map(({ buffer }) => new Uint32Array(buffer)),
  };
}

type Columns = ReturnType<typeof columnsOf>;

function grown(old: Columns, rows: number): Columns {
  const now = columnsOf(rows);
  now.real.set(old.real);
  for (const key of ['host', 'name', 'state'] as const) now[key] = old[key];
  for (const key of ['process', 'thread', 'cpu', 'blocked'] as const) now[key].set(old[key]);
  for (const [k, counts] of old.counts.entries()) now.counts[k].set(counts);
  return now;
}

export class ThreadRows {
  private length = 0;
  private columns = columnsOf(64);

  add(real: number, host: string, process: number, thread: number, of: ThreadNumbers): void {
    if (this.length === this.columns.real.length) {
      this.columns = grown(this.columns, 2 * this.length);
    }
    const { columns } = this;
    const row = this.length++;
    columns.real[row] = real;
    columns.host[row] = host;
    columns.process[row] = process;
    columns.thread[row] = thread;
    columns.name[row] = of.name;
    columns.state[row] = of.state;
    columns.cpu[row] = of.cpu;
    columns.blocked[row] = blocked(of.state);
    for (let count = 0; count < COUNTS; count++) {
      const halves = columns.halves[count];
      halves[2 * row] = of.halves[2 * count];
      halves[2 * row + 1] = of.halves[2 * count + 1];
    }
  }

  /** The rows added since the last call; null if there are none. */
  take(): Batch | null {
    const { length, columns } = this;
    if (length === 0) return null;
    this.length = 0;
    const { real, host, process, thread, name, state, cpu, counts } = columns;
    for (const labels of [host, name, state]) labels.length = length;
    const head = [real, host, process, thread, name, state, cpu];
    const { running, waiting, timeslices, user, system, minorFaults, majorFaults } = COUNT;
    const order = [running, waiting, timeslices, user, system, minorFaults, majorFaults];
    return {
      ...{ schema: PROCESS_THREAD, rows: length },
      columns: [...head, ...order.map((count) => counts[count]), columns.blocked],
    };
  }
}
