/** An upper bound of the PEs' time for events: the rest may have gone to waiting, messages and GVTs. */
import type { Subject } from './finding.ts';
import { oneMode } from './samples.ts';

/** The number of windows into which a run is divided; fewer than FEWEST give no bound. */
const WINDOWS = 20;
const FEWEST = 6;

/** Time for handling events, taking them from the queue, and undoing them. */
const EVENTS = ['events_processed_time', 'priority_queue_time', 'rollback_time', 'cancel_q_time'];
const COMMITS = 'fossil_collect_time';

export interface TimeOnEvents {
  /** Share of the PEs' time, at most. */
  readonly most: number;
  readonly sql: string;
  readonly rows: readonly object[];
}

/**
 * Based on the median of windows: one turn in 64 is timed, and a timed turn in which its thread lost the CPU would count for a whole
 * window. Of n windows, the one at position n / 2 + √n in their order is above the median with 98 % certainty, whatever their
 * distribution. Null if there are too few windows.
 */
export async function timeOnEvents(
  { recording, has }: Subject,
  { commits }: { readonly commits: boolean },
): Promise<TimeOnEvents | null> {
  const columns = commits ? [...EVENTS, COMMITS] : EVENTS;
  const needed = [...columns, 'real_time', 'mode'];
  if (!needed.every((column) => has(`ross_pe.${column}`))) return null;
  const sql = `WITH sample AS (
  SELECT pe_id, t, sum(${columns.join(' + ')}) AS spent, t - lag(t) OVER (PARTITION BY pe_id ORDER BY t) AS seconds
  FROM ross_pe WHERE ${oneMode('ross_pe')} GROUP BY pe_id, t),
windows AS (
  SELECT pe_id, ntile(${WINDOWS}) OVER (PARTITION BY pe_id ORDER BY t) AS part, spent, seconds FROM sample WHERE seconds > 0),
part AS (SELECT pe_id, least(1, sum(spent) / sum(seconds)) AS share FROM windows GROUP BY pe_id, part)
SELECT pe_id, count(*) AS parts, median(share) AS share, list_sort(list(share))[ceil(count(*) / 2 + sqrt(count(*)))::INTEGER] AS most
FROM part GROUP BY pe_id ORDER BY pe_id`;
  const rows = await recording.query<{ parts: number; most: number | null }>(sql);
  if (rows.length === 0) return null;
  if (rows.some(({ parts, most }) => parts < FEWEST || most === null)) return null;
  return { most: rows.reduce((sum, { most }) => sum + (most ?? 1), 0) / rows.length, sql, rows };
}
