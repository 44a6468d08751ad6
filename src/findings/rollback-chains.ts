/**
 * Cascades: a late event rolls a KP back, that cancels events, which rolls back others. Each rollback's record names its
 * parent, so that a cascade is a tree with the late event at its root.
 */
import {
  asRows,
  expecting,
  type FindingRule,
  graded,
  OWN,
  percent,
  short,
  whole,
} from './finding.ts';
import { rollbackCost } from './rollback-cost.ts';
import { BAD, FINE } from './samples.ts';

const SOME = {
  value: 0.25,
  unit: 'share',
  means: 'of all undone events were undone by cascades (rollbacks with a parent): notice',
  source: OWN,
};
const MUCH = {
  value: 0.5,
  unit: 'share',
  means: 'were undone by cascades: problem, if low efficiency is one',
  source: OWN,
};
const LONG = {
  value: 10,
  unit: '{rollback}',
  means: 'in the largest cascade: notice, however little it undid',
  source: OWN,
};
const LEAST = {
  value: FINE,
  unit: 'share',
  means:
    'of the handled events were undone, or at least so much of the time went on them: below this, cascades cost little',
  source: 'as efficiency',
};

/** How many generations are followed; a longer chain is cut. */
const DEEPEST = 1000;

// One row for each rollback, so that each has one parent: the roots have trees below them, whatever the file says.
const SQL = `WITH RECURSIVE rollback AS MATERIALIZED (
  SELECT pe_id, rollback_id, min(t) AS t, any_value(kp_id) AS kp_id, any_value(parent_pe) AS parent_pe,
    any_value(parent_id) AS parent_id, any_value(source_pe) AS source_pe, any_value(source_lp) AS source_lp,
    any_value(depth) AS depth, any_value(events_undone) AS events_undone
  FROM ross_rollback WHERE rollback_id > 0 GROUP BY pe_id, rollback_id),
chain AS (
  SELECT pe_id AS root_pe, rollback_id AS root_id, pe_id, rollback_id, events_undone, 0 AS generation
  FROM rollback WHERE parent_id = 0
  UNION ALL
  SELECT c.root_pe, c.root_id, r.pe_id, r.rollback_id, r.events_undone, c.generation + 1
  FROM chain c JOIN rollback r ON r.parent_pe = c.pe_id AND r.parent_id = c.rollback_id
  WHERE c.generation < ${DEEPEST}),
cascade AS (
  SELECT root_pe, root_id, count(*) AS rollbacks, sum(events_undone) AS undone, max(generation) AS generations,
    count(DISTINCT pe_id) AS on_pes, sum(events_undone) FILTER (generation > 0) AS undone_by_parents
  FROM chain GROUP BY ALL)
SELECT r.source_pe, r.source_lp, c.root_pe AS pe_id, r.kp_id, r.t, r.depth, r.events_undone AS undone_at_once,
  c.rollbacks, c.generations, c.on_pes, c.undone,
  count(*) OVER () AS cascades, sum(c.rollbacks) OVER () AS all_rollbacks, sum(c.undone) OVER () AS all_undone,
  sum(coalesce(c.undone_by_parents, 0)) OVER () AS all_undone_by_parents
FROM cascade c JOIN rollback r ON r.pe_id = c.root_pe AND r.rollback_id = c.root_id
ORDER BY c.undone DESC, c.rollbacks DESC, r.t, c.root_pe, c.root_id LIMIT 10`;

interface Cascade {
  readonly source_pe: number;
  readonly source_lp: number;
  readonly pe_id: number;
  readonly kp_id: number;
  readonly t: number;
  readonly depth: number | null;
  readonly undone_at_once: number;
  readonly rollbacks: number;
  readonly generations: number;
  readonly on_pes: number;
  readonly undone: number;
  readonly all_rollbacks: number;
  readonly all_undone: number;
  readonly all_undone_by_parents: number;
}

export const ROLLBACK_CHAINS: FindingRule = {
  name: 'rollback-chains',
  title: 'cascades of rollbacks, and the LP that began them',
  looks:
    'Follows each rollback back to the one that cancelled its event, up to the late event that began it, and ranks these trees by the number of events they undid.',
  needs: ['ross_rollback.parent_id', 'ross_rollback.rollback_id', 'ross_rollback.events_undone'],
  thresholds: { SOME, MUCH, LONG, LEAST },
  knob: 'Keep the LP that began them closer in virtual time to the LPs it sends to: more lookahead in the model, placement on the same PE (map), or --max-opt-lookahead.',
  async run(subject) {
    const rows = await subject.recording.query<Cascade>(SQL);
    const worst = rows.find(({ rollbacks }) => rollbacks > 1);
    if (worst === undefined) return [];
    const share = worst.all_undone_by_parents / Math.max(1, worst.all_undone);
    const undone = await rollbackCost(subject);
    if (undone < LEAST.value) return [];
    const long = worst.rollbacks >= LONG.value ? 'notice' : null;
    const found = graded(share, SOME, MUCH) ?? long;
    if (found === null) return [];
    // These rollbacks are no more severe than what all rollbacks cost.
    const severity = undone < BAD ? 'notice' : found;
    const back = worst.depth === null ? '' : ` back by ${short(worst.depth)} of virtual time,`;
    const over = worst.on_pes > 1 ? ` on ${whole(worst.on_pes)} PEs` : '';
    return [
      {
        severity,
        sentence: `Cascades undid ${percent(share)} of ${whole(worst.all_undone)} events; the largest began at ${short(worst.t)} s, when a late event of LP ${worst.source_lp} (PE ${worst.source_pe}) took KP ${worst.kp_id} of PE ${worst.pe_id}${back} and became ${whole(worst.rollbacks)} rollbacks${over} in ${whole(worst.generations + 1)} generations: ${whole(worst.undone)} events undone, ${whole(worst.undone_at_once)} of them at once.`,
        evidence: { sql: SQL, rows: asRows(rows) },
        ...expecting(
          this.knob,
          share * undone,
          `rollbacks cost ${percent(undone)}, and cascades undid ${percent(share)} of what they undid`,
        ),
      },
    ];
  },
};
