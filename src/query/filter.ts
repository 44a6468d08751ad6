/** Selects rows in memory by an SQL condition, here or in a separate process if limits are to hold. */
import { errorFrom, TimeLimitError } from './errors.ts';
import { type FilterCell, type FilterColumn, filterHere } from './filter-rows.ts';
import type { Limits } from './limits.ts';
import type { ProcessReply } from './process.ts';
import { QueryProcess } from './query-process.ts';

/**
 * The numbers of the rows for which `where` is true, in their order.
 * @param table its name in the condition
 * @param where an SQL condition
 * @param limits null: none, and it runs in this thread
 * @throws QueryError in one line, MissingPieceError, TimeLimitError, MemoryLimitError, the signal's reason
 * @example
 * ```ts
 * import { filterRows } from 'triscope/query';
 *
 * const columns = [{ name: 'pe', type: 'DOUBLE' }] as const;
 * await filterRows('pes', columns, [[0], [1], [2]], 'pe > 0'); // [1, 2]
 * ```
 */
export async function filterRows(
  table: string,
  columns: readonly FilterColumn[],
  rows: readonly (readonly FilterCell[])[],
  where: string,
  limits: Limits | null = null,
): Promise<number[]> {
  const task = { table, columns, rows, where };
  if (limits === null) return filterHere(task);
  const { timeLimit, memory, signal } = limits;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = new QueryProcess(
      { kind: 'filter', ...task, ...(memory !== undefined && { memory }) },
      (message) => {
        const reply = message as ProcessReply;
        if (reply.kind === 'rows') resolve(reply.rows);
        else reject(errorFrom(reply.error));
      },
      (why) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        reject(why);
      },
    );
    const abort = () => child.kill(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const late = () =>
      child.kill(new TimeLimitError(`the query was stopped after ${timeLimit} s, its time limit`));
    const timer = timeLimit === undefined ? undefined : setTimeout(late, 1000 * timeLimit);
  });
}
