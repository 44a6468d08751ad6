/** Where events are undone, and what causes it: the KP that stands out, and the LP whose late events cause most of it. */
import {
  asRows,
  counted,
  expecting,
  type FindingParts,
  type FindingRule,
  OWN,
  percent,
  type Subject,
  whole,
} from './finding.ts';
import { rollbackCost } from './rollback-cost.ts';
import { FINE, oneMode } from './samples.ts';

const LEAST = {
  value: FINE,
  unit: 'share',
  means:
    'of the handled events were undone, or at least so much of the time went on them: culprits are looked for',
  source: 'as efficiency',
};
const MORE = {
  value: 3,
  unit: '',
  means: 'times an even share of the undone events: the finding names the KP or LP',
  source: OWN,
};
const PART = {
  value: 0.1,
  unit: 'share',
  means: 'of all undone events at least',
  source: OWN,
};

const KPS = `SELECT pe_id, kp_id, sum(events_processed) AS processed, sum(events_rolled_back) AS undone,
  sum(sum(events_rolled_back)) OVER () AS all_undone, count(*) OVER () AS kps
FROM ross_kp WHERE ${oneMode('ross_kp')}
GROUP BY pe_id, kp_id ORDER BY undone DESC, pe_id, kp_id LIMIT 10`;

const LPS = `SELECT source_pe, source_lp, count(*) AS rollbacks, sum(events_undone) AS undone, max(depth) AS depth,
  sum(sum(events_undone)) OVER () AS all_undone, count(*) OVER () AS lps
FROM ross_rollback WHERE cause = 'straggler'
GROUP BY source_pe, source_lp ORDER BY undone DESC, source_pe, source_lp LIMIT 10`;

interface KpRow {
  readonly pe_id: number;
  readonly kp_id: number;
  readonly processed: number;
  readonly undone: number;
  readonly all_undone: number;
  readonly kps: number;
}

interface LpRow {
  readonly source_pe: number;
  readonly source_lp: number;
  readonly rollbacks: number;
  readonly undone: number;
  readonly depth: number | null;
  readonly all_undone: number;
  readonly lps: number;
}

const stands = (part: number, of: number): boolean =>
  of > 1 && part >= PART.value && part >= MORE.value / of;

async function worstKp({ recording }: Subject, cost: number): Promise<FindingParts[]> {
  const rows = await recording.query<KpRow>(KPS);
  const [worst] = rows;
  const part = worst === undefined ? 0 : worst.undone / Math.max(1, worst.all_undone);
  if (worst === undefined || !stands(part, worst.kps)) return [];
  return [
    {
      severity: 'notice',
      sentence: `KP ${worst.kp_id} of PE ${worst.pe_id} undid ${whole(worst.undone)} of its ${whole(worst.processed)} events: ${percent(part)} of all undone events, where an even share among ${whole(worst.kps)} KPs would be ${percent(1 / worst.kps)}.`,
      evidence: { sql: KPS, rows: asRows(rows) },
      ...expecting(
        'Split its LPs over more KPs (--nkp), or place the busy ones on other PEs (the model’s map).',
        cost * (part - 1 / worst.kps),
        `rollbacks cost ${percent(cost)}, and ${percent(part - 1 / worst.kps)} of what was undone is what this KP has beyond an even part`,
      ),
    },
  ];
}

async function worstLp({ recording }: Subject, cost: number): Promise<FindingParts[]> {
  const rows = await recording.query<LpRow>(LPS);
  const [worst] = rows;
  const part = worst === undefined ? 0 : worst.undone / Math.max(1, worst.all_undone);
  if (worst === undefined || !stands(part, worst.lps)) return [];
  const deep = worst.depth === null ? '' : `, up to ${Number(worst.depth.toPrecision(3))} back`;
  return [
    {
      severity: 'notice',
      sentence: `LP ${worst.source_lp} of PE ${worst.source_pe} sent ${counted(worst.rollbacks, 'late event')}, which undid ${whole(worst.undone)} (${percent(part)} of the events undone by stragglers${deep}).`,
      evidence: { sql: LPS, rows: asRows(rows) },
      ...expecting(
        'Place it on the PE that it sends to (the model’s map), or increase the lookahead of its events.',
        cost * part,
        `rollbacks cost ${percent(cost)}, and its late events undid ${percent(part)} of the events undone by stragglers`,
      ),
    },
  ];
}

export const ROLLBACK_CULPRITS: FindingRule = {
  name: 'rollback-culprits',
  title: 'the KP that undoes the most events, and the LP that causes the most',
  looks:
    'Ranks KPs by the events they undid, and LPs by the events that others undid because of their late events.',
  needs: [],
  thresholds: { LEAST, MORE, PART },
  knob: 'Use more KPs (--nkp), place LPs differently (the model’s map), or give the model more lookahead.',
  async run(subject) {
    const cost = await rollbackCost(subject);
    if (cost < LEAST.value) return [];
    return [
      ...(subject.has('ross_kp.events_rolled_back') ? await worstKp(subject, cost) : []),
      ...(subject.has('ross_rollback.source_lp') ? await worstLp(subject, cost) : []),
    ];
  },
};
