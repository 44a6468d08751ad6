/** Rows × time as CSV: a line per entity, a column per bin, headed by the second at which the bin begins. */
import { csvText } from '../../../src/model/csv.ts';

/** `values` row by row; missing values are empty. */
export function rowsCsv(
  of: string,
  names: readonly string[],
  from: number,
  to: number,
  bins: number,
  values: Float32Array,
): string {
  const edges = Array.from({ length: bins }, (_, k) =>
    String(Number((from + (k * (to - from)) / bins).toPrecision(9))),
  );
  const lines = names.map((name, row) => {
    const cells = Array.from(values.subarray(row * bins, (row + 1) * bins), (value) =>
      Number.isNaN(value) ? '' : String(value),
    );
    return [csvText(name), ...cells];
  });
  return [[`${of} \\ from (s)`, ...edges], ...lines]
    .map((line) => `${line.join(',')}\r\n`)
    .join('');
}
