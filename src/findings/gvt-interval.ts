/** GVT too often costs time; too rarely, memory, and rollbacks that reach far. */
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
import { FEW, FINE, factsOf, gvtsIn, oneMode, SECONDS, undoneShare } from './samples.ts';

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
const LEAST = {
  value: FINE,
  unit: 'share',
  means: 'of the events handled undone: below it a rare GVT does no harm',
  source: 'as efficiency',
};

/** The defaults of `sim run`. */
const USUAL = { interval: 16, batch: 16 };

const sql = (
  gvts: string,
) => `SELECT pe_id, ${gvts} AS gvts, sum(gvt_time) AS gvt_time, ${SECONDS} AS seconds,
  sum(events_processed) AS processed, sum(events_rolled_back) AS undone,
  CASE WHEN ${gvts} IS NOT NULL THEN sum(events_processed) / greatest(1, ${gvts}) END AS events_per_gvt
FROM ross_pe WHERE ${oneMode('ross_pe')} GROUP BY pe_id ORDER BY pe_id`;

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
    'The time that PEs spend on GVT, and the events that they handle between two. Uncommitted events take memory, and only GVT frees it.',
  needs: ['num_gvts', 'gvt_time', 'real_time', 'events_processed', 'events_rolled_back'].map(
    (column) => `ross_pe.${column}`,
  ),
  thresholds: { OFTEN, TOO_OFTEN, RARE, LEAST },
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
