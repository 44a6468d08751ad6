/** Where events are undone, and by whom: the KP that stands out, and the LP whose late events do most of it. */
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
    'of the events handled undone, or of the time that this took at least: culprits are looked for',
  source: 'as efficiency',
};
const MORE = {
  value: 3,
  unit: '',
  means: 'times its even part of what was undone: the KP or LP is named',
  source: OWN,
};
const PART = {
  value: 0.1,
  unit: 'share',
  means: 'of all that was undone, at least',
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
      sentence: `KP ${worst.kp_id} of PE ${worst.pe_id} undid ${whole(worst.undone)} of its ${whole(worst.processed)} events: ${percent(part)} of all that was undone, where ${whole(worst.kps)} KPs would have ${percent(1 / worst.kps)} each.`,
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
      sentence: `LP ${worst.source_lp} of PE ${worst.source_pe} sent ${counted(worst.rollbacks, 'late event')}, which undid ${whole(worst.undone)} (${percent(part)} of what stragglers undid${deep}).`,
      evidence: { sql: LPS, rows: asRows(rows) },
      ...expecting(
        'Place it on the PE that it sends to (the model’s map), or give its events more lookahead.',
        cost * part,
        `rollbacks cost ${percent(cost)}, and its late events undid ${percent(part)} of what stragglers undid`,
      ),
    },
  ];
}

export const ROLLBACK_CULPRITS: FindingRule = {
  name: 'rollback-culprits',
  title: 'the KP that undoes most, and the LP that causes most',
  looks:
    'Ranks KPs by the events they undid, and LPs by the events that others undid for their late ones.',
  needs: [],
  thresholds: { LEAST, MORE, PART },
  knob: 'More KPs (--nkp); another placement of LPs (the model’s map); more lookahead.',
  async run(subject) {
    const cost = await rollbackCost(subject);
    if (cost < LEAST.value) return [];
    return [
      ...(subject.has('ross_kp.events_rolled_back') ? await worstKp(subject, cost) : []),
      ...(subject.has('ross_rollback.source_lp') ? await worstLp(subject, cost) : []),
    ];
  },
};
