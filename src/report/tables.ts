/** The tables of a report: PEs beside their CPUs, regions, hosts. */
import { countedIn, oneMode } from '../findings/samples.ts';
import type { OpenRecording, Row } from '../query/index.ts';

export interface ReportTable {
  /** Key of `--json`. */
  readonly key: 'pes' | 'regions' | 'hosts';
  readonly title: string;
  readonly rows: readonly Row[];
}

/** Whether there is a table, or a column `table.column`. */
export type Has = (name: string) => boolean;

const PES_ON_NODE = `SELECT pe_id AS pe, any_value(host) AS host, any_value(cpu) AS cpu,
  sum(events_processed) / sum(seconds) AS "events/s",
  100 * sum(events_rolled_back) / greatest(1, sum(events_processed)) AS "rolled back %",
  100 * sum("user" * seconds) / sum(seconds) AS "user %",
  100 * sum(system * seconds) / sum(seconds) AS "system %",
  100 * sum(steal * seconds) / sum(seconds) AS "steal %",
  100 * sum(waiting * seconds) / sum(seconds) AS "waiting %"
FROM pe_on_node GROUP BY pe_id ORDER BY pe_id`;

const pes = (table: string) => `SELECT pe_id AS pe, sum(events_processed) AS events,
  100 * sum(events_rolled_back) / greatest(1, sum(events_processed)) AS "rolled back %"
FROM ${table} WHERE ${oneMode(table)} GROUP BY pe_id ORDER BY pe_id`;

/** Columns that old reports lack are left out. */
const regions = (has: Has): string => {
  const columns = [
    ['runtime', '"runtime s"'],
    ['sync_runtime', '"all CPUs s"'],
    ['count', 'visits'],
    ['package_energy', '"package J"'],
    ['power', '"power W"'],
    ['frequency_percent', '"frequency %"'],
  ].filter(([column]) => has(`geopm_region.${column}`));
  const list = columns.map(([column, name]) => `${column} AS ${name}`);
  return `SELECT CASE WHEN section = 'region' THEN region ELSE section END AS region, host${list.map((one) => `, ${one}`).join('')}
FROM geopm_region ORDER BY host, CASE section WHEN 'region' THEN 0 WHEN 'unmarked' THEN 1 WHEN 'epoch' THEN 2 ELSE 3 END,
  ${has('geopm_region.runtime') ? 'runtime DESC, ' : ''}region`;
};

/**
 * `rate`: of each host's CPUs, shares of time in each interval. Steal is a type of its own in raw stats of our collector,
 * a key of `cpu` elsewhere, or told by nobody.
 */
export function cpuShares(has: Has): string {
  const apart = has('node_cpu_steal_rate.steal');
  const steal = has('node_cpu_rate.steal') ? 'c.steal' : apart ? 's.steal' : '0';
  const join = apart
    ? 'LEFT JOIN node_cpu_steal_rate s ON s.host = c.host AND s.device = c.device AND s.t = c.t'
    : '';
  return `counted_time AS (
  SELECT split_part(c.host, '.', 1) AS host, c.device, c.t0, c.t, c."user", c.nice, c.system, c.idle, c.iowait,
    coalesce(${steal}, 0) AS steal,
    c."user" + coalesce(c.nice, 0) + c.system + c.idle + coalesce(c.iowait, 0) + coalesce(${steal}, 0) AS total
  FROM node_cpu_rate c ${join}),
rate AS (SELECT host, device, t0, t, ("user" + coalesce(nice, 0)) / total AS "user", system / total AS system,
    steal / total AS steal, idle / total AS idle
  FROM counted_time WHERE total > 0)`;
}

const hosts = (has: Has): string => `WITH ${cpuShares(has)}
SELECT host, count(DISTINCT device) AS cpus, sum(t - t0) / count(DISTINCT device) AS seconds,
  100 * sum("user" * (t - t0)) / sum(t - t0) AS "user %",
  100 * sum(system * (t - t0)) / sum(t - t0) AS "system %",
  100 * sum(steal * (t - t0)) / sum(t - t0) AS "steal %",
  100 * sum(idle * (t - t0)) / sum(t - t0) AS "idle %"
FROM rate GROUP BY host ORDER BY host`;

export const CPU_COLUMNS = ['user', 'nice', 'system', 'idle', 'iowait'];

async function peRows(recording: OpenRecording, has: Has): Promise<readonly Row[]> {
  if (has('pe_on_node')) {
    const rows = await recording.query(PES_ON_NODE);
    // A run too short for one interval of the node's counters has none.
    if (rows.length > 0) return rows;
  }
  const table = countedIn(has, 'events_processed', 'events_rolled_back');
  return table === null ? [] : recording.query(pes(table));
}

/** Tables that have rows. */
export async function tablesOf(recording: OpenRecording, has: Has): Promise<ReportTable[]> {
  const tables: ReportTable[] = [
    { key: 'pes', title: 'PEs', rows: await peRows(recording, has) },
    {
      key: 'regions',
      title: 'Regions',
      rows: has('geopm_region.section') ? await recording.query(regions(has)) : [],
    },
    {
      key: 'hosts',
      title: 'Hosts',
      rows: CPU_COLUMNS.every((column) => has(`node_cpu_rate.${column}`))
        ? await recording.query(hosts(has))
        : [],
    },
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}
