/** A run that stood still: stopped by a signal, a debugger, or with its whole machine. */
import {
  asRows,
  expecting,
  type FindingRule,
  OWN,
  percent,
  type Subject,
  short,
} from './finding.ts';
import { ROLLBACK_SIGNS } from './samples.ts';

const LONG = {
  value: 0.5,
  unit: 's',
  means: 'in which no thread of the run ran or was ready to run, and nothing was sampled: notice',
  source: `${OWN}: samples are 0.1 s apart`,
};
const MUCH = { value: 0.1, unit: 'share', means: 'of the run’s time: problem', source: OWN };
const RAN = {
  value: 0.25,
  unit: 'share',
  means: 'of that time its threads ran or waited for a CPU: the run was late, not stopped',
  source: OWN,
};

/** For each time between two samples: the share of the busiest PE. */
const SIMULATOR = `SELECT t0 AS "from", t AS "to", t - t0 AS seconds,
  max((cpu_time + coalesce(run_queue_wait, 0)) / 1e9) AS ran
FROM sim_thread_rate GROUP BY t0, t`;

const COMMAND = `SELECT min(t0) AS "from", max(t) AS "to", max(t) - min(t0) AS seconds, 0 AS ran FROM (
  SELECT *, count(*) FILTER (NOT still) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) AS stretch FROM (
    SELECT t0, t, bool_and(state = 'T') AS still FROM process_thread_rate GROUP BY t0, t))
WHERE still GROUP BY stretch`;

const sql = (table: string) => `WITH sample AS (${table}),
extent AS (SELECT max("to") - min("from") AS whole FROM (${table === SIMULATOR ? SIMULATOR : 'SELECT t0 AS "from", t AS "to" FROM process_thread_rate'}))
SELECT "from", "to", seconds, ran, whole FROM sample, extent
WHERE seconds >= ${LONG.value} AND ran < ${RAN.value} ORDER BY seconds DESC, "from"`;

/** If waits for the recorder explain this share of a stretch, the run was not stopped. */
const EXPLAINED = 0.5;

/** The longest time in s that a PE waited for a free buffer. */
async function waitedForRecorder(
  recording: Subject['recording'],
  has: Subject['has'],
): Promise<number> {
  if (!has('sim_stream.waited')) return 0;
  const [{ waited }] = await recording.query<{ waited: number | null }>(
    'SELECT max(waited) / 1000 AS waited FROM (SELECT sum(waited) AS waited FROM sim_stream GROUP BY pe_id)',
  );
  return waited ?? 0;
}

interface Still {
  readonly from: number;
  readonly to: number;
  readonly seconds: number;
  readonly whole: number;
}

export const PAUSE: FindingRule = {
  name: 'pause',
  title: 'a run that was stopped for a while',
  looks:
    'Finds times in which nothing was sampled and no thread of the run ran or was ready to run; for a recorded command, times in which all its threads were stopped (state T).',
  needs: [],
  thresholds: { LONG, MUCH, RAN },
  knob: 'Find out what stopped it (SIGSTOP, a debugger, a batch system that suspends jobs, a paused machine), and exclude that time from comparisons.',
  explains: ['stolen-cpu', 'imbalance', 'network-bound', 'gvt-interval', ...ROLLBACK_SIGNS],
  async run({ recording, has }) {
    const table = has('sim_thread_rate')
      ? SIMULATOR
      : has('process_thread_rate.state')
        ? COMMAND
        : null;
    if (table === null) return { lacks: 'times of threads' };
    const query = sql(table);
    const rows = await recording.query<Still>(query);
    if (rows.length === 0) return [];
    const [longest] = rows;
    const all = rows.reduce((sum, { seconds }) => sum + seconds, 0);
    // A PE that waits for the recorder stands still, too, and so does the recorder, which samples threads.
    if ((await waitedForRecorder(recording, has)) >= EXPLAINED * all) return [];
    const share = all / longest.whole;
    const more = rows.length > 1 ? `, and ${rows.length - 1} more times` : '';
    const why = `for ${percent(share)} of the time, nothing ran`;
    return [
      {
        severity: share >= MUCH.value ? 'problem' : 'notice',
        sentence: `The run stood still for ${short(longest.seconds)} s, from ${longest.from.toFixed(2)} to ${longest.to.toFixed(2)} s${more}: its threads were stopped.`,
        evidence: { sql: query, rows: asRows(rows) },
        ...expecting(this.knob, share, why),
      },
    ];
  },
};
