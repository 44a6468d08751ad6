/**
 * Which samples are totalled where PEs were sampled in several ways. Each way counts the same events again, so they are
 * never mixed: those taken at GVTs or in real time, whichever are more, by name where they are as many; those in
 * virtual time only where there are no others, as they end before the run does.
 */

const LAST = 'vt';

/** The mode that is totalled; '' where there is none. `rows`: samples by mode. */
export function modeOf(rows: ReadonlyMap<string, number>): string {
  const [best] = [...rows].sort(
    ([a, n], [b, m]) => Number(a === LAST) - Number(b === LAST) || m - n || (a < b ? -1 : 1),
  );
  return best?.[0] ?? '';
}

/** The same as a condition of SQL, over a table with a column `mode`. */
export const oneMode = (table: string): string =>
  `mode = (SELECT mode FROM ${table} WHERE mode IS NOT NULL GROUP BY mode
  ORDER BY mode = '${LAST}', count(*) DESC, mode LIMIT 1)`;
