/** PEs that spend their time receiving events from other PEs and sending events to them. */
import {
  asRows,
  counted,
  expecting,
  type FindingParts,
  type FindingRule,
  graded,
  OWN,
  percent,
  type Subject,
  short,
} from './finding.ts';
import { rollbackCost } from './rollback-cost.ts';
import { FEW, INVITED, oneMode, SECONDS } from './samples.ts';
import { timeOnEvents } from './time-on-events.ts';

const SOME = {
  value: 0.2,
  unit: 'share',
  means: 'of a PE’s time was spent on events from and to other PEs: notice',
  source: OWN,
};
const MUCH = { value: 0.4, unit: 'share', means: 'of its time: problem', source: OWN };

const BOUND = {
  value: 2,
  unit: '',
  means:
    'standard errors below the measured share must still exceed the threshold: a single slow turn is not evidence',
  source: `${OWN}: one turn in 64 is timed and stands for the others; for normally distributed errors, 2 standard errors are 97.7 %`,
};
const APART = {
  value: 0.5,
  unit: '',
  means:
    'times as many events stay on their PE as with a random map, or fewer: the map is examined',
  source: `${OWN}: of N PEs a random map leaves one event in N`,
};
const ELSEWHERE = {
  value: 0.25,
  unit: 'share',
  means: 'of the PEs’ time cannot have been spent on events, with such a map: notice',
  source: `${OWN}: time spent waiting for another PE’s event is not counted as reading it`,
};
const MOSTLY_ELSEWHERE = {
  value: 0.5,
  unit: 'share',
  means: 'of their time, with such a map: problem',
  source: OWN,
};
/** With fewer windows, no bound can be given. */
const FEWEST = 5;
/** The number of windows into which a run is divided. */
const WINDOWS = 20;

const SQL = `WITH sample AS (
  SELECT pe_id, t, sum(network_read_time + network_other_time) AS spent,
    t - lag(t) OVER (PARTITION BY pe_id ORDER BY t) AS seconds
  FROM ross_pe WHERE ${oneMode('ross_pe')} GROUP BY pe_id, t),
windows AS (
  SELECT pe_id, ntile(${WINDOWS}) OVER (PARTITION BY pe_id ORDER BY t) AS part, spent, seconds FROM sample WHERE seconds > 0),
part AS (SELECT pe_id, sum(spent) / sum(seconds) AS share FROM windows GROUP BY pe_id, part),
bound AS (SELECT pe_id, avg(share) - ${BOUND.value} * coalesce(stddev_samp(share), 0) / sqrt(count(*)) AS least, count(*) AS parts
  FROM part GROUP BY pe_id)
SELECT s.*, least, parts FROM (SELECT pe_id, sum(network_read_time) AS read_time, sum(network_other_time) AS send_time,
  ${SECONDS} AS seconds, (read_time + send_time) / seconds AS share,
  sum(network_sends) AS sends, sum(network_receives) AS receives, sum(events_processed) AS processed
FROM ross_pe WHERE ${oneMode('ross_pe')} GROUP BY pe_id) s JOIN bound USING (pe_id) ORDER BY least DESC, pe_id`;

interface PeRow {
  readonly pe_id: number;
  readonly share: number | null;
  /** The lower bound. */
  readonly least: number | null;
  readonly parts: number;
  readonly sends: number;
  readonly receives: number;
  readonly processed: number;
}

const PLACE =
  'Place LPs that exchange many events on one PE (the model’s map), or send fewer, larger events';

/** LPs that send to each other are on different PEs, more often than at random; and PEs wait. */
async function worseThanChance(subject: Subject, rows: readonly PeRow[]): Promise<FindingParts[]> {
  const sum = (of: (row: PeRow) => number) => rows.reduce((all, row) => all + of(row), 0);
  const handled = sum((row) => row.processed);
  if (rows.length < 2 || handled < FEW) return [];
  const remote = sum((row) => row.receives) / handled;
  const chance = 1 - 1 / rows.length;
  if (1 - remote > APART.value * (1 - chance)) return [];
  const onEvents = await timeOnEvents(subject, { commits: true });
  if (onEvents === null) return [];
  const elsewhere = 1 - onEvents.most;
  const severity = graded(elsewhere, ELSEWHERE, MOSTLY_ELSEWHERE);
  if (severity === null) return [];
  return [
    {
      severity,
      sentence: `For every 100 events that PEs handle, ${short(100 * remote)} arrive from other PEs (${short(100 * chance)} if LPs were placed at random), and at least ${percent(elsewhere)} of the PEs’ time was not spent on events.`,
      evidence: { sql: onEvents.sql, rows: asRows(onEvents.rows) },
      ...expecting(`${PLACE}.`, elsewhere, 'PEs wait for each other’s events'),
    },
  ];
}

export const NETWORK_BOUND: FindingRule = {
  name: 'network-bound',
  title: 'PEs busy exchanging events with other PEs',
  looks:
    'Measures, from one turn in 64, a lower bound for the time that each PE spends reading events of other PEs and handing over its own, and counts these events. Checks whether more events come from other PEs than if LPs were placed at random.',
  needs: [
    ...['network_read_time', 'network_other_time', 'network_sends', 'network_receives'],
    ...['real_time', 'events_processed'],
  ].map((column) => `ross_pe.${column}`),
  thresholds: { SOME, MUCH, BOUND, APART, ELSEWHERE, MOSTLY_ELSEWHERE },
  knob: `${PLACE}. A larger --batch hands over more events at a time.`,
  async run(subject) {
    const { recording } = subject;
    const rows = await recording.query<PeRow>(SQL);
    const [worst] = rows;
    const share = worst?.share ?? 0;
    // Clocks that count cycles give no share of time.
    const severity =
      share <= 1 && (worst?.parts ?? 0) >= FEWEST ? graded(worst?.least ?? 0, SOME, MUCH) : null;
    if (worst === undefined || severity === null) return worseThanChance(subject, rows);
    const busy = rows.filter((row) => (row.least ?? 0) >= SOME.value).length;
    const more = busy > 1 ? `; ${counted(busy - 1, 'other PE')} too` : '';
    const remote = worst.receives / Math.max(1, worst.processed);
    return [
      {
        severity,
        sentence: `PE ${worst.pe_id} spends ${percent(share)} of its time on messages (at least ${percent(worst.least ?? 0)}): for every 100 events that it handles, ${short(100 * remote)} arrive from other PEs${more}.`,
        evidence: { sql: SQL, rows: asRows(rows) },
        // Where rollbacks cost much, a larger batch would let PEs run further ahead.
        ...expecting(
          (await rollbackCost(subject)) < INVITED ? this.knob : `${PLACE}.`,
          worst.least ?? 0,
          'at least that share of its time was spent on messages',
        ),
      },
    ];
  },
};
