/**
 * False rollbacks: a KP is rolled back as a whole, so a late event for one of its LPs undoes the events of all. False
 * rollbacks are not counted; the share of a KP's events that belong to LPs other than the one hit is an estimate. If
 * LPs are hit as often as they handle events, that is 1 − Σ pᵢ², where pᵢ is the LP's part of the KP's events.
 */
import { asRows, expecting, type FindingRule, graded, OWN, percent, whole } from './finding.ts';
import { rollbackCost } from './rollback-cost.ts';
import { BAD, FINE, INVITED, oneMode, ROLLBACK_SIGNS, runFactsOf } from './samples.ts';

const SOME = {
  value: FINE,
  unit: 'share',
  means:
    'of the handled events were undone, or at least so much of the time went on them, and the share of others below is reached: notice',
  source: 'as efficiency',
};
const FEWER = {
  value: INVITED,
  unit: 'share',
  means: 'undone, where --nkp was turned down below its default of 16: notice',
  source: 'as optimism',
};
const MUCH = { value: BAD, unit: 'share', means: 'undone: problem', source: 'as efficiency' };
const MOSTLY = {
  value: 0.85,
  unit: 'share',
  means:
    'of a KP’s events belong to LPs other than the one hit: with eight equal LPs this is 0.875',
  source: `${OWN}; ROSS’s tuning page: more KPs against false rollbacks`,
};
/** The default of `sim run`. */
const USUAL = 16;
/** With this many LPs in a KP, a late event undoes few events of other LPs. */
const GOOD = 4;

const SQL = `WITH lp AS (
  SELECT pe_id, kp_id, lp_id, sum(events_processed)::DOUBLE AS events, sum(events_rolled_back)::DOUBLE AS undone
  FROM ross_lp WHERE ${oneMode('ross_lp')} GROUP BY ALL)
SELECT pe_id, kp_id, count(*) AS lps, sum(events) AS events, sum(undone) AS undone,
  1 - sum(events * events) / nullif(sum(events) ^ 2, 0) AS of_others
FROM lp GROUP BY pe_id, kp_id ORDER BY undone DESC, pe_id, kp_id`;

/** Without samples of LPs: only the LPs that rollbacks name are known, so their numbers are lower bounds. */
const AT_LEAST = `WITH kp AS (
  SELECT pe_id, kp_id, sum(events_processed)::DOUBLE AS events, sum(events_rolled_back)::DOUBLE AS undone
  FROM ross_kp WHERE ${oneMode('ross_kp')} GROUP BY ALL),
lp AS (SELECT source_pe AS pe_id, count(DISTINCT source_lp) AS lps FROM ross_rollback GROUP BY ALL)
SELECT pe_id, kp_id, lps // count(*) OVER (PARTITION BY pe_id) AS lps, events, undone,
  1 - 1 / greatest(1, lps // count(*) OVER (PARTITION BY pe_id)) AS of_others
FROM kp JOIN lp USING (pe_id) ORDER BY undone DESC, pe_id, kp_id`;

interface KpRow {
  readonly pe_id: number;
  readonly kp_id: number;
  readonly lps: number;
  readonly undone: number;
  readonly of_others: number | null;
}

export const FALSE_ROLLBACKS: FindingRule = {
  name: 'false-rollbacks',
  title: 'events undone only because their LP shares a KP',
  looks:
    'Counts the LPs that share a KP, from samples of LPs (--lp-data) or else from the LPs that rollbacks name, and the share of a KP’s events that belong to LPs other than the one that a late event hits.',
  needs: [],
  thresholds: { SOME, FEWER, MUCH, MOSTLY },
  knob: 'Use more KPs (--nkp), so that few LPs share one. Each KP costs a little at every GVT.',
  explains: ROLLBACK_SIGNS,
  async run(subject) {
    const { recording, has } = subject;
    const sampled = has('ross_lp.events_processed');
    if (!sampled && !(has('ross_kp.events_processed') && has('ross_rollback.source_lp'))) {
      return { lacks: 'samples of LPs, or of KPs beside rollbacks' };
    }
    const share = await rollbackCost(subject);
    const facts = await runFactsOf(subject);
    const severity = graded(share, (facts?.nkp ?? USUAL) < USUAL ? FEWER : SOME, MUCH);
    if (severity === null) return [];
    const sql = sampled ? SQL : AT_LEAST;
    const rows = await recording.query<KpRow>(sql);
    const undone = rows.reduce((sum, row) => sum + row.undone, 0);
    if (undone === 0) return [];
    const others = rows.reduce((sum, row) => sum + row.undone * (row.of_others ?? 0), 0) / undone;
    if (others < MOSTLY.value) return [];
    const lps = rows.reduce((sum, row) => sum + row.lps, 0);
    const pes = new Set(rows.map(({ pe_id }) => pe_id)).size;
    const least = sampled ? '' : 'at least ';
    const nkp = Math.ceil(lps / pes / GOOD);
    return [
      {
        severity,
        sentence:
          `${least}${whole(lps / rows.length)} LPs share a KP: a late event for one LP undoes the events of all, and up to ${percent(others)} of ${whole(undone)} undone events belonged to other LPs.`.replace(
            /^a/,
            'A',
          ),
        evidence: { sql, rows: asRows(rows.slice(0, 100)) },
        ...expecting(
          `Use more KPs: with about --nkp=${nkp}, ${GOOD} LPs share one. Each KP costs a little at every GVT.`,
          share * others,
          `rollbacks cost ${percent(share)}, and most of that for other LPs`,
        ),
        turn: { nkp },
      },
    ];
  },
};
