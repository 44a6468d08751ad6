/** GVT too often costs time; too rarely, it costs memory and makes rollbacks long. */
import {
  asRows,
  expecting,
  type FindingParts,
  type FindingRule,
  graded,
  OWN,
  percent,
  type Subject,
  short,
  whole,
} from './finding.ts';
import {
  FEW,
  gvtsIn,
  INVITED,
  type KnownRun,
  oneMode,
  runFactsOf,
  SECONDS,
  TURNED_DOWN_EVENTS,
  undoneShare,
} from './samples.ts';
import { timeOnEvents } from './time-on-events.ts';

const OFTEN = {
  value: 0.1,
  unit: 'share',
  means: 'of the PEs’ time was spent on GVT: notice',
  source: OWN,
};
const TOO_OFTEN = { value: 0.25, unit: 'share', means: 'was spent on GVT: problem', source: OWN };
const RARE = {
  value: 16_384,
  unit: '{event}',
  means: 'of a PE between two GVTs, if rollbacks cost anything: notice',
  source: `${OWN}: 64 times --batch × --gvt-interval as they are by default`,
};
const TURNED_DOWN = {
  value: TURNED_DOWN_EVENTS,
  unit: '{event}',
  means: 'or fewer for --batch × --gvt-interval: the settings ask for very frequent GVTs',
  source: `${OWN}: a sixteenth of the default`,
};
const EACH = {
  value: 64,
  unit: '{event}',
  means: 'or fewer of a PE between two GVTs, if the settings ask for frequent GVTs',
  source: 'as lookahead',
};
const ELSEWHERE = {
  value: 0.25,
  unit: 'share',
  means:
    'of the PEs’ time cannot have been spent on events, if the settings ask for frequent GVTs: notice',
  source: `${OWN}: time spent waiting for a GVT is not counted as computing it`,
};
const MOSTLY_ELSEWHERE = {
  value: 0.5,
  unit: 'share',
  means: 'of their time, under the same condition: problem',
  source: OWN,
};
const LEAST = {
  value: INVITED,
  unit: 'share',
  means: 'of the handled events were undone: below this, infrequent GVTs do no harm',
  source: 'as optimism',
};

/** The defaults of `sim run`. */
const USUAL = { interval: 16, batch: 16 };

const sql = (
  gvts: string,
) => `SELECT pe_id, ${gvts} AS gvts, sum(gvt_time) AS gvt_time, ${SECONDS} AS seconds,
  sum(events_processed) AS processed, sum(events_rolled_back) AS undone,
  CASE WHEN ${gvts} IS NOT NULL THEN sum(events_processed) / greatest(1, ${gvts}) END AS events_per_gvt
FROM ross_pe WHERE ${oneMode('ross_pe')} GROUP BY pe_id ORDER BY pe_id`;

/**
 * GVTs that the settings request after every few events: PEs wait for them, and their timers do not count this wait as GVT.
 */
async function askedFor(
  subject: Subject,
  facts: KnownRun | null,
  { gvts, events }: { readonly gvts: number; readonly events: number },
): Promise<FindingParts[]> {
  if (facts === null || facts.synchroniser !== 'optimistic' || facts.pes < 2) return [];
  const { batch, gvt_interval } = facts;
  if (batch * gvt_interval > TURNED_DOWN.value || events > EACH.value) return [];
  const onEvents = await timeOnEvents(subject, { commits: false });
  if (onEvents === null) return [];
  const elsewhere = 1 - onEvents.most;
  const severity = graded(elsewhere, ELSEWHERE, MOSTLY_ELSEWHERE);
  if (severity === null) return [];
  return [
    {
      severity,
      sentence: `PEs spent at least ${percent(elsewhere)} of their time computing ${whole(gvts)} GVTs and waiting for them (--gvt-interval=${gvt_interval}, --batch=${batch}): one for every ${short(events)} events of a PE.`,
      evidence: { sql: onEvents.sql, rows: asRows(onEvents.rows) },
      ...expecting(
        'Compute GVT less often: a larger --gvt-interval or --batch.',
        elsewhere,
        'that time was not spent on events',
      ),
      turn: { 'gvt-interval': USUAL.interval, batch: USUAL.batch },
    },
  ];
}

interface PeRow {
  readonly gvts: number | null;
  readonly gvt_time: number | null;
  readonly seconds: number | null;
  readonly processed: number;
  readonly undone: number;
}

export const GVT_INTERVAL: FindingRule = {
  name: 'gvt-interval',
  title: 'GVT computed too often or too rarely',
  looks:
    'Measures the time that PEs spend on GVT (with very frequent GVTs: the time that cannot have been spent on events) and the events that they handle between two GVTs. Uncommitted events take memory, which only GVT frees.',
  needs: ['num_gvts', 'gvt_time', 'real_time', 'events_processed', 'events_rolled_back'].map(
    (column) => `ross_pe.${column}`,
  ),
  thresholds: { OFTEN, TOO_OFTEN, TURNED_DOWN, EACH, ELSEWHERE, MOSTLY_ELSEWHERE, RARE, LEAST },
  knob: '--gvt-interval (ROSS’s tuning page: 128 to 256 in synch 3, 32 to 64 ms in synch 5), and --batch.',
  async run(subject) {
    const query = sql(await gvtsIn(subject));
    const rows = await subject.recording.query<PeRow>(query);
    const sum = (of: (row: PeRow) => number | null) =>
      rows.reduce((all, row) => all + (of(row) ?? 0), 0);
    const processed = sum((row) => row.processed);
    if (processed < FEW) return [];
    const counts = rows.flatMap((row) => row.gvts ?? []);
    if (counts.length === 0) return { lacks: 'the number of GVTs' };
    const gvts = Math.max(...counts);
    const undone = undoneShare({ processed, undone: sum((row) => row.undone) });
    const spent = sum((row) => row.gvt_time);
    const share = spent / sum((row) => row.seconds);
    const events = processed / rows.length / Math.max(1, gvts);
    const evidence = { sql: query, rows: asRows(rows) };
    const facts = await runFactsOf(subject);
    const asked = await askedFor(subject, facts, { gvts, events });
    if (asked.length > 0) return asked;
    // Clocks that count cycles give no share of time.
    const severity = share <= 1 ? graded(share, OFTEN, TOO_OFTEN) : null;
    if (severity !== null) {
      return [
        {
          severity,
          sentence: `PEs spent ${percent(share)} of their time computing ${whole(gvts)} GVTs, one for every ${short(events)} events of a PE.`,
          evidence,
          // Where much is rolled back, a larger batch would let PEs run further ahead.
          ...expecting(
            undone < LEAST.value
              ? 'Compute GVT less often: a larger --gvt-interval or --batch.'
              : 'Compute GVT less often: a larger --gvt-interval. Let --max-opt-lookahead limit the optimism instead.',
            share,
            `${percent(share)} of the time was spent on GVTs`,
          ),
          ...(facts !== null && facts.gvt_interval * facts.batch < USUAL.batch * USUAL.interval
            ? { turn: { 'gvt-interval': USUAL.interval, batch: USUAL.batch } }
            : {}),
        },
      ];
    }
    if (events < RARE.value || undone < LEAST.value) return [];
    return [
      {
        severity: 'notice',
        sentence: `A PE handles ${short(events)} events between two GVTs (${whole(gvts)} GVTs in all) and can commit none of them earlier; ${percent(undone)} of all events were rolled back.`,
        evidence,
        ...expecting(
          'Compute GVT more often: a smaller --gvt-interval or --batch.',
          undone,
          `${percent(undone)} of the handled events were wasted work`,
        ),
        turn: { 'gvt-interval': USUAL.interval, batch: USUAL.batch },
      },
    ];
  },
};
