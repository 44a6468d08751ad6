/** Rollbacks that other rollbacks cause: a cancelled event had been handled already. */
import { asRows, expecting, type FindingRule, graded, OWN, percent, whole } from './finding.ts';
import { rollbackCost } from './rollback-cost.ts';
import { BAD, countedIn, FINE, lessAhead, oneMode } from './samples.ts';

const LEAST = {
  value: FINE,
  unit: 'share',
  means: 'of the handled events were undone, or at least so much of the time went on them',
  source: 'as efficiency',
};
const SOME = {
  value: 0.5,
  unit: 'share',
  means: 'of the rollbacks are secondary: notice',
  source: `${OWN}: a straggler then causes more than one further rollback`,
};
const MUCH = {
  value: 0.75,
  unit: 'share',
  means: 'are secondary: problem, if low efficiency is one',
  source: OWN,
};

const sql = (
  table: string,
) => `SELECT pe_id, sum(total_rollbacks) AS rollbacks, sum(secondary_rollbacks) AS secondary,
  sum(total_rollbacks) - sum(secondary_rollbacks) AS "primary"
FROM ${table} WHERE ${oneMode(table)} GROUP BY pe_id ORDER BY secondary DESC, pe_id`;

interface PeRow {
  readonly pe_id: number;
  readonly rollbacks: number;
  readonly secondary: number;
}

export const SECONDARY_ROLLBACKS: FindingRule = {
  name: 'secondary-rollbacks',
  title: 'rollbacks caused by other rollbacks',
  looks:
    'Compares rollbacks caused by late events (primary) with rollbacks caused by cancelled events (secondary).',
  needs: [],
  thresholds: { LEAST, SOME, MUCH },
  knob: 'Keep PEs from running so far ahead, so that fewer wrong events are handled before they are cancelled: a smaller --batch, or --max-opt-lookahead.',
  async run(subject) {
    const table = countedIn(subject.has, 'total_rollbacks', 'secondary_rollbacks');
    if (table === null) return { lacks: 'secondary rollbacks' };
    const undone = await rollbackCost(subject);
    if (undone < LEAST.value) return [];
    const query = sql(table);
    const rows = await subject.recording.query<PeRow>(query);
    const all = rows.reduce((sum, { rollbacks }) => sum + rollbacks, 0);
    const secondary = rows.reduce((sum, row) => sum + row.secondary, 0);
    const found = all === 0 ? null : graded(secondary / all, SOME, MUCH);
    if (found === null) return [];
    // These rollbacks are no more severe than what all rollbacks cost.
    const severity = undone < BAD ? 'notice' : found;
    const late = all - secondary;
    const each =
      late === 0
        ? 'no late event was seen'
        : `${Number((secondary / late).toPrecision(2))} for each late event`;
    return [
      {
        severity,
        sentence: `${percent(secondary / all)} of ${whole(all)} rollbacks are secondary: ${each}.`,
        evidence: { sql: query, rows: asRows(rows) },
        ...expecting(
          `Keep PEs from running so far ahead, so that fewer wrong events are handled before they are cancelled: ${await lessAhead(subject)}.`,
          (undone * secondary) / all,
          `rollbacks cost ${percent(undone)}, and so much of them as are secondary may be saved`,
        ),
      },
    ];
  },
};
