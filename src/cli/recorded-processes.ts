/** The processes that a recording's frames tell of. */
import { existsSync } from 'node:fs';
import { batchesOf, type Part } from '../formats/part.ts';
import { extraFrames } from '../formats/recording-folder.ts';
import { openData } from '../formats/registry.ts';

export interface RecordedProcess {
  readonly id: number;
  /** MPI rank; null outside of MPI. */
  readonly rank: number | null;
  readonly name: string;
  /** CPUs that it may run on, as `0-3,8`. */
  readonly cpus: string;
  /** Seconds on the timeline at which it was first and last seen. */
  readonly from: number;
  readonly to: number;
}

const columnOf = ({ schema }: Part, key: string): number =>
  schema.metrics.findIndex((metric) => metric.key === key);

/** When each process was sampled last. */
function lastSeen(parts: readonly Part[]): Map<number, number> {
  const last = new Map<number, number>();
  for (const part of parts) {
    const columns = ['process_id', 'real_time'].map((key) => columnOf(part, key));
    for (const { rows, columns: read } of part.read(columns)) {
      const [ids, times] = read;
      for (let row = 0; row < rows; row++) {
        const id = Number(ids[row]);
        last.set(id, Math.max(last.get(id) ?? 0, Number(times[row])));
      }
    }
  }
  return last;
}

/** In the order in which they were first seen; what was told last of each counts. @param folder the recording's */
export function recordedProcesses(folder: string): RecordedProcess[] {
  const path = extraFrames(folder);
  const open = existsSync(path) ? openData(path, 'frames') : null;
  if (open === null) return [];
  const found = new Map<number, RecordedProcess>();
  const last = lastSeen(open.parts.filter(({ schema }) => schema.name === 'process_thread'));
  for (const part of open.parts.filter(({ schema }) => schema.name === 'process_info')) {
    const keys = ['process_id', 'rank', 'name', 'cpus', 'real_time'];
    const [ids, ranks, names, cpus, times] = keys.map((key) => columnOf(part, key));
    for (const { rows, columns } of batchesOf(part)) {
      for (let row = 0; row < rows; row++) {
        const id = Number(columns[ids][row]);
        const rank = Number(columns[ranks][row]);
        const time = Number(columns[times][row]);
        found.set(id, {
          ...{ id, rank: Number.isInteger(rank) ? rank : null },
          ...{ name: String(columns[names][row]), cpus: String(columns[cpus][row]) },
          ...{ from: found.get(id)?.from ?? time, to: Math.max(time, last.get(id) ?? 0) },
        });
      }
    }
  }
  open.close();
  return [...found.values()];
}
