/** The tables of a report: PEs beside their CPUs, regions, hosts. */
import { countedIn } from '../findings/samples.ts';
import {
  CPU_IDLE,
  CPU_STOLEN,
  CPU_SYSTEM,
  CPU_USER,
  HANDLED_RATE,
  meanOver,
  oneMode,
  PACKAGE_ENERGY,
  POWER,
  ROLLED_BACK_SHARE,
  RUNTIME,
  SYNC_RUNTIME,
  sqlOf,
  VISITS,
} from '../model/measures/index.ts';
import { quoteName } from '../model/sql.ts';
import type { OpenRecording, Row } from '../query/index.ts';

export interface ReportTable {
  /** Key of `--json`. */
  readonly key: 'pes' | 'threads' | 'regions' | 'hosts' | 'notes';
  readonly title: string;
  readonly rows: readonly Row[];
}

/** Whether there is a table, or a column `table.column`. */
export type Has = (name: string) => boolean;

/** Threads that are listed: those that ran most. */
const MOST_THREADS = 40;

/** Columns of `pe_on_node` are shares of a CPU's time: hundredths a second are a hundred times that. */
const PE_STATES = {
  metric: (state: string) =>
    state === 'irq' ? '100 * sum(interrupts * seconds)' : `100 * sum("${state}" * seconds)`,
  has: (state: string) => state !== 'softirq',
};

/** A share of time as per cent. */
const shareOf = (column: string) => `100 * ${meanOver(column)} AS "${column} %"`;

const PES_ON_NODE = `SELECT pe_id AS pe, any_value(host) AS host, any_value(cpu) AS cpu,
  ${sqlOf(HANDLED_RATE)} AS "events/s",
  ${sqlOf(ROLLED_BACK_SHARE)} AS "rolled back %",
  ${[CPU_USER, CPU_SYSTEM, CPU_STOLEN].map((share) => `${sqlOf(share, PE_STATES)} AS "${share.label} %"`).join(', ')},
  ${shareOf('waiting')}
FROM pe_on_node GROUP BY pe_id ORDER BY pe_id`;

const pes = (table: string) => `SELECT pe_id AS pe, sum(events_processed) AS events,
  ${sqlOf(ROLLED_BACK_SHARE)} AS "rolled back %"
FROM ${table} WHERE ${oneMode(table)} GROUP BY pe_id ORDER BY pe_id`;

const THREADS = `SELECT any_value(rank) AS rank, host, process_id AS process, thread_id AS thread, any_value(thread) AS name,
  arg_max(cpu, running * seconds) AS cpu, sum(seconds) AS seconds,
  ${['running', 'waiting', 'others'].map(shareOf).join(', ')}, 100 * sum(blocked) / sum(samples) AS "blocked %"
FROM rank_on_node GROUP BY host, process_id, thread_id ORDER BY sum(running * seconds) DESC, thread LIMIT ${MOST_THREADS}`;

/** Columns that old reports lack are left out. */
const regions = (has: Has): string => {
  const columns = [
    ...[RUNTIME, SYNC_RUNTIME, VISITS, PACKAGE_ENERGY, POWER].map(({ key, label, unit }) => ({
      key,
      name: unit === '' ? label : `${label} ${unit}`,
    })),
    { key: 'frequency_percent', name: 'frequency %' },
  ].filter(({ key }) => has(`geopm_region.${key}`));
  const list = columns.map(({ key, name }) => `${quoteName(key)} AS ${quoteName(name)}`);
  return `SELECT CASE WHEN section = 'region' THEN region ELSE section END AS region, host${list.map((one) => `, ${one}`).join('')}
FROM geopm_region ORDER BY host, CASE section WHEN 'region' THEN 0 WHEN 'unmarked' THEN 1 WHEN 'epoch' THEN 2 ELSE 3 END,
  ${has('geopm_region.runtime') ? 'runtime DESC, ' : ''}region`;
};

/** Columns of `cpu_rate`: the states of a CPU that the recording has. */
export const cpuStates =
  (has: Has): ((state: string) => boolean) =>
  (state) =>
    has(`node_cpu_rate.${state}`) || (state === 'steal' && has('node_cpu_steal_rate.steal'));

/**
 * `cpu_rate`: hundredths of a second a second, of each host's CPUs. Steal is a type of its own in raw stats of this
 * collector, a key of `cpu` in those of others, or missing.
 */
export function cpuRates(has: Has): string {
  const apart = has('node_cpu_steal_rate.steal') && !has('node_cpu_rate.steal');
  const join = apart
    ? 'LEFT JOIN node_cpu_steal_rate s ON s.host = c.host AND s.device = c.device AND s.t = c.t'
    : '';
  return `cpu_rate AS (SELECT c.* REPLACE (split_part(c.host, '.', 1) AS host)${apart ? ', s.steal' : ''}
  FROM node_cpu_rate c ${join})`;
}

const hosts = (has: Has): string => {
  const inputs = {
    metric: (state: string) => `sum("${state}" * (t - t0))`,
    seconds: 'sum(t - t0)',
    has: cpuStates(has),
  };
  const shares = [CPU_USER, CPU_SYSTEM, CPU_STOLEN, CPU_IDLE].map(
    (share) => `${sqlOf(share, inputs)} AS "${share.label} %"`,
  );
  return `WITH ${cpuRates(has)}
SELECT host, count(DISTINCT device) AS cpus, sum(t - t0) / count(DISTINCT device) AS seconds,
  ${shares.join(',\n  ')}
FROM cpu_rate GROUP BY host ORDER BY host`;
};

const NOTES = 'SELECT t AS "from s", t1 AS "to s", text FROM note ORDER BY t';

export const CPU_COLUMNS = ['user', 'system', 'idle'];

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
      key: 'threads',
      title: 'Threads',
      rows: has('rank_on_node') ? await recording.query(THREADS) : [],
    },
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
    {
      key: 'notes',
      title: 'Notes',
      rows: has('note.text') ? await recording.query(NOTES) : [],
    },
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}
