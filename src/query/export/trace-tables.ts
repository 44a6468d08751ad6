/** For each table that is drawn, its statement and the stream of trace events. */

import type { DuckDBConnection } from '@duckdb/node-api';
import type { TraceStream } from '../../formats/trace-event/index.ts';
import { oneMode } from '../../model/measures/index.ts';
import { quoteName, quoteText } from '../../model/sql.ts';
import type { LpThreads } from './trace-places.ts';
import { CounterStream, InstantStream, RegionStream } from './trace-streams.ts';
import { columnsOf } from './vectors.ts';

/** A process of the trace that is no PE. */
export interface NamedProcess {
  readonly pid: number;
  readonly name: string;
  /** Those that have tracks of their own, with their names. */
  readonly threads?: ReadonlyMap<number, string>;
}

/** Processes of a recorded command by `HOST NUMBER`, and the names of their threads by `HOST NUMBER THREAD`. */
export interface CommandProcesses {
  readonly pids: ReadonlyMap<string, number>;
  readonly threads: ReadonlyMap<string, string>;
}

export interface TraceTables {
  readonly connection: DuckDBConnection;
  /** SQL name of a table of this recording whose rows have a time; null where there is none. */
  table(name: string): string | null;
  /** The same of a table that needs no time. */
  untimed(name: string): string | null;
  /** A table's columns; none where there is no table. */
  columns(
    name: string,
  ): readonly { readonly name: string; readonly type: string; readonly unit: string }[];
  /** Condition on column `t`. */
  readonly within: string;
  /** SQL of a row's seconds since the start of the trace, from column `t`. */
  readonly seconds: string;
  readonly base: number;
  readonly places: LpThreads;
}

/** Process numbers after those of PEs, within a recording's range of numbers. */
export const WHOLE = 1_000_000;
const HOSTS = 1_000_001;
const PROCESSES = 1_100_000;
const COMMANDS = 1_500_000;

type Types = readonly ('DOUBLE' | 'UINTEGER' | 'VARCHAR')[];
const HEAD: Types = ['DOUBLE', 'UINTEGER', 'VARCHAR'];
const doubles = (count: number): Types => Array.from({ length: count }, () => 'DOUBLE' as const);

async function counters(
  { connection, base, within, seconds }: TraceTables,
  from: string,
  pid: string,
  name: string,
  series: Readonly<Record<string, string>>,
  where = 'true',
): Promise<CounterStream> {
  const keys = Object.keys(series);
  const list = keys.map((key) => `(${series[key]})::DOUBLE`);
  const columns = await columnsOf(
    connection,
    `SELECT ${seconds}, (${pid})::UINTEGER, ${name}, ${list.join(', ')} FROM ${from}
      WHERE ${within} AND ${where} ORDER BY t, 2, 3`,
    [...HEAD, ...doubles(keys.length)],
  );
  return new CounterStream(columns, keys, base);
}

/** Counters of PEs, and GVT. */
export async function peCounters(tables: TraceTables): Promise<TraceStream[]> {
  const pe = tables.table('ross_pe');
  const streams: TraceStream[] = [];
  if (pe !== null) {
    const has = (name: string) => tables.columns('ross_pe').some((one) => one.name === name);
    const mode = has('mode') ? oneMode(pe) : 'true';
    const track = async (name: string, series: Readonly<Record<string, string>>) => {
      const there = Object.entries(series).filter(([, column]) => has(column));
      if (there.length === 0 || !has('pe_id')) return;
      const from = [tables, pe, 'pe_id', quoteText(name)] as const;
      streams.push(await counters(...from, Object.fromEntries(there), mode));
    };
    await track('events since the last sample', {
      processed: 'events_processed',
      'rolled back': 'events_rolled_back',
    });
    await track('efficiency (%)', { efficiency: 'efficiency' });
    await track('events pending', { events: 'priority_queue_size' });
    const gvt = has('gvt') ? 'gvt' : 'virtual_time';
    // The first PE to know a GVT stands for all. At the end of a run GVT is infinite.
    if (has(gvt) && has('mode')) {
      const from = `(SELECT min(t) AS t, ${gvt} AS gvt FROM ${pe} WHERE ${mode} AND ${gvt} < 1e300 GROUP BY ${gvt})`;
      streams.push(await counters(tables, from, String(WHOLE), "'GVT'", { gvt: 'gvt' }));
    }
  }
  const thread = tables.table('sim_thread_rate');
  if (thread !== null) {
    const share = { running: 'cpu_time / 1e9', waiting: 'run_queue_wait / 1e9' };
    streams.push(await counters(tables, thread, 'pe_id', "'thread (share of time)'", share));
  }
  return streams;
}

export async function rollbacks(tables: TraceTables): Promise<TraceStream[]> {
  const { connection, within, seconds, places } = tables;
  const table = tables.table('ross_rollback');
  if (table === null) return [];
  const numbers = [
    ...['events_undone', 'depth', 'straggler_recv_time', 'source_pe', 'source_lp'],
    ...['rollback_id', 'parent_pe', 'parent_id'],
  ];
  const columns = await columnsOf(
    connection,
    `SELECT ${seconds}, pe_id, kp_id, 'rollback', ${numbers.map((one) => `${one}::DOUBLE`).join(', ')}, cause
      FROM ${table} WHERE ${within} ORDER BY t, pe_id, kp_id, rollback_id`,
    ['DOUBLE', 'UINTEGER', 'UINTEGER', 'VARCHAR', ...doubles(numbers.length), 'VARCHAR'],
  );
  const keys = [...numbers, 'cause'];
  return [new InstantStream(columns, 'rollback', keys, (pe, kp) => places.lane(pe, kp))];
}

const NUMBER = /^(U?(TINY|SMALL|BIG)?INT(EGER)?|FLOAT|DOUBLE)$/;
const NO_SERIES = new Set(['t', 't0', 'time', 'real_time', 'process']);

const seriesOf = (tables: TraceTables, name: string) =>
  tables
    .columns(name)
    .filter((column) => NUMBER.test(column.type) && !NO_SERIES.has(column.name))
    .filter((column) => !/(^|_)hash(_|$)/.test(column.name));

/** All counters of hosts: rates of what counts, values of what does not. One track a device. */
export async function nodeCounters(
  tables: TraceTables,
  names: readonly string[],
): Promise<{ streams: TraceStream[]; processes: NamedProcess[] }> {
  const { connection, base } = tables;
  const streams: TraceStream[] = [];
  const hosts = new Set<string>();
  const own = names.filter((name) => /^(node_|geopm_(trace|session)$)/.test(name));
  const chosen = own.filter((name) => !own.includes(`${name}_rate`));
  for (const name of chosen) {
    const table = tables.table(name);
    if (table === null) continue;
    for (const host of await textsOf(connection, `SELECT DISTINCT host FROM ${table}`))
      hosts.add(host);
  }
  const list = [...hosts].sort();
  const pid = `${HOSTS} + list_position([${list.map(quoteText).join(', ')}], coalesce(host, ''))`;
  for (const name of chosen) {
    const table = tables.table(name);
    const columns = tables.columns(name);
    const has = (column: string) => columns.some((one) => one.name === column);
    if (table === null) continue;
    const series = seriesOf(tables, name);
    const short = name.replace(/^node_/, '').replace(/_rate$/, ' per s');
    if (name.startsWith('geopm_')) {
      for (const one of series) {
        const title = quoteText(one.unit === '' ? one.name : `${one.name} (${one.unit})`);
        const value = { [one.name]: quoteName(one.name) };
        streams.push(await counters(tables, table, pid, title, value));
      }
      continue;
    }
    const title = has('device')
      ? `${quoteText(`${short} `)} || coalesce(device, '')`
      : quoteText(short);
    const values = Object.fromEntries(series.map((one) => [one.name, quoteName(one.name)]));
    if (series.length > 0) streams.push(await counters(tables, table, pid, title, values));
  }
  // list_position counts from 1.
  const processes = list.map((name, k) => ({
    pid: base + HOSTS + k + 1,
    name: name === '' ? 'host' : `host ${name}`,
  }));
  return { streams, processes };
}

/** Threads of a recorded command: running, waiting, and the CPU. One process of the trace for each of its processes. */
export async function threadCounters(
  tables: TraceTables,
): Promise<{ streams: TraceStream[]; processes: NamedProcess[]; known: CommandProcesses }> {
  const rates = tables.table('process_thread_rate');
  const none = { pids: new Map<string, number>(), threads: new Map<string, string>() };
  if (rates === null) return { streams: [], processes: [], known: none };
  const { connection, base } = tables;
  const keys = await textsOf(
    connection,
    `SELECT DISTINCT host || ' ' || process_id FROM ${rates} ORDER BY ALL`,
  );
  const infos = tables.untimed('process_info');
  const names = new Map(
    infos === null
      ? []
      : (
          await textsOf(
            connection,
            `SELECT host || ' ' || process_id || '|' || coalesce('rank ' || arg_max(rank, t)::INTEGER || ' ', '') || coalesce(arg_max(name, t), '')
              FROM ${infos} GROUP BY host, process_id`,
          )
        ).map((text) => splitAt(text, text.indexOf('|'))),
  );
  const list = keys.map(quoteText).join(', ');
  const pid = `${COMMANDS} + list_position([${list}], host || ' ' || process_id)`;
  const has = (column: string) =>
    tables.columns('process_thread_rate').some(({ name }) => name === column);
  const share = {
    running: 'cpu_time / 1e9',
    ...(has('run_queue_wait') && { waiting: 'run_queue_wait / 1e9' }),
  };
  const title = (what: string) =>
    `'thread ' || thread_id || ' ' || coalesce(name, '') || ${quoteText(what)}`;
  const streams = [
    await counters(tables, rates, pid, title(' (share of time)'), share),
    await counters(tables, rates, pid, title(' on CPU'), { cpu: 'cpu' }),
  ];
  const processes = keys.map((key, k) => {
    const [host, process] = key.split(' ');
    const name = `${names.get(key) ?? ''} process ${process} ${host}`.trim();
    return { pid: base + COMMANDS + k + 1, name };
  });
  const threads = await textsOf(
    connection,
    `SELECT host || ' ' || process_id || ' ' || thread_id || '|' || coalesce(arg_max(name, t), '')
      FROM ${rates} GROUP BY host, process_id, thread_id`,
  );
  const known = {
    pids: new Map(keys.map((key, k) => [key, COMMANDS + k + 1])),
    threads: new Map(threads.map((text) => splitAt(text, text.indexOf('|')))),
  };
  return { streams, processes, known };
}

const splitAt = (text: string, at: number): [string, string] => [
  text.slice(0, at),
  text.slice(at + 1),
];

/** Regions of processes, as their entries and exits nest: those of a recorded command are drawn on its threads. */
export async function regions(
  tables: TraceTables,
  command: CommandProcesses,
): Promise<{ streams: TraceStream[]; processes: NamedProcess[] }> {
  const { connection, within, seconds, base } = tables;
  const profile = tables.table('geopm_profile_trace');
  if (profile === null) return { streams: [], processes: [] };
  const report = tables.untimed('geopm_region');
  const names =
    report === null
      ? '(SELECT NULL::UINTEGER AS hash, NULL AS region WHERE false)'
      : `(SELECT hash, any_value(region) AS region FROM ${report} WHERE section = 'region' GROUP BY hash)`;
  const inside = `FROM ${profile} WHERE event IN ('REGION_ENTRY', 'REGION_EXIT') AND ${within}`;
  // Traces of GEOPM do not tell threads apart.
  const hasThreads = tables.columns('geopm_profile_trace').some(({ name }) => name === 'thread');
  const tid = hasThreads ? 'coalesce(thread, 0)::UINTEGER' : '0::UINTEGER';
  const key = "coalesce(host, '') || ' ' || process::BIGINT";
  const keys = await textsOf(connection, `SELECT DISTINCT ${key} ${inside} ORDER BY ALL`);
  if (keys.length === 0) return { streams: [], processes: [] };
  const list = keys.map(quoteText).join(', ');
  const numbers = keys.map((of, k) => command.pids.get(of) ?? PROCESSES + k + 1);
  const pid = `list_extract([${numbers.join(', ')}], list_position([${list}], ${key}))::UINTEGER`;
  const columns = await columnsOf(
    connection,
    `SELECT ${seconds}, ${pid}, ${tid},
        coalesce(n.region, printf('0x%08x', hash)), (event = 'REGION_ENTRY')::UINTEGER
      FROM (SELECT *, row_number() OVER () AS row ${inside}) LEFT JOIN ${names} n USING (hash) ORDER BY t, row`,
    ['DOUBLE', 'UINTEGER', 'UINTEGER', 'VARCHAR', 'UINTEGER'],
  );
  const [pids, tids] = [columns.integers(1), columns.integers(2)];
  const processes = keys.map((key, k) => {
    const [host, process] = key.split(' ');
    const own = numbers[k];
    const there = hasThreads ? [...new Set(tids.filter((_, row) => pids[row] === own))] : [];
    const threads = new Map(
      there.map((tid) => [
        tid,
        `thread ${tid} ${command.threads.get(`${key} ${tid}`) ?? ''}`.trim(),
      ]),
    );
    return { pid: base + own, name: `regions of process ${process} ${host}`.trim(), threads };
  });
  return { streams: [new RegionStream(columns, base)], processes };
}

async function textsOf(connection: DuckDBConnection, sql: string): Promise<string[]> {
  const rows = await connection.runAndReadAll(sql);
  return rows.getRowsJS().map(([text]) => String(text ?? ''));
}
