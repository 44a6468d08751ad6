/** How much of the work was not undone: efficiency of the run and of its worst PE. */
import {
  evaluate,
  EFFICIENCY as MEASURE,
  ROLLED_BACK_SHARE,
  type SumOf,
  sqlOf,
} from '../model/measures/index.ts';
import { asRows, expecting, type FindingRule, graded, OWN, percent, whole } from './finding.ts';
import { rollbackCost } from './rollback-cost.ts';
import {
  BAD,
  countedIn,
  FEW,
  FINE,
  FINE_SOURCE,
  lessAhead,
  oneMode,
  undoneShare,
} from './samples.ts';

const SOME = {
  value: FINE,
  unit: 'share',
  means:
    'of the handled events were rolled back, or at least so much of the time went on them, where it was timed: notice',
  source: FINE_SOURCE,
};
const MUCH = {
  value: BAD,
  unit: 'share',
  means: 'rolled back: problem',
  source: `${OWN}: rollbacks then cost what a second PE gains`,
};
const WORSE = {
  value: 1.25,
  unit: '',
  means: 'times the whole run’s share: the finding names the PE',
  source: OWN,
};

const sql = (
  table: string,
) => `SELECT pe_id, sum(events_processed) AS processed, sum(events_rolled_back) AS rolled_back
FROM ${table} WHERE ${oneMode(table)}
GROUP BY pe_id ORDER BY ${sqlOf(ROLLED_BACK_SHARE)} DESC NULLS LAST, pe_id`;

interface PeRow {
  readonly pe_id: number;
  readonly processed: number;
  readonly rolled_back: number;
}

export const EFFICIENCY: FindingRule = {
  name: 'efficiency',
  title: 'how much work was kept and how much rolled back',
  looks:
    'Sums the events that each PE handled and rolled back. Efficiency is ROSS’s: 1 − rolled back / (handled − rolled back), below 0 where more is undone than kept.',
  needs: [],
  thresholds: { SOME, MUCH, WORSE },
  knob: 'Limit the optimism: a smaller --batch or --gvt-interval, or --max-opt-lookahead. With more KPs (--nkp), each rollback undoes fewer events.',
  async run(subject) {
    const { recording, has } = subject;
    const table = countedIn(has, 'events_processed', 'events_rolled_back');
    if (table === null) return { lacks: 'events handled and rolled back, with their mode' };
    const query = sql(table);
    const rows = await recording.query<PeRow>(query);
    const sum = (of: (row: PeRow) => number) => rows.reduce((all, row) => all + of(row), 0);
    const processed = sum((row) => row.processed);
    if (processed === 0) return [];
    const undone = sum((row) => row.rolled_back);
    const sums: SumOf = (key) => (key === 'events_processed' ? processed : undone);
    const share = undoneShare({ processed, undone });
    const efficiency = evaluate(MEASURE, sums, null);
    const [worst] = rows;
    const worstShare = undoneShare({ ...worst, undone: worst.rolled_back });
    const named = rows.length > 1 && share > 0.01 && worstShare > share * WORSE.value;
    const worstOne = named
      ? `; PE ${worst.pe_id} is the worst with ${percent(worstShare)} rolled back`
      : '';
    const cost = await rollbackCost(subject);
    const severity = processed < FEW ? null : graded(cost, SOME, MUCH);
    return [
      {
        severity: severity ?? 'info',
        sentence: `${whole(processed)} events were handled and ${percent(share)} of them rolled back${efficiency === null ? ', all that were handled' : `: efficiency ${percent(efficiency / 100)}`}${worstOne}.`,
        evidence: { sql: query, rows: asRows(rows) },
        ...(severity === null
          ? { advice: '' }
          : expecting(
              `Limit the optimism: ${await lessAhead(subject)}. With more KPs (--nkp), each rollback undoes fewer events.`,
              cost,
              cost === share
                ? `${percent(share)} of the handled events were wasted work`
                : `handling events that were rolled back, and undoing them, took ${percent(cost)} of the time`,
            )),
      },
    ];
  },
};
