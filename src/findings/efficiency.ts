/** How much of the work was kept: efficiency of the run and of its worst PE. */
import { type FindingRule, percent, type Severity, whole } from './finding.ts';

/** Rolled back less than this share of the events handled: nothing to do. */
const FINE = 0.1;
/** More than this: rollbacks cost more than parallelism gains on two PEs. */
const BAD = 1 / 3;
/** A PE this much above the run's share is worth naming. */
const WORSE = 1.25;

// One mode's samples: each mode counts the same events again.
const SQL = `SELECT pe_id, sum(events_processed) AS processed, sum(events_rolled_back) AS rolled_back
FROM ross_pe
WHERE mode = (SELECT mode FROM ross_pe WHERE mode IN ('gvt', 'rt') GROUP BY mode ORDER BY count(*) DESC, mode LIMIT 1)
GROUP BY pe_id ORDER BY sum(events_rolled_back) / greatest(1, sum(events_processed)) DESC, pe_id`;

interface PeRow {
  readonly pe_id: number;
  readonly processed: number;
  readonly rolled_back: number;
}

function severityOf(share: number): Severity {
  if (share <= FINE) return 'info';
  return share <= BAD ? 'notice' : 'problem';
}

export const EFFICIENCY: FindingRule = {
  name: 'efficiency',
  title: 'how much work was kept',
  needs: ['ross_pe.events_processed', 'ross_pe.mode'],
  async run(recording) {
    const rows = await recording.query<PeRow & Record<string, number>>(SQL);
    const sum = (of: (row: PeRow) => number) => rows.reduce((all, row) => all + of(row), 0);
    const processed = sum((row) => row.processed);
    if (processed === 0) return [];
    const share = sum((row) => row.rolled_back) / processed;
    const net = processed * (1 - share);
    const efficiency = net > 0 ? Math.max(0, 1 - share / (1 - share)) : 0;
    const [worst] = rows;
    const worstShare = worst.rolled_back / Math.max(1, worst.processed);
    const named = rows.length > 1 && share > 0.01 && worstShare > share * WORSE;
    const worstOne = named
      ? `; PE ${worst.pe_id} is the worst with ${percent(worstShare)} rolled back`
      : '';
    const severity = severityOf(share);
    return [
      {
        severity,
        sentence: `${whole(processed)} events were handled and ${percent(share)} of them rolled back: efficiency ${percent(efficiency)}${worstOne}.`,
        evidence: { sql: SQL, rows },
        advice:
          severity === 'info'
            ? ''
            : 'Bound the optimism: a smaller --batch or --gvt-interval, or --max-opt-lookahead; more KPs (--nkp) roll back less at a time.',
      },
    ];
  },
};
