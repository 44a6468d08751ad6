/**
 * Event memory that runs out: events aborted, events undone to free memory, queues that grow without bound.
 */
import {
  asRows,
  expecting,
  type FindingParts,
  type FindingRule,
  graded,
  OWN,
  percent,
  SEVERITIES,
  type Severity,
  type Subject,
  short,
  whole,
} from './finding.ts';
import {
  CANCELBACKS,
  cancelbacksOf,
  gvtsIn,
  type KnownRun,
  oneMode,
  provesRollback,
  ROLLBACK_SIGNS,
  runFactsOf,
  SECONDS,
  totalsOf,
  undoneShare,
} from './samples.ts';
import { timeOnEvents } from './time-on-events.ts';

const ABORTED = {
  value: 1e-6,
  unit: 'share',
  means: 'of the handled events were aborted for lack of memory: notice',
  source: 'ROSS aborts an event if no memory is free: there should be none',
};
const MANY = { value: 0.01, unit: 'share', means: 'were aborted: problem', source: OWN };
const TAKEN_BACK = {
  value: 0.01,
  unit: 'share',
  means: 'of the handled events were undone to free memory (cancelback): notice',
  source: OWN,
};
const MUCH_TAKEN_BACK = {
  value: 0.1,
  unit: 'share',
  means: 'were undone to free memory: problem',
  source: OWN,
};
const WAITS = {
  value: 0.1,
  unit: 'share',
  means: 'of the PEs’ time did not go to events while event memory was short: notice',
  source: `${OWN}: PEs that are short of memory stay close to GVT, and wait for it`,
};
const MOSTLY_WAITS = {
  value: 0.25,
  unit: 'share',
  means: 'of their time, in the same way: problem',
  source: OWN,
};
const GROWS = {
  value: 1.5,
  unit: '',
  means: 'times as many pending events in the last quarter as in the second: notice',
  source: OWN,
};
const PENDING = {
  value: 10_000,
  unit: '{event}',
  means: 'pending at least to count as growth',
  source: OWN,
};
const ATTEMPTS = {
  value: 4,
  unit: '',
  means: 'fossil collections of a PE per GVT: notice',
  source: `${OWN}; ROSS collects once per GVT, and more often only if memory is short`,
};

const sql = (
  gvts: string,
  timed: boolean,
) => `SELECT pe_id, sum(events_processed) AS processed, sum(events_aborted) AS aborted,
  sum(fossil_collect_attempts) AS attempts, ${gvts} AS gvts, ${timed ? `sum(fossil_collect_time)` : 'NULL'} AS collecting,
  ${timed ? SECONDS : 'NULL'} AS seconds
FROM ross_pe WHERE ${oneMode('ross_pe')} GROUP BY pe_id ORDER BY aborted DESC, pe_id`;

const QUEUES = `WITH sample AS (
  SELECT pe_id, priority_queue_size AS pending, ntile(4) OVER (PARTITION BY pe_id ORDER BY t) AS quarter
  FROM ross_pe WHERE ${oneMode('ross_pe')})
SELECT pe_id, avg(pending) FILTER (quarter = 2) AS before, avg(pending) FILTER (quarter = 4) AS after,
  count(*) AS samples
FROM sample GROUP BY pe_id ORDER BY after DESC, pe_id`;

interface PeRow {
  readonly pe_id: number;
  readonly processed: number;
  readonly aborted: number;
  readonly attempts: number;
  readonly gvts: number | null;
  readonly collecting: number | null;
  readonly seconds: number | null;
}

interface QueueRow {
  readonly before: number | null;
  readonly after: number | null;
  readonly samples: number;
}

const KNOB = 'Raise --max-memory, or limit the optimism with --max-opt-lookahead.';
/** The fewest samples of a PE from which a trend is computed. */
const COURSE = 8;

async function shortage(subject: Subject): Promise<FindingParts[]> {
  const timed = subject.has('ross_pe.fossil_collect_time') && subject.has('ross_pe.real_time');
  const query = sql(await gvtsIn(subject), timed);
  const rows = await subject.recording.query<PeRow>(query);
  const sum = (of: (row: PeRow) => number) => rows.reduce((all, row) => all + of(row), 0);
  const [aborted, processed] = [sum((row) => row.aborted), sum((row) => row.processed)];
  const evidence = { sql: query, rows: asRows(rows) };
  const severity = graded(aborted / Math.max(1, processed), ABORTED, MANY);
  if (severity !== null) {
    const sentence = `${whole(aborted)} events (${percent(aborted / processed)}) were aborted because event memory was full.`;
    const share = aborted / Math.max(1, processed);
    const why = `${percent(share)} of what was handled was given up, and handled again`;
    return [{ severity, sentence, evidence, ...expecting(KNOB, share, why) }];
  }
  const gvts = Math.max(0, ...rows.map((row) => row.gvts ?? 0));
  const perGvt = sum((row) => row.attempts) / Math.max(1, rows.length * gvts);
  if (gvts === 0 || perGvt < ATTEMPTS.value) return [];
  const sentence = `PEs collect fossils ${short(perGvt)} times for each GVT: they keep running out of memory.`;
  const isTimed = rows.every(({ collecting, seconds }) => collecting !== null && seconds !== null);
  const spent = sum((row) => row.collecting ?? 0) / sum((row) => row.seconds ?? 0);
  // Clocks that count cycles give no share of time.
  const expected =
    isTimed && spent <= 1
      ? expecting(
          KNOB,
          spent * (1 - 1 / perGvt),
          `fossil collections took ${percent(spent)} of the time, and one for each GVT would do`,
        )
      : { advice: KNOB };
  return [{ severity: 'notice', sentence, evidence, ...expected }];
}

const SHORT = 'SELECT avg(memory_time) AS seconds FROM sim_pe';

/**
 * Shares of the PEs' time: for which memory was short, and which did not go to events although memory was short, at least: what
 * of the waiting does not fit into the rest of the time. Null if not known.
 */
async function whileShort(
  subject: Subject,
  { wall }: KnownRun,
): Promise<{ readonly short: number; readonly waits: number } | null> {
  if (!subject.has('sim_pe.memory_time') || !(wall > 0)) return null;
  const [{ seconds }] = await subject.recording.query<{ seconds: number | null }>(SHORT);
  const onEvents = await timeOnEvents(subject, { commits: true });
  if (seconds === null || onEvents === null) return null;
  const short = Math.min(1, seconds / wall);
  return { short, waits: Math.max(0, short - onEvents.most) };
}

/** Events that were handled, and then undone to make room for others; and the waiting of PEs that have to stay close to GVT. */
async function takenBack(subject: Subject): Promise<FindingParts[]> {
  if (await provesRollback(subject)) return [];
  const { rows, undone } = await cancelbacksOf(subject);
  const { processed } = await totalsOf(subject);
  const share = undoneShare({ processed, undone });
  const facts = await runFactsOf(subject);
  const measured = facts === null || undone === 0 ? null : await whileShort(subject, facts);
  const waits = measured?.waits ?? 0;
  const severity = worst(
    graded(share, TAKEN_BACK, MUCH_TAKEN_BACK),
    graded(waits, WAITS, MOSTLY_WAITS),
  );
  if (severity === null) return [];
  const most = facts === null ? '' : ` (--max-memory=${whole(facts.max_memory)})`;
  const waiting =
    measured === null || waits < WAITS.value
      ? ''
      : `; it was short for ${percent(measured.short)} of the time, in which PEs stay close to GVT: at least ${percent(waits)} of their time went neither to events nor to commits meanwhile`;
  const why =
    waiting === ''
      ? `${percent(share)} of the handled events were undone to free memory`
      : 'that time, and the work that was undone to free memory';
  return [
    {
      severity,
      sentence: `Event memory is too small${most}: ${whole(undone)} events, ${percent(share)} of those handled, were undone to make room for other events (cancelback)${waiting}.`,
      evidence: { sql: CANCELBACKS, rows: asRows(rows) },
      ...expecting('Raise --max-memory.', waiting === '' ? share : share + waits, why),
      ...(facts !== null && { turn: { 'max-memory': 16 * facts.max_memory } }),
    },
  ];
}

const worst = (one: Severity | null, other: Severity | null): Severity | null =>
  SEVERITIES.find((severity) => severity === one || severity === other) ?? null;

async function growth({ recording }: Subject): Promise<FindingParts[]> {
  const rows = await recording.query<QueueRow>(QUEUES);
  if (rows.some(({ samples }) => samples < COURSE)) return [];
  const sum = (of: (row: QueueRow) => number | null) =>
    rows.reduce((all, row) => all + (of(row) ?? 0), 0);
  const [before, after] = [sum((row) => row.before), sum((row) => row.after)];
  if (after < PENDING.value || after < GROWS.value * before) return [];
  return [
    {
      severity: 'notice',
      sentence: `Pending events grow: ${whole(before)} in the second quarter of the run, ${whole(after)} in the last.`,
      evidence: { sql: QUEUES, rows: asRows(rows) },
      advice: `Does the model send more events than it handles? A run twice as long would end with about ${whole(after + 2.25 * (after - before))} pending, as these grow by ${whole(2 * (after - before))} in the time of this one, and needs that much more --max-memory; it is no faster with it.`,
    },
  ];
}

export const MEMORY_PRESSURE: FindingRule = {
  name: 'memory-pressure',
  title: 'event memory that runs out or grows',
  looks:
    'Counts the events aborted or undone to free memory, the time for which it was short and the fossil collections per GVT, and compares the number of pending events early and late in the run.',
  needs: [
    ...['events_aborted', 'fossil_collect_attempts', 'num_gvts', 'priority_queue_size'],
    ...['events_processed', 'mode', 't'],
  ].map((column) => `ross_pe.${column}`),
  explains: [...ROLLBACK_SIGNS, 'optimism', 'gvt-interval', 'false-rollbacks', 'network-bound'],
  thresholds: {
    ...{ ABORTED, MANY, TAKEN_BACK, MUCH_TAKEN_BACK, WAITS, MOSTLY_WAITS },
    ...{ GROWS, PENDING, ATTEMPTS },
  },
  knob: KNOB,
  async run(subject) {
    const taken = await takenBack(subject);
    return [...taken, ...(await shortage(subject)), ...(await growth(subject))];
  },
};
