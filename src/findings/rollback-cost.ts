/** What rollbacks cost a run: the time for events that were undone, and for undoing them. */
import { ROLLED_BACK_SHARE, sqlOf } from '../model/measures/index.ts';
import type { Subject } from './finding.ts';
import { oneMode, totalsOf, undoneShare } from './samples.ts';

/** The number of windows into which a run is divided; fewer than FEWEST give no bound. */
const WINDOWS = 20;
const FEWEST = 6;

/** Time for handling events and taking them from the queue, a part of which was wasted; and for undoing them. */
const HANDLING = ['events_processed_time', 'priority_queue_time'];
const UNDOING = ['rollback_time', 'cancel_q_time'];
const COUNTS = ['events_processed', 'events_rolled_back'];

/** By windows, because one turn in 64 is timed: see timeOnEvents. */
const SQL = `WITH sample AS (
  SELECT pe_id, t, sum(${HANDLING.join(' + ')}) AS handling, sum(${UNDOING.join(' + ')}) AS undoing,
    sum(events_processed) AS events_processed, sum(events_rolled_back) AS events_rolled_back,
    t - lag(t) OVER (PARTITION BY pe_id ORDER BY t) AS seconds
  FROM ross_pe WHERE ${oneMode('ross_pe')} GROUP BY pe_id, t),
windows AS (SELECT *, ntile(${WINDOWS}) OVER (PARTITION BY pe_id ORDER BY t) AS part FROM sample WHERE seconds > 0),
part AS (
  SELECT pe_id, (sum(handling) * least(1, coalesce(${sqlOf(ROLLED_BACK_SHARE)} / 100, 0)) + sum(undoing)) / sum(seconds) AS share
  FROM windows GROUP BY pe_id, part)
SELECT pe_id, count(share) AS parts,
  list_sort(list(least(1, share)) FILTER (share IS NOT NULL))[greatest(1, floor(parts / 2 - sqrt(parts)))::INTEGER] AS least
FROM part GROUP BY pe_id ORDER BY pe_id`;

interface PeRow {
  readonly parts: number;
  readonly least: number | null;
}

/**
 * The share of the handled events that was undone; or the share of the PEs' time that these cost, if it was timed and is
 * certainly larger. A smaller share of time is ignored: where the window adapts, PEs would have to wait to avoid
 * more rollbacks.
 */
export async function rollbackCost(subject: Subject): Promise<number> {
  const share = undoneShare(await totalsOf(subject));
  const needed = [...HANDLING, ...UNDOING, ...COUNTS, 'real_time', 'mode'];
  if (share === 0 || !needed.every((column) => subject.has(`ross_pe.${column}`))) return share;
  const rows = await subject.recording.query<PeRow>(SQL);
  const bounds = rows.flatMap(({ parts, least }) =>
    parts < FEWEST || least === null ? [] : [least],
  );
  if (rows.length === 0 || bounds.length < rows.length) return share;
  return Math.max(share, bounds.reduce((sum, least) => sum + least, 0) / bounds.length);
}
