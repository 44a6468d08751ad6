/** PEs that spend their time on taking events from others and handing events over. */
import { asRows, counted, type FindingRule, graded, OWN, percent, short } from './finding.ts';
import { FINE, oneMode, SECONDS, totalsOf, undoneShare } from './samples.ts';

const SOME = {
  value: 0.2,
  unit: 'share',
  means: 'of a PE’s time spent on events of and for others: notice',
  source: OWN,
};
const MUCH = { value: 0.4, unit: 'share', means: 'of its time: problem', source: OWN };

const SQL = `SELECT pe_id, sum(network_read_time) AS read_time, sum(network_other_time) AS send_time,
  ${SECONDS} AS seconds, (read_time + send_time) / seconds AS share,
  sum(network_sends) AS sends, sum(network_receives) AS receives, sum(events_processed) AS processed
FROM ross_pe WHERE ${oneMode('ross_pe')} GROUP BY pe_id ORDER BY share DESC, pe_id`;

interface PeRow {
  readonly pe_id: number;
  readonly share: number | null;
  readonly sends: number;
  readonly receives: number;
  readonly processed: number;
}

const PLACE =
  'Place LPs that talk to each other on one PE (the model’s map), or send fewer, larger events';

export const NETWORK_BOUND: FindingRule = {
  name: 'network-bound',
  title: 'PEs busy with events of other PEs',
  looks:
    'The time that each PE takes to read events of others and to hand over its own, beside how many they are.',
  needs: [
    ...['network_read_time', 'network_other_time', 'network_sends', 'network_receives'],
    ...['real_time', 'events_processed'],
  ].map((column) => `ross_pe.${column}`),
  thresholds: { SOME, MUCH },
  knob: `${PLACE}; a larger --batch hands over more at a time.`,
  async run(subject) {
    const { recording } = subject;
    const rows = await recording.query<PeRow>(SQL);
    const [worst] = rows;
    const share = worst?.share ?? 0;
    // Clocks that count cycles give no share.
    const severity = share <= 1 ? graded(share, SOME, MUCH) : null;
    if (worst === undefined || severity === null) return [];
    const busy = rows.filter((row) => (row.share ?? 0) >= SOME.value).length;
    const more = busy > 1 ? `; ${counted(busy - 1, 'other PE')} too much, too` : '';
    const remote = worst.receives / Math.max(1, worst.processed);
    return [
      {
        severity,
        sentence: `PE ${worst.pe_id} spends ${percent(share)} of its time on messages: for 100 events that it handles, ${short(100 * remote)} arrive from other PEs${more}.`,
        evidence: { sql: SQL, rows: asRows(rows) },
        // Where much is rolled back, a larger batch would run further ahead.
        advice: undoneShare(await totalsOf(subject)) < FINE ? this.knob : `${PLACE}.`,
      },
    ];
  },
};
