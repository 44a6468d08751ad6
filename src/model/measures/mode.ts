/**
 * Which samples are totalled where PEs were sampled in several ways. Each way counts the same events again, so they are
 * never mixed: those taken at GVTs or in real time, whichever are more, by name where they are as many; those in
 * virtual time only where there are no others, as they end before the run does.
 */

const LAST = 'vt';

/** Columns that say how far a model was, best first. */
export const VIRTUAL_TIMES: readonly string[] = ['virtual_time', 'gvt'];
/** From here on no virtual time: ROSS writes the greatest double after the last GVT. */
export const BEYOND = 1e308;

/** The mode that is totalled; '' where there is none. `rows`: samples by mode. */
export function modeOf(rows: ReadonlyMap<string, number>): string {
  const [best] = [...rows].sort(
    ([a, n], [b, m]) => Number(a === LAST) - Number(b === LAST) || m - n || (a < b ? -1 : 1),
  );
  return best?.[0] ?? '';
}

/** What a statement about a table needs to know of all of its samples; asked for once, it need not be looked for in each. */
export interface Settled {
  readonly mode: string;
  /** Whether real time moves; null where there is none. */
  readonly moves: boolean | null;
}

/** The statement that tells it, as columns `mode` and `moves`; no row where no sample has a mode. */
export const settledSql = (table: string, hasTime: boolean): string =>
  `SELECT mode::VARCHAR AS mode, ${hasTime ? 'max(t) > min(t)' : 'NULL::BOOLEAN'} AS moves FROM ${table}
  WHERE mode IS NOT NULL GROUP BY mode ORDER BY mode = '${LAST}', count(*) DESC, mode LIMIT 1`;

/** The same as a condition of SQL, over a table with a column `mode`. */
export const oneMode = (table: string): string =>
  `mode = (SELECT mode FROM ${table} WHERE mode IS NOT NULL GROUP BY mode
  ORDER BY mode = '${LAST}', count(*) DESC, mode LIMIT 1)`;

/**
 * Along what the samples of a table are drawn and cut into stretches, as SQL: their real time where it moves; else their
 * virtual time, as clocks that stand still tell nothing (files of 2017) and files of 2016 have none; null where samples
 * have neither. Only real time is a length: rates are told of no other.
 */
export function courseOf(
  table: string,
  has: (column: string) => boolean,
  settled?: Settled,
): string | null {
  const real = has(`${table}.t`) ? 't' : null;
  const virtual = VIRTUAL_TIMES.find((key) => has(`${table}.${key}`));
  if (virtual === undefined) return real;
  const finite = `CASE WHEN isfinite(${virtual}::DOUBLE) AND ${virtual} < ${BEYOND} THEN ${virtual}::DOUBLE END`;
  if (real !== null && settled !== undefined) return settled.moves === true ? real : finite;
  return real === null ? finite : `CASE WHEN ${moves(table)} THEN t ELSE ${finite} END`;
}

/** Whether the real time of the samples that are totalled moves, as SQL. */
export const moves = (table: string): string =>
  `(SELECT max(t) > min(t) FROM ${table} WHERE ${oneMode(table)})`;

/**
 * The time that a PE's sample covers, as SQL over `time`, a column or expression. The first of a recording covers the time
 * since its zero; of a file of ROSS, whose clock is the machine's, a time that nobody knows: 0, so that it is in no rate.
 */
export const coveredBy = (time: string): string =>
  `${time} - coalesce(lag(${time}) OVER (PARTITION BY pe_id ORDER BY ${time}),
    CASE WHEN (SELECT state FROM recording) IS NULL THEN ${time} ELSE 0 END)`;
