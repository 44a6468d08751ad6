/**
 * Which samples are totalled if PEs were sampled in several ways. Each way counts the same events again, so they are
 * never mixed: samples at GVTs or in real time are used, whichever are more (by name if equally many); those in
 * virtual time only where there are no others, as they end before the run does.
 */

const LAST = 'vt';

/** Columns that say how far a model was, best first. */
export const VIRTUAL_TIMES: readonly string[] = ['virtual_time', 'gvt'];
/** From this time on there is no virtual time: ROSS writes the largest double after the last GVT. */
export const BEYOND = 1e308;

/** The mode that is totalled; '' if there is none. `rows`: number of samples by mode. */
export function modeOf(rows: ReadonlyMap<string, number>): string {
  const [best] = [...rows].sort(
    ([a, n], [b, m]) => Number(a === LAST) - Number(b === LAST) || m - n || (a < b ? -1 : 1),
  );
  return best?.[0] ?? '';
}

/** Facts about all samples of a table that statements need; they are queried once. */
export interface Settled {
  readonly mode: string;
  /** Whether real time advances; null if there is none. */
  readonly moves: boolean | null;
}

/** The statement for these facts, with columns `mode` and `moves`; no row if no sample has a mode. */
export const settledSql = (table: string, hasTime: boolean): string =>
  `SELECT mode::VARCHAR AS mode, ${hasTime ? 'max(t) > min(t)' : 'NULL::BOOLEAN'} AS moves FROM ${table}
  WHERE mode IS NOT NULL GROUP BY mode ORDER BY mode = '${LAST}', count(*) DESC, mode LIMIT 1`;

/** The same as a condition of SQL, over a table with a column `mode`. */
export const oneMode = (table: string): string =>
  `mode = (SELECT mode FROM ${table} WHERE mode IS NOT NULL GROUP BY mode
  ORDER BY mode = '${LAST}', count(*) DESC, mode LIMIT 1)`;

/**
 * The axis along which a table's samples are drawn and divided, as SQL: their real time if it advances; otherwise their
 * virtual time (files of 2017 have clocks that stand still, files of 2016 have none); null if samples
 * have neither. Only real time is a duration: rates exist for no other.
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

/** Whether the real time of the totalled samples advances, as SQL. */
export const moves = (table: string): string =>
  `(SELECT max(t) > min(t) FROM ${table} WHERE ${oneMode(table)})`;

/**
 * The time that a PE's sample covers, as SQL over `time`, a column or expression. The first of a recording covers the time
 * since its PEs began, or since its zero; the first of a ROSS file, whose clock is the machine's, covers an unknown time: 0, so that it is in no rate.
 */
export const coveredBy = (time: string): string =>
  `${time} - coalesce(lag(${time}) OVER (PARTITION BY pe_id ORDER BY ${time}),
    CASE WHEN (SELECT state FROM recording) IS NULL THEN ${time}
      ELSE least(${time}, coalesce((SELECT began FROM recording), 0)) END)`;
