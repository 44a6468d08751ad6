/** A sweep as a table: a row for each run, for other tools. */
import { writeParquet } from '../../query/write-parquet.ts';
import { type Measures, measuresOf, valuesOf } from './measure.ts';
import type { SweepResult } from './sweep.ts';
import type { VariedValue } from './vary.ts';

/**
 * A row for each run: what is varied, `replication` from 0 on, the measures (without `measures`, all that the model reports),
 * `net_events` and `seconds`. A measure that is called like a factor gets `_result` appended.
 * @example
 * ```ts
 * import { sweep, sweepRows } from 'triscope/sim';
 *
 * const result = await sweep('queueing', {}, { vary: [{ name: 'end', values: [200, 400] }] });
 * console.table(sweepRows(result));
 * ```
 */
export function sweepRows(result: SweepResult, measures?: Measures): Record<string, VariedValue>[] {
  const asked = measuresOf(measures);
  return result.runs.map((run) => {
    const values = Object.entries(valuesOf(run, asked)).map(([name, value]) => [
      Object.hasOwn(run.point, name) ? `${name}_result` : name,
      value,
    ]);
    return {
      ...run.point,
      replication: run.replication,
      ...Object.fromEntries(values),
      net_events: run.netEvents,
      seconds: run.seconds,
    };
  });
}

/**
 * Writes the rows of `sweepRows` to a Parquet file.
 * @throws MissingPieceError where DuckDB is not installed; TriscopeError where the file cannot be written
 * @example
 * ```ts
 * import { sweep, writeSweepParquet } from 'triscope/sim';
 *
 * const result = await sweep('queueing', {}, { vary: [{ name: 'end', values: [200, 400] }] });
 * await writeSweepParquet(result, 'sweep.parquet');
 * ```
 */
export async function writeSweepParquet(
  result: SweepResult,
  file: string,
  measures?: Measures,
): Promise<void> {
  await writeParquet(sweepRows(result, measures), file);
}
