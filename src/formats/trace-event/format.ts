/**
 * Trace events as Chrome, PyTorch and many tracers write them, in JSON: slices, counters and instants as tables. Flows, objects
 * and asynchronous slices are counted and not read. Source: “Trace Event Format”, Google, 2016.
 */
import type { Schema } from '../../model/metric.ts';
import { column, REAL } from '../../model/schemas/column.ts';
import type { Detection, FileInfo, FileSource, Format, OpenOptions } from '../format.ts';
import { arrayFor, codesFor, type OpenFile, type Part, type RawColumn } from '../part.ts';

const process = column('process', 'label', '', 'same', 'process, by its name or number');
const thread = column('thread', 'label', '', 'same', 'thread, by its name or number');
const what = column('name', 'label', '', 'last', 'what it is called');
const category = column('category', 'label', '', 'last', 'categories, separated by commas');

const SLICE = {
  name: 'trace_slice',
  domain: 'process',
  help: 'what threads of a trace did, and for how long',
  metrics: [
    REAL,
    ...[process, thread, what, category],
    column('duration', 'f64', 's', 'sum', 'how long it took; missing where its end is'),
  ],
} as const satisfies Schema;

const INSTANT = {
  name: 'trace_instant',
  domain: 'process',
  help: 'what happened at one moment in threads of a trace',
  metrics: [REAL, process, thread, what, category],
} as const satisfies Schema;

const COUNTER = {
  name: 'trace_counter',
  domain: 'process',
  help: 'counters of a trace, from one change to the next',
  metrics: [
    REAL,
    ...[process, column('counter', 'label', '', 'same', 'name of the counter')],
    column('series', 'label', '', 'same', 'which of the counter’s values'),
    column('value', 'f64', '', 'last', 'its value'),
  ],
} as const satisfies Schema;

type Cell = string | number;
/** In the order of a schema's metrics; the time comes first. */
type Row = readonly [time: number, ...more: readonly Cell[]];

/** One record of the file, of which nothing is known yet. */
type Raw = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Raw => typeof value === 'object' && value !== null;
const text = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
const seconds = (micros: unknown): number =>
  typeof micros === 'number' || (typeof micros === 'string' && micros.trim() !== '')
    ? Number(micros) / 1e6
    : Number.NaN;

/** Characters of a file that are read at most: what a text can hold. */
const LONGEST = 500_000_000;
/** Ends of objects, from the last on, behind which a file that breaks off is taken to be whole. */
const TRIES = 8;

interface Parsed {
  readonly events: readonly unknown[];
  /** Bytes behind which it breaks off; null where it is whole. */
  readonly cut: number | null;
}

const eventsIn = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  const events = isObject(value) ? value.traceEvents : null;
  return Array.isArray(events) ? events : [];
};

/** Of a tracer that was killed, the closing brackets are missing, and maybe half an event: the rest is taken. */
function parsed(source: FileSource): Parsed {
  const bytes = new Uint8Array(Math.min(source.size, LONGEST));
  const whole = Buffer.from(bytes.subarray(0, source.read(0, bytes)))
    .toString('utf8')
    .replace(/^\ufeff/, '');
  try {
    return { events: eventsIn(JSON.parse(whole)), cut: null };
  } catch {
    const end = /^\s*\[/.test(whole) ? ']' : ']}';
    let at = whole.length;
    for (let k = 0; k < TRIES; k++) {
      at = whole.lastIndexOf('}', at - 1);
      if (at < 0) break;
      try {
        const events = eventsIn(JSON.parse(`${whole.slice(0, at + 1)}${end}`));
        return { events, cut: Buffer.byteLength(whole.slice(0, at + 1)) };
      } catch {
        // The end of something within an event.
      }
    }
    return { events: [], cut: 0 };
  }
}

/** Names of processes and threads, which may come behind what they name. */
class Names {
  private readonly names = new Map<string, string>();

  add({ name, pid, tid, args }: Raw): void {
    const told = isObject(args) ? text(args.name) : '';
    if (told === '') return;
    if (name === 'process_name') this.names.set(`${text(pid)}`, told);
    if (name === 'thread_name') this.names.set(`${text(pid)} ${text(tid)}`, told);
  }

  /** “render 7”: threads may have the same name. */
  private of(key: string, number: string): string {
    const name = this.names.get(key);
    return name === undefined ? number : `${name} ${number}`.trim();
  }

  process = ({ pid }: Raw): string => this.of(text(pid), text(pid));
  thread = ({ pid, tid }: Raw): string => this.of(`${text(pid)} ${text(tid)}`, text(tid));
}

/** Rows of each table, by time. */
function rowsOf(events: readonly Raw[]) {
  const names = new Names();
  for (const event of events) if (event.ph === 'M') names.add(event);
  const [slices, instants, counters]: [Row[], Row[], Row[]] = [[], [], []];
  /** By thread: slices that have begun. */
  const begun = new Map<string, Raw[]>();
  const others = new Map<string, number>();
  const other = (kind: string) => others.set(kind, (others.get(kind) ?? 0) + 1);
  const at = (event: Raw) => seconds(event.ts);
  const labels = (event: Raw): readonly Cell[] => [
    ...[names.process(event), names.thread(event), text(event.name), text(event.cat)],
  ];
  // What ends before it begins has no length that is known.
  const slice = (event: Raw, duration: number) =>
    slices.push([at(event), ...labels(event), duration >= 0 ? duration : Number.NaN]);
  for (const event of events) {
    const key = `${text(event.pid)} ${text(event.tid)}`;
    if (event.ph === 'M') continue;
    if (!Number.isFinite(at(event))) other('without a time');
    else if (event.ph === 'X') slice(event, seconds(event.dur));
    else if (event.ph === 'B') {
      const open = begun.get(key);
      if (open === undefined) begun.set(key, [event]);
      else open.push(event);
    } else if (event.ph === 'E') {
      const from = begun.get(key)?.pop();
      if (from !== undefined) slice(from, at(event) - at(from));
    } else if (event.ph === 'i' || event.ph === 'I') instants.push([at(event), ...labels(event)]);
    else if (event.ph === 'C') {
      for (const [series, value] of Object.entries(isObject(event.args) ? event.args : {})) {
        const number = typeof value === 'number' ? value : Number.NaN;
        counters.push([at(event), names.process(event), text(event.name), series, number]);
      }
    } else other(`phase ${text(event.ph)}`);
  }
  for (const open of begun.values()) for (const event of open) slice(event, Number.NaN);
  for (const rows of [slices, instants, counters]) rows.sort((a, b) => a[0] - b[0]);
  return { slices, instants, counters, others };
}

function partOf(schema: Schema, rows: readonly Row[]): Part {
  const codes = codesFor(schema);
  const columns = schema.metrics.map(({ cell }, k): RawColumn => {
    const values = arrayFor(cell, rows.length);
    rows.forEach((row, n) => {
      values[n] = codes[k]?.of(String(row[k])) ?? Number(row[k]);
    });
    return values;
  });
  return {
    schema,
    rows: rows.length,
    labels: codes.map((one) => one?.labels ?? null),
    span:
      rows.length === 0 ? null : { from: rows[0][0], to: rows[rows.length - 1][0], ordered: true },
    kept: true,
    *read(wanted) {
      yield { rows: rows.length, columns: wanted.map((k) => columns[k]) };
    },
  };
}

function open(source: FileSource, { take }: OpenOptions = {}): OpenFile {
  const { events, cut } = parsed(source);
  const { slices, instants, counters, others } = rowsOf(events.filter(isObject));
  const tables = [
    [SLICE, slices],
    [INSTANT, instants],
    [COUNTER, counters],
  ] as const;
  const parts = tables.flatMap(([schema, rows]) => (rows.length > 0 ? [partOf(schema, rows)] : []));
  for (const part of take === undefined ? [] : parts) {
    for (const rows of part.read(part.schema.metrics.map((_, k) => k))) take?.(part, rows);
  }
  const suspect: FileInfo['suspect'] =
    cut === null
      ? []
      : [{ where: `byte ${cut}`, what: 'its JSON breaks off here; what came before was read' }];
  const times = parts.flatMap(({ span }) => span ?? []);
  const found = detect(headOf(source));
  const info = (): FileInfo => ({
    ...{ path: source.path, format: 'trace-event', bytes: source.size, suspect },
    ...{ era: found?.era ?? ERA, because: found?.because ?? '' },
    records: {
      ...Object.fromEntries(parts.map(({ schema, rows }) => [schema.name.slice(6), rows])),
      ...Object.fromEntries(others),
    },
    entities: {},
    from: times.length === 0 ? null : { real_time: Math.min(...times.map(({ from }) => from)) },
    to: times.length === 0 ? null : { real_time: Math.max(...times.map(({ to }) => to)) },
    damaged: cut !== null,
  });
  return { parts, suspect, zero: null, info };
}

const ERA = 'Trace Event Format (JSON)';
/** Bytes of its beginning that tell what it is. */
const HEAD = 1 << 16;

function headOf(source: FileSource): Uint8Array {
  const head = new Uint8Array(Math.min(source.size, HEAD));
  return head.subarray(0, source.read(0, head));
}

function detect(head: Uint8Array): Detection | null {
  const start = Buffer.from(head).toString('latin1');
  if (!/^(\xef\xbb\xbf)?\s*[[{]/.test(start)) return null;
  const says = /"traceEvents"\s*:\s*\[/.test(start);
  const has = /"ph"\s*:\s*"/.test(start) && /"(ts|pid)"\s*:/.test(start);
  if (!says && !(has && /^(\xef\xbb\xbf)?\s*\[/.test(start))) return null;
  const because = says ? 'it has a list traceEvents' : 'it is a list of events with phases (ph)';
  return { confidence: 0.95, because, era: ERA };
}

/** Chrome's trace events in JSON. */
export const TRACE_EVENT = {
  name: 'trace-event',
  help: 'trace events in JSON, of Chrome, PyTorch, Perfetto’s converters and many tracers',
  detect,
  open,
} satisfies Format;
