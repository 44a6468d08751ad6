/** GVT too often costs time; too rarely, memory, and rollbacks that reach far. */
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
  factsOf,
  gvtsIn,
  INVITED,
  oneMode,
  type RunFacts,
  SECONDS,
  TURNED_DOWN_EVENTS,
  undoneShare,
} from './samples.ts';
import { timeOnEvents } from './time-on-events.ts';

const OFTEN = {
  value: 0.1,
  unit: 'share',
  means: 'of the PEs’ time spent on GVT: notice',
  source: OWN,
};
const TOO_OFTEN = { value: 0.25, unit: 'share', means: 'spent on GVT: problem', source: OWN };
const RARE = {
  value: 16_384,
  unit: '{event}',
  means: 'events of a PE between two GVTs, where rollbacks cost anything: notice',
  source: `${OWN}: 64 times --batch × --gvt-interval as they are by default`,
};
const TURNED_DOWN = {
  value: TURNED_DOWN_EVENTS,
  unit: '{event}',
  means: 'of --batch × --gvt-interval, or fewer: GVTs were asked for that often',
  source: `${OWN}: a sixteenth of the default`,
};
const EACH = {
  value: 64,
  unit: '{event}',
  means: 'of a PE between two GVTs, or fewer, where they were asked for',
  source: 'as lookahead',
};
const ELSEWHERE = {
  value: 0.25,
  unit: 'share',
  means:
    'of the PEs’ time that cannot have gone on events, where GVTs were asked for that often: notice',
  source: `${OWN}: who waits for a GVT is not counted as computing it`,
};
const MOSTLY_ELSEWHERE = {
  value: 0.5,
  unit: 'share',
  means: 'of their time, where they were: problem',
  source: OWN,
};
const LEAST = {
  value: INVITED,
  unit: 'share',
  means: 'of the events handled undone: below it a rare GVT does no harm',
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

/** GVTs that were asked for after every few events: PEs wait for them, which no clock of theirs counts as GVT. */
async function askedFor(
  subject: Subject,
  facts: RunFacts | null,
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
      sentence: `PEs spent at least ${percent(elsewhere)} of their time on ${whole(gvts)} GVTs and on waiting for them (--gvt-interval=${gvt_interval}, --batch=${batch}): one for every ${short(events)} events of a PE.`,
      evidence: { sql: onEvents.sql, rows: asRows(onEvents.rows) },
      ...expecting(
        'Compute GVT less often: a larger --gvt-interval or --batch.',
        elsewhere,
        'that time did not go on events',
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
  title: 'GVT too often, or too rarely',
  looks:
    'The time that PEs spend on GVT, or, where it was asked for that often, at most on events; and the events that they handle between two. Uncommitted events take memory, and only GVT frees it.',
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
    if (counts.length === 0) return { lacks: 'how many GVTs there were' };
    const gvts = Math.max(...counts);
    const undone = undoneShare({ processed, undone: sum((row) => row.undone) });
    const spent = sum((row) => row.gvt_time);
    const share = spent / sum((row) => row.seconds);
    const events = processed / rows.length / Math.max(1, gvts);
    const evidence = { sql: query, rows: asRows(rows) };
    const facts = await factsOf(subject);
    const asked = await askedFor(subject, facts, { gvts, events });
    if (asked.length > 0) return asked;
    // Clocks that count cycles give no share.
    const severity = share <= 1 ? graded(share, OFTEN, TOO_OFTEN) : null;
    if (severity !== null) {
      return [
        {
          severity,
          sentence: `PEs spent ${percent(share)} of their time on ${whole(gvts)} GVTs, one for every ${short(events)} events of a PE.`,
          evidence,
          // Where much is rolled back, a larger batch would run further ahead.
          ...expecting(
            undone < LEAST.value
              ? 'Compute GVT less often: a larger --gvt-interval or --batch.'
              : 'Compute GVT less often: a larger --gvt-interval; --max-opt-lookahead bounds the optimism in its place.',
            share,
            `${percent(share)} of the time went there`,
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
        sentence: `A PE handles ${short(events)} events between two GVTs (${whole(gvts)} in all), none of which can be committed before, and ${percent(undone)} of all were rolled back.`,
        evidence,
        ...expecting(
          'Compute GVT more often: a smaller --gvt-interval or --batch.',
          undone,
          `${percent(undone)} of what was handled was for nothing`,
        ),
        turn: { 'gvt-interval': USUAL.interval, batch: USUAL.batch },
      },
    ];
  },
};
