/** A recording as a trace: see docs/export.md for what is drawn where. */
import type { DuckDBConnection } from '@duckdb/node-api';
import {
  blocksOf,
  type DrawnEvents,
  drawn,
  joined,
  type LinkCounts,
  link,
  type TraceStream,
  TraceWriter,
} from '../../formats/trace-event/index.ts';
import { quoteName, quoteText } from '../../model/sql.ts';
import { InputError } from '../errors.ts';
import type { Table } from '../table.ts';
import type { TimeRange } from '../time-range.ts';
import type { ExportOptions } from './options.ts';
import type { PlacedRecording } from './placed.ts';
import type { Sink } from './sink.ts';
import { columnsOfTable } from './table-columns.ts';
import { LpThreads, placeLps, UNPLACED } from './trace-places.ts';
import {
  type NamedProcess,
  nodeCounters,
  peCounters,
  regions,
  rollbacks,
  type TraceTables,
  threadCounters,
  WHOLE,
} from './trace-tables.ts';
import type { TraceThreads, WrittenBlock } from './trace-threads.ts';
import { columnsOf } from './vectors.ts';

/** Events that one trace may have: about 80 bytes each in memory, and far more than viewers open. */
const MOST_EVENTS = 20_000_000;
/** Process numbers of a recording. */
const RANGE = 2_000_000;
/** Longest duration of a slice where the durations of events are not known, ns. */
const UNKNOWN_DURATION_NS = 1000;

interface Drawn {
  readonly events: DrawnEvents | null;
  readonly counts: LinkCounts;
  readonly streams: readonly TraceStream[];
  readonly places: LpThreads;
  /** PEs with samples. */
  readonly sampled: readonly number[];
  readonly processes: readonly NamedProcess[];
  readonly notes: readonly string[];
}

/** Returns the number of trace events, and what to know about them. @throws InputError, DuckDB's error, a file system's error */
export async function traceTo(
  connection: DuckDBConnection,
  recordings: readonly PlacedRecording[],
  sink: Sink,
  options: ExportOptions,
  threads: TraceThreads,
): Promise<{ rows: number; notes: string[] }> {
  const out = new TraceWriter({
    exporter: 'triscope',
    recordings: recordings.map(({ sources }) => sources.name).join(', '),
    slices: 'last as long as events of their PE take on average, at most to its next one',
  });
  const all: Drawn[] = [];
  for (const [k, recording] of recordings.entries()) {
    const one = await draw(connection, recording, k * RANGE, options);
    all.push(one);
    const prefix = recordings.length > 1 ? `${recording.sources.name}: ` : '';
    for (const step of naming(out, recording, one, k * RANGE, prefix)) {
      step();
      if (out.full) await sink.write(Buffer.from(out.take()));
    }
  }
  const traced = all.flatMap(({ events }) => (events === null ? [] : [events]));
  const events = traced.length === 0 ? null : joined(traced);
  threads.use(events);
  const waiting: Promise<WrittenBlock>[] = [];
  let last: WrittenBlock | null = null;
  const pass = async (): Promise<void> => {
    const written = await (waiting.shift() as Promise<WrittenBlock>);
    for (const part of written.parts) await sink.writePart(part);
    // Its last part may still be in use.
    last?.release();
    last = written;
  };
  const streams = all.flatMap((one) => one.streams);
  for (const block of blocksOf(events, streams, out)) {
    waiting.push(threads.write(block));
    if (waiting.length > threads.atOnce) await pass();
  }
  while (waiting.length > 0) await pass();
  await sink.write(Buffer.from(out.end()));
  const arrows = all.reduce((sum, { counts }) => sum + counts.arrows, 0);
  const rows = out.count - out.names + (events?.columns.length ?? 0) + 2 * arrows;
  return { rows, notes: all.flatMap(({ notes }) => notes) };
}

/** Names of processes and threads, each a step. */
function* naming(
  out: TraceWriter,
  { sources }: PlacedRecording,
  { places, processes, sampled }: Drawn,
  base: number,
  prefix: string,
): Generator<() => void> {
  const pids = new Set<number>();
  const pes = new Map(sources.recording?.pes.map((one) => [one.pe, one]));
  // A PE without traced events has counters only.
  const lanes = [...places.lanes, ...sampled.map((pe) => ({ pid: base + pe, tid: null }))];
  for (const { pid, tid } of lanes) {
    const pe = pid - base;
    const known = pe !== UNPLACED;
    if (!pids.has(pid)) {
      pids.add(pid);
      const on = pes.get(pe);
      const where = on === undefined ? '' : `${on.host}${on.cpu === null ? '' : ` CPU ${on.cpu}`}`;
      yield () => out.process(pid, `${prefix}${known ? `PE ${pe}` : 'LPs'}`, pid, where);
    }
    if (tid !== null) yield () => out.thread(pid, tid, `${known ? 'KP' : 'LP'} ${tid}`);
  }
  yield () => out.process(base + WHOLE, `${prefix}${sources.name}`, base - 1);
  for (const { pid, name, threads = [] } of processes) {
    // One of a recorded command may have regions besides.
    if (!pids.has(pid)) yield () => out.process(pid, `${prefix}${name}`, pid);
    pids.add(pid);
    for (const [tid, called] of threads) yield () => out.thread(pid, tid, called);
  }
}

async function draw(
  connection: DuckDBConnection,
  { sources, schema, shift, tables: files }: PlacedRecording,
  base: number,
  options: ExportOptions,
): Promise<Drawn> {
  const places = new LpThreads(base);
  const known = await tablesOf(connection, schema);
  const limit = (value: number | undefined, sign: string) =>
    value === undefined ? [] : [`t + ${shift} ${sign} ${value}`];
  const nameOf = (name: string) => `${quoteName(schema)}.${quoteName(name)}`;
  const tables: TraceTables = {
    connection,
    base,
    places,
    within: ['t IS NOT NULL', ...limit(options.from, '>='), ...limit(options.to, '<=')].join(
      ' AND ',
    ),
    seconds: `t + ${shift}`,
    table: (name) => (known.get(name)?.some((one) => one.name === 't') ? nameOf(name) : null),
    untimed: (name) => (known.has(name) ? nameOf(name) : null),
    columns: (name) => known.get(name) ?? [],
  };
  await placeLps(places, sources, connection, tables.untimed('ross_lp'));
  const node = await nodeCounters(tables, [...known.keys()]);
  const command = await threadCounters(tables);
  const region = await regions(tables, command.known);
  const stretch = {
    from: (options.from ?? -Infinity) - shift,
    to: (options.to ?? Infinity) - shift,
  };
  const held = files.find(({ name }) => name.toLowerCase() === 'ross_event');
  const traced = await events(tables, held, shift, stretch);
  const hasArrows = traced !== null && options.flows !== false;
  const counts = hasArrows
    ? link(traced.columns, traced.order, traced.links)
    : { sends: 0, arrows: 0 };
  const streams = [
    ...(await rollbacks(tables)),
    ...(await peCounters(tables)),
    ...command.streams,
    ...node.streams,
    ...region.streams,
  ];
  return {
    events: traced,
    counts,
    streams,
    places,
    sampled: await sampledPes(tables),
    processes: [...command.processes, ...node.processes, ...region.processes],
    notes: notesOn(counts, sources.name),
  };
}

async function sampledPes({ connection, table, columns }: TraceTables): Promise<number[]> {
  const names = ['ross_pe', 'sim_thread'].filter((name) =>
    (table(name) === null ? [] : columns(name)).some((column) => column.name === 'pe_id'),
  );
  if (names.length === 0) return [];
  const all = names.map((name) => `SELECT pe_id FROM ${table(name)}`).join(' UNION ');
  const rows = await columnsOf(connection, `${all} ORDER BY ALL`, ['UINTEGER']);
  return [...rows.integers(0)];
}

/** Arrows cannot go back in time. */
function notesOn({ sends, arrows }: LinkCounts, name: string): string[] {
  const without = sends - arrows;
  if (without <= 0 || arrows === 0) return [];
  return [
    `${name}: no arrow leads to ${without} of ${sends} events: what sent them was not traced, or has a later time than they have`,
  ];
}

async function tablesOf(connection: DuckDBConnection, schema: string) {
  const rows = await connection.runAndReadAll(
    `SELECT c.table_name, c.column_name, c.data_type, coalesce(m.unit, '')
      FROM information_schema.columns c
      LEFT JOIN ${quoteName(schema)}.metrics m
        ON m.table_name = c.table_name AND m.column_name = c.column_name
      WHERE c.table_catalog = 'memory' AND c.table_schema = ${quoteText(schema)}
      ORDER BY c.table_name, c.ordinal_position`,
  );
  const tables = new Map<string, { name: string; type: string; unit: string }[]>();
  for (const [table, name, type, unit] of rows.getRowsJS().map((row) => row.map(String))) {
    const columns = tables.get(table) ?? [];
    columns.push({ name, type, unit });
    tables.set(table, columns);
  }
  return tables;
}

async function events(
  { connection, table, places, base }: TraceTables,
  held: Table | undefined,
  shift: number,
  stretch: TimeRange,
): Promise<DrawnEvents | null> {
  if (held?.timed !== true) return null;
  const {
    rows,
    t,
    columns: all,
  } = columnsOfTable(
    held,
    {
      source_lp: 'u32',
      destination_lp: 'u32',
      virtual_send_time: 'f64',
      virtual_recv_time: 'f64',
    },
    stretch,
    MOST_EVENTS,
    () =>
      new InputError(
        `more than ${MOST_EVENTS} traced events are too many for one trace: choose a time span with --from and --until (s)`,
      ),
  );
  for (let row = 0; row < rows; row++) t[row] += shift;
  const columns = {
    length: rows,
    real: t,
    source: all.source_lp as Uint32Array,
    destination: all.destination_lp as Uint32Array,
    send: all.virtual_send_time as Float64Array,
    receive: all.virtual_recv_time as Float64Array,
  };
  const mean = await meanDurations(connection, table('ross_pe'));
  const longest = (pid: number) => mean.get(pid - base) ?? UNKNOWN_DURATION_NS;
  return drawn(columns, { laneOf: (lp) => places.laneOf(lp), longest });
}

/** Nanoseconds that an event takes, by PE, from its samples. */
async function meanDurations(connection: DuckDBConnection, pe: string | null) {
  if (pe === null) return new Map<number, number>();
  try {
    const rows = await columnsOf(
      connection,
      `SELECT pe_id, 1e9 * sum(events_processed_time) / sum(events_processed) FROM ${pe}
        GROUP BY pe_id HAVING sum(events_processed) > 0`,
      ['UINTEGER', 'DOUBLE'],
    );
    const [ids, means] = [rows.integers(0), rows.numbers(1)];
    return new Map(Array.from(ids, (id, k) => [id, Math.round(means[k])]));
  } catch {
    // Records of 2017 do not have these columns.
    return new Map<number, number>();
  }
}
