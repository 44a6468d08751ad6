/**
 * View `rank_on_node`: for each thread of a recorded command and window of time, with its MPI rank, what the thread and
 * its CPU did.
 *
 * ```
 * samples of a thread   |--|--|--|--|--|--|--|   rates between two samples
 * windows                  |--------|--------|   of the node's samples; seconds where there are none
 * ```
 * A thread's shares of a window are means of its rates over the part of the window that its samples cover.
 */
import { atLeastZero, cpuWindows } from './pe-on-node.ts';
import type { Table } from './table.ts';

type Tables = ReadonlyMap<string, Table>;

const STATES = ['user', 'nice', 'system', 'idle', 'iowait', 'steal'];

const has = (tables: Tables, table: string, column: string): boolean =>
  tables.get(table)?.columns.some(({ name }) => name === column) === true;

/** The statement; null where no threads were recorded. */
export function rankOnNode(tables: Tables, schema: string): string | null {
  if (!has(tables, 'process_thread', 'cpu_time')) return null;
  const hasCpu = tables.has('node_cpu');
  const rate = (column: string) =>
    has(tables, 'process_thread', column)
      ? `sum(r.${column} * part) / sum(CASE WHEN r.${column} IS NOT NULL THEN part END)`
      : 'NULL::DOUBLE';
  const windows = hasCpu
    ? 'SELECT DISTINCT host, t0, t FROM one_cpu'
    : `SELECT DISTINCT host, floor(t0) AS t0, floor(t0) + 1 AS t FROM ${schema}.process_thread_rate`;
  const states = STATES.map((state) =>
    hasCpu ? `c."${state}"` : `NULL::DOUBLE AS "${state}"`,
  ).join(', ');
  const ranks = tables.has('process_info')
    ? `SELECT host, process_id, arg_max(rank, t) AS rank, arg_max(name, t) AS name FROM ${schema}.process_info GROUP BY ALL`
    : 'SELECT NULL AS host, NULL AS process_id, NULL AS rank, NULL AS name WHERE false';
  return `CREATE VIEW ${schema}.rank_on_node AS
    WITH ${hasCpu ? `${cpuWindows(tables, schema)},` : ''}
    span AS (${windows}),
    piece AS (
      SELECT r.*, w.t0 AS w0, w.t AS w1, least(r.t, w.t) - greatest(r.t0, w.t0) AS part
      FROM ${schema}.process_thread_rate r JOIN span w
      ON split_part(w.host, '.', 1) = split_part(r.host, '.', 1) AND r.t0 < w.t AND r.t > w.t0),
    placed AS (
      SELECT *, coalesce(lag(cpu) OVER (PARTITION BY host, process_id, thread_id ORDER BY t, w0), cpu) <> cpu AS moved
      FROM piece WHERE part > 0),
    thread AS (
      SELECT host, process_id, thread_id, arg_max(name, t) AS thread, w0, w1, sum(part) AS seconds,
        arg_max(cpu, coalesce(cpu_time, 0) * part) AS cpu, count(DISTINCT cpu) AS cpus,
        count(*) FILTER (moved) AS moves, count(*) AS samples, count(*) FILTER (state = 'D') AS blocked,
        ${rate('cpu_time')} / 1e9 AS running, ${rate('run_queue_wait')} / 1e9 AS waiting,
        ${rate('system_time')} / 1e9 AS in_kernel, ${rate('minor_faults')} AS minor_faults,
        ${rate('major_faults')} AS major_faults
      FROM placed r GROUP BY host, process_id, thread_id, w0, w1)
    SELECT i.rank::INTEGER AS rank, h.host, h.process_id, h.thread_id, i.name AS process, h.thread, h.cpu,
      w0 AS t0, w1 AS t, seconds, running, waiting, in_kernel, cpus, moves, samples, blocked,
      minor_faults, major_faults, ${states},
      ${hasCpu ? atLeastZero('c."user" + c.nice + c.system - running') : 'NULL::DOUBLE'} AS others
    FROM thread h
    LEFT JOIN (${ranks}) i ON i.host = h.host AND i.process_id = h.process_id
    ${hasCpu ? "LEFT JOIN one_cpu c ON c.host = split_part(h.host, '.', 1) AND c.cpu = h.cpu AND c.t0 = w0 AND c.t = w1" : ''}`;
}
