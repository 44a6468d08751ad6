/** Names of the processes of a recorded command: requested once, and again if an unknown process appears. */
import type { PageSource } from '../source.ts';

export interface ProcessName {
  readonly name: string;
  /** MPI rank; null outside of MPI. */
  readonly rank: number | null;
}

/** By `host/process`. */
export type ProcessNames = ReadonlyMap<string, ProcessName>;

const SQL = `SELECT host || '/' || process_id AS process, arg_max(name, t) AS name, max(rank)::INTEGER AS rank
FROM process_info GROUP BY ALL`;
/** Rows that are taken. */
const MOST = 10_000;

interface Asked {
  names: ProcessNames;
  /** Processes that were not there when it was asked last. */
  readonly unknown: Set<string>;
}

const known = new WeakMap<PageSource, Asked>();

async function namesIn(source: PageSource): Promise<ProcessNames> {
  try {
    const { rows } = await source.query(SQL, MOST);
    return new Map(
      rows.map(([process, name, rank]) => [
        String(process),
        { name: String(name ?? ''), rank: rank === null ? null : Number(rank) },
      ]),
    );
  } catch {
    // No answer, as on a page that was saved without it: processes are shown by number.
    return new Map();
  }
}

/** @param processes the processes to be named, as `host/process` */
export async function processNames(
  source: PageSource,
  processes: readonly string[],
): Promise<ProcessNames> {
  const asked = known.get(source) ?? { names: new Map(), unknown: new Set<string>() };
  known.set(source, asked);
  const isNew = (process: string) => !asked.names.has(process) && !asked.unknown.has(process);
  if (processes.some(isNew)) {
    for (const process of processes) asked.unknown.add(process);
    asked.names = await namesIn(source);
  }
  return asked.names;
}
