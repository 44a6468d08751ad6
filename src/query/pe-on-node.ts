/**
 * View `pe_on_node`: for each PE and window of time, what the PE and its CPU did.
 *
 * ```
 * samples of a PE   |----|--------|---|------|   changes since the sample before, spread evenly over it
 * samples of a CPU     |--------|--------|       each interval is a window
 * ```
 * A PE's counts are summed up over time and read off, between samples in proportion, at the edges of the windows. That
 * takes two searches a window, however many samples there are.
 */
import {
  EFFICIENCY,
  HANDLED_RATE,
  oneMode,
  ROLLED_BACK_SHARE,
  sqlOf,
} from '../model/measures/index.ts';
import { PHASES } from '../model/schemas/sim.ts';
import type { Table } from './table.ts';

type Tables = ReadonlyMap<string, Table>;

/** Measures of one row. */
const ROW = { metric: (key: string) => key, seconds: 'seconds' };

const has = (table: Table | undefined, column: string): boolean =>
  table?.columns.some(({ name }) => name === column) === true;

/** States of a CPU in `node_cpu`, as in /proc/stat. */
const STATES = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'];
/** What /proc/stat counts of a CPU in a second, over all states. */
const PER_SECOND = 100;
const COUNTS = ['events_processed', 'events_rolled_back', 'total_rollbacks'];
/** Of a PE's thread, in `sim_thread`: nanoseconds. */
const THREAD_TIMES = ['cpu_time', 'run_queue_wait'];
/** Times that it was given a CPU: each is a context switch. */
const SWITCHES = 'timeslices';
/** Time of a PE in the phases that it marks, in `region_phase`: seconds. */
const PHASE_TIMES = PHASES.map((phase) => `${phase}_time`);
/** In `geopm_trace`: Hz, the mean of a host's CPUs. */
const FREQUENCY = 'cpu_frequency_status';

/** Missing stays missing: DuckDB's least and greatest leave it out. */
export const atLeastZero = (value: string): string =>
  `CASE WHEN ${value} < 0 THEN 0 ELSE ${value} END`;

const list = (names: readonly string[], one: (name: string) => string): string =>
  names.map(one).join(', ');

/**
 * `cpu_window`: host, cpu (null: the mean of the host's CPUs), t0, t, and the share of time in each state; null for a
 * state that is not recorded.
 */
export function cpuWindows(tables: Tables, schema: string): string {
  const cpu = tables.get('node_cpu');
  const apart = !has(cpu, 'steal') && tables.has('node_cpu_steal');
  const known = STATES.filter((state) => has(cpu, state) || (state === 'steal' && apart));
  const join = apart
    ? `LEFT JOIN ${schema}.node_cpu_steal_rate s
       ON s.host = c.host AND s.device = c.device AND s.t = c.t`
    : '';
  const share = (state: string) =>
    `${known.includes(state) ? `"${state}" / ${PER_SECOND}` : 'NULL::DOUBLE'} AS "${state}"`;
  return `cpu_time AS (
      SELECT split_part(c.host, '.', 1) AS host, try_cast(c.device AS INTEGER) AS cpu, c.t0, c.t,
        ${list(known, (state) => `"${state}"`)}
      FROM ${schema}.node_cpu_rate c ${join}),
    one_cpu AS (
      SELECT host, cpu, t0, t, ${list(STATES, share)}
      FROM cpu_time WHERE cpu IS NOT NULL),
    cpu_window AS (
      SELECT * FROM one_cpu UNION ALL
      SELECT host, NULL, t0, t, ${list(STATES, (state) => `avg("${state}")`)}
      FROM one_cpu GROUP BY host, t0, t)`;
}

/** Each PE with the windows of its CPU. */
const peWindows = (schema: string): string => `pe_window AS (
      SELECT p.pe AS pe_id, p.host, p.cpu, c.* EXCLUDE (host, cpu)
      FROM ${schema}.pes p JOIN cpu_window c
      ON c.host = split_part(p.host, '.', 1) AND c.cpu IS NOT DISTINCT FROM p.cpu)`;

/** Windows where there are no node counters: the intervals of the threads' samples. */
const threadWindows = (schema: string, rates: string): string => `pe_window AS (
  SELECT p.pe AS pe_id, p.host, p.cpu, r.t0, r.t, ${list(STATES, (state) => `NULL::DOUBLE AS "${state}"`)}
  FROM ${rates} r JOIN ${schema}.pes p ON p.pe = r.pe_id)`;

/** `sample`: of each PE, its samples as intervals s0 to s1, with changes and the totals before. */
function samples(tables: Tables, schema: string): string {
  const mode = has(tables.get('ross_pe'), 'mode') ? `WHERE ${oneMode(`${schema}.ross_pe`)}` : '';
  // Samples of one moment are one; the first covers the time since PEs began, or since the run's zero.
  return `moment AS (
      SELECT pe_id, t, min(t - real_time) + (SELECT coalesce(began, 0) FROM ${schema}.recording) AS zero, ${list(COUNTS, (one) => `sum(${one}::DOUBLE) AS ${one}`)}
      FROM ${schema}.ross_pe ${mode} GROUP BY pe_id, t),
    sample AS (
      SELECT pe_id, least(coalesce(lag(t) OVER w, zero), t - 1e-9) AS s0, t AS s1, ${COUNTS.join(', ')},
        ${list(COUNTS, (one) => `sum(${one}) OVER w - ${one} AS ${one}_before`)}
      FROM moment WINDOW w AS (PARTITION BY pe_id ORDER BY t))`;
}

/** Rates of PEs' threads: of the simulator's own, or of a recorded command's that are PEs. */
function threadRates(tables: Tables, schema: string): string | null {
  if (tables.has('sim_thread')) return `${schema}.sim_thread_rate`;
  if (![...THREAD_TIMES, SWITCHES].every((one) => has(tables.get('process_thread'), one)))
    return null;
  return `(SELECT p.pe AS pe_id, r.t0, r.t, ${[...THREAD_TIMES, SWITCHES].map((one) => `r.${one}`).join(', ')}
    FROM ${schema}.process_thread_rate r JOIN ${schema}.pes p
    ON p.thread_id = r.thread_id AND split_part(p.host, '.', 1) = split_part(r.host, '.', 1))`;
}

/** `thread`: the same of the threads' times, in seconds, and switches, since the thread's first sample. */
function threads(rates: string): string {
  const span = (amount: string) =>
    `${amount} * (t - t0)${amount === SWITCHES ? '' : ' / 1e9'} AS ${amount}`;
  const before = (amount: string) =>
    `coalesce(sum(${amount}) OVER w, 0) - coalesce(${amount}, 0) AS ${amount}_before`;
  const all = [...THREAD_TIMES, SWITCHES];
  return `thread AS (
      SELECT *, ${list(all, before)}
      FROM (SELECT pe_id, t0 AS s0, t AS s1, ${list(all, span)} FROM ${rates})
      WINDOW w AS (PARTITION BY pe_id ORDER BY s1))`;
}

/** `phase`: the same of the phases that PEs mark. */
function phases(schema: string): string {
  const total = (time: string, k: number) =>
    `max("time") FILTER (region = '${PHASES[k]}') AS ${time}`;
  const before = (time: string) => `coalesce(lag(${time}) OVER w, 0)`;
  const span = (time: string) =>
    `${before(time)} AS ${time}_before, ${time} - ${before(time)} AS ${time}`;
  return `phase_total AS (
      SELECT pe_id, t, ${PHASE_TIMES.map(total).join(', ')} FROM ${schema}.region_phase GROUP BY pe_id, t),
    phase AS (
      SELECT * FROM (SELECT pe_id, lag(t) OVER w AS s0, t AS s1, ${list(PHASE_TIMES, span)}
        FROM phase_total WINDOW w AS (PARTITION BY pe_id ORDER BY t)) WHERE s1 > s0)`;
}

/** `frequency`: Hz, the mean of the host's CPUs in each window. */
const frequencies = (schema: string): string => `frequency AS (
      SELECT w.pe_id, w.t0, w.t, avg(g.${FREQUENCY}) AS frequency
      FROM pe_window w JOIN ${schema}.geopm_trace g
      ON split_part(g.host, '.', 1) = split_part(w.host, '.', 1) AND g.t > w.t0 AND g.t <= w.t GROUP BY ALL)`;

/** `NAME_at`: totals of table `name` at the edges; and `NAME_extent`: the time that it covers. */
function atEdges(name: string, amounts: readonly string[]): string {
  const share = 'least(1, (e.edge - f.s0) / (f.s1 - f.s0))';
  // Before the first interval nothing was counted; within an interval whose count is missing, the count is not known.
  const total = (one: string) =>
    `CASE WHEN f.s0 IS NULL THEN 0 ELSE f.${one}_before + ${share} * f.${one} END AS ${one}`;
  return `${name}_at AS (
      SELECT e.pe_id, e.edge, ${list(amounts, total)}
      FROM edge e ASOF LEFT JOIN ${name} f ON e.pe_id = f.pe_id AND e.edge >= f.s0),
    ${name}_extent AS (
      SELECT pe_id, min(s0) AS from_t, max(s1) AS to_t FROM ${name} GROUP BY pe_id)`;
}

/** What `name` counted within each window: columns, and joins to `pe_window w`. */
function within(name: string, amounts: readonly string[], seconds: string) {
  const [a, b, x] = ['a', 'b', 'x'].map((letter) => `${name}_${letter}`);
  return {
    columns: `${list(amounts, (one) => `${b}.${one} - ${a}.${one} AS ${one}`)},
      CASE WHEN ${x}.from_t IS NOT NULL THEN least(w.t, ${x}.to_t) - greatest(w.t0, ${x}.from_t) END AS ${seconds}`,
    joins: `LEFT JOIN ${name}_at ${a} ON ${a}.pe_id = w.pe_id AND ${a}.edge = w.t0
      LEFT JOIN ${name}_at ${b} ON ${b}.pe_id = w.pe_id AND ${b}.edge = w.t
      LEFT JOIN ${name}_extent ${x} ON ${x}.pe_id = w.pe_id`,
  };
}

/** The statement; null where the recording does not have what it takes. */
export function peOnNode(tables: Tables, schema: string): string | null {
  const hasCpu = tables.has('node_cpu');
  const rates = threadRates(tables, schema);
  const hasThread = rates !== null;
  const pe = tables.get('ross_pe');
  // Records of 2017 have neither real times in all forms nor events per PE.
  if (!['real_time', ...COUNTS].every((column) => has(pe, column))) return null;
  if (!(hasCpu || hasThread)) return null;
  const counts = within('sample', COUNTS, 'seconds');
  const times = within('thread', [...THREAD_TIMES, SWITCHES], 'thread_seconds');
  const inPhases = within('phase', PHASE_TIMES, 'phase_seconds');
  const hasPhases = has(tables.get('region_phase'), 'region');
  const trace = tables.get('geopm_trace');
  const hasFrequency = has(trace, FREQUENCY) && has(trace, 'host');
  const parts = [
    ...(hasCpu
      ? [cpuWindows(tables, schema), peWindows(schema)]
      : [threadWindows(schema, rates ?? '')]),
    'edge AS (SELECT pe_id, t0 AS edge FROM pe_window UNION SELECT pe_id, t FROM pe_window)',
    samples(tables, schema),
    atEdges('sample', COUNTS),
    ...(hasThread ? [threads(rates), atEdges('thread', [...THREAD_TIMES, SWITCHES])] : []),
    ...(hasPhases ? [phases(schema), atEdges('phase', PHASE_TIMES)] : []),
    ...(hasFrequency ? [frequencies(schema)] : []),
    `joined AS (
      SELECT w.*, ${counts.columns}${hasThread ? `, ${times.columns}` : ''}
        ${hasPhases ? `, ${inPhases.columns}` : ''}${hasFrequency ? ', frequency' : ''}
      FROM pe_window w ${counts.joins} ${hasThread ? times.joins : ''} ${hasPhases ? inPhases.joins : ''}
      ${hasFrequency ? 'LEFT JOIN frequency q ON q.pe_id = w.pe_id AND q.t0 = w.t0 AND q.t = w.t' : ''})`,
  ];
  const running = hasThread
    ? 'CASE WHEN thread_seconds > 0 THEN cpu_time / thread_seconds END'
    : 'NULL::DOUBLE';
  const waiting = hasThread
    ? 'CASE WHEN thread_seconds > 0 THEN run_queue_wait / thread_seconds END'
    : 'NULL::DOUBLE';
  const switches = hasThread
    ? `CASE WHEN thread_seconds > 0 THEN ${SWITCHES} / thread_seconds END`
    : 'NULL::DOUBLE';
  const inside = (time: string) =>
    hasPhases ? `CASE WHEN phase_seconds > 0 THEN ${time} / phase_seconds END` : 'NULL::DOUBLE';
  const [gvt, commit] = PHASE_TIMES;
  const region = hasPhases
    ? `CASE WHEN phase_seconds > 0 THEN
        CASE WHEN phase_seconds - ${gvt} - ${commit} >= greatest(${gvt}, ${commit}) THEN 'events'
        WHEN ${gvt} >= ${commit} THEN 'gvt' ELSE 'commit' END END`
    : 'NULL::VARCHAR';
  return `CREATE VIEW ${schema}.pe_on_node AS
    WITH ${parts.join(',\n')}
    SELECT pe_id, host, cpu, t0, t, seconds, ${COUNTS.join(', ')},
      ${sqlOf(HANDLED_RATE, ROW)} AS events_per_s,
      ${sqlOf(ROLLED_BACK_SHARE, ROW)} / 100 AS rolled_back,
      ${sqlOf(EFFICIENCY, ROW)} AS efficiency,
      "user", nice, system, idle, iowait, irq + softirq AS interrupts, steal,
      ${running} AS running, ${waiting} AS waiting,
      ${atLeastZero(`CASE WHEN cpu IS NOT NULL THEN "user" + nice + system - (${running}) END`)} AS others,
      ${hasFrequency ? 'frequency' : 'NULL::DOUBLE'} AS frequency, ${switches} AS context_switches,
      ${region} AS region, ${inside(gvt)} AS in_gvt, ${inside(commit)} AS in_commit
    FROM joined WHERE seconds > 0`;
}
