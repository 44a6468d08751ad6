/** More KPs than are useful for rollbacks: each costs time at every GVT. */
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
import { FEW, runFactsOf, totalsOf } from './samples.ts';

const SOME = {
  value: 0.1,
  unit: 'share',
  means: 'of the PEs’ time was spent on commits: notice',
  source: OWN,
};
const MUCH = { value: 0.25, unit: 'share', means: 'of their time: problem', source: OWN };
const EVENTS = {
  value: 1,
  unit: '{event}',
  means: 'of a KP between two GVTs, or fewer: most KPs are examined without need',
  source: OWN,
};

const SQL = `SELECT pe_id, sum(commit_time) AS commit_time, any_value(wall) AS wall, any_value(nkp) AS nkp, any_value(gvts) AS gvts
FROM sim_pe, sim_run GROUP BY pe_id ORDER BY pe_id`;

/** The default of `sim run`. */
const USUAL = 16;

export const TOO_MANY_KPS: FindingRule = {
  name: 'too-many-kps',
  title: 'more KPs than are worth their cost',
  looks:
    'Measures the time that PEs spend on commits, which examine each KP, and the events of a KP between two GVTs.',
  needs: ['sim_run', 'sim_pe', 'ross_pe'],
  thresholds: { SOME, MUCH, EVENTS },
  knob: 'Use fewer KPs (--nkp), so that each has some events between two GVTs.',
  async run(subject) {
    const facts = await runFactsOf(subject);
    if (facts === null) return [];
    const rows = await subject.recording.query<{ pe_id: number; commit_time: number }>(SQL);
    const spent = rows.reduce((sum, row) => sum + row.commit_time, 0);
    const share = spent / (Math.max(1, rows.length) * facts.wall);
    const { processed } = await totalsOf(subject);
    const each = processed / facts.pes / facts.nkp / Math.max(1, facts.gvts);
    const severity = graded(share, SOME, MUCH);
    if (severity === null || processed < FEW || each >= EVENTS.value || facts.nkp <= USUAL) {
      return [];
    }
    const why = `PEs spent ${percent(share)} of their time on commits`;
    return [
      {
        severity,
        sentence: `PEs spent ${percent(share)} of their time on commits: ${whole(facts.nkp)} KPs each are examined at each of ${whole(facts.gvts)} GVTs, and a KP has ${short(each)} events between two.`,
        evidence: { sql: SQL, rows: asRows(rows) },
        ...expecting(`Fewer KPs: --nkp=${USUAL}.`, share, why),
        turn: { nkp: USUAL },
      },
    ];
  },
};
