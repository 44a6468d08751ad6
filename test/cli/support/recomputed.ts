/**
 * A report's fields computed again, by hand, from the profile trace (exact times of entries and exits) and the trace (a row per
 * sample), as geopm_report(7) describes them. Nothing here is the controller's code.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { HOST, type Launched } from './region.ts';

/** Of `region launch`: what `recomputes` needs. */
const HINT_FIELDS = 'network ignore compute memory io serial parallel unknown unset spin'.split(
  ' ',
);
const HINT_SIGNALS = HINT_FIELDS.map((hint) => `TIME_HINT_${hint.toUpperCase()}`);
export const TRACED = [
  '--synthetic',
  '--geopm-trace=trace',
  '--geopm-trace-profile=events',
  `--geopm-trace-signals=${HINT_SIGNALS.join()}`,
];

const UNMARKED = 0x725e8066;

type Span = readonly [from: number, to: number];

/** Seconds that any of the spans covers. */
function covered(spans: readonly Span[]): number {
  let [sum, until] = [0, Number.NEGATIVE_INFINITY];
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    sum += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return sum;
}

function table(path: string): Record<string, string>[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const rows = lines.filter((line) => !line.startsWith('#')).map((line) => line.split('|'));
  return rows.slice(1).map((row) => Object.fromEntries(row.map((cell, k) => [rows[0][k], cell])));
}

interface Events {
  readonly started: number;
  ended: number;
  overhead: number;
  count: Map<number, number>;
  spans: Map<number, Span[]>;
  /** Of the regions that threads are in now. */
  open: Map<string, number>;
  epochs: number[];
}

/** The processes; one that became another program counts as two. */
function processes(path: string): Events[] {
  const all: Events[] = [];
  const now = new Map<string, Events>();
  for (const { TIME, PROCESS, EVENT, SIGNAL, THREAD } of table(path)) {
    const time = Number(TIME);
    const key = `${THREAD} ${SIGNAL}`;
    if (EVENT === 'EVENT_START_PROFILE') {
      now.set(PROCESS, {
        started: time,
        ended: Number.NaN,
        overhead: 0,
        count: new Map(),
        spans: new Map(),
        open: new Map(),
        epochs: [],
      });
      all.push(now.get(PROCESS) as Events);
    }
    const process = now.get(PROCESS) as Events;
    const hash = Number(SIGNAL);
    const close = (region: number, from: number) =>
      process.spans.set(region, [...(process.spans.get(region) ?? []), [from, time]]);
    if (EVENT === 'REGION_ENTRY') process.open.set(key, time);
    else if (EVENT === 'REGION_EXIT') {
      close(hash, process.open.get(key) ?? Number.NaN);
      process.open.delete(key);
      process.count.set(hash, (process.count.get(hash) ?? 0) + 1);
    } else if (EVENT === 'EPOCH_COUNT') process.epochs.push(time);
    else if (EVENT === 'EVENT_OVERHEAD') process.overhead = Number(SIGNAL);
    else if (EVENT === 'EVENT_STOP_PROFILE') {
      for (const [left, from] of process.open) close(Number(left.split(' ')[1]), from);
      process.ended = time;
    }
  }
  return all;
}

type Row = Readonly<Record<string, number>>;

/** Changes of the sampled counters by region; `whole` of all, `epoch` from the first row with an epoch on. */
function sampled(path: string, span: Span, pauses: readonly number[], firstEpoch: number) {
  const [started, ended] = span;
  const rows: Row[] = table(path).map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, Number(cell)])),
  );
  const names = ['TIME', 'CPU_ENERGY', 'DRAM_ENERGY', 'CPU_CYCLES_THREAD', 'CPU_CYCLES_REFERENCE'];
  const columns = [...names, ...HINT_SIGNALS];
  /** At a moment between two rows: on the line through them; behind the last as before it. */
  const at = (time: number): Row => {
    const column = (name: string): number => {
      const told = rows.filter((row) => !Number.isNaN(row[name]));
      // Hints begin with the first process, at 0; on a busy machine there are few samples.
      const isHint = name.startsWith('TIME_HINT_');
      if (isHint && (told.length === 0 || told[0].TIME > time)) return 0;
      if (told.length === 1) return told[0][name];
      const found = told.findIndex(({ TIME }) => TIME >= time);
      const k = Math.max(1, found < 0 ? told.length - 1 : found);
      const [a, b] = [told[k - 1], told[k]];
      return a[name] + ((time - a.TIME) / (b.TIME - a.TIME)) * (b[name] - a[name]);
    };
    return Object.fromEntries(columns.map((name) => [name, column(name)]));
  };
  const within = rows.filter(({ TIME }) => TIME > started && TIME < ended);
  const points = [
    ...[started, ...pauses, ended].map((time) => ({ hash: UNMARKED, row: at(time) })),
    ...within.map(({ TIME, REGION_HASH }) => ({ hash: REGION_HASH, row: at(TIME) })),
  ].toSorted((a, b) => a.row.TIME - b.row.TIME);
  const sums = new Map<number | 'whole' | 'epoch', Record<string, number>>();
  const add = (key: number | 'whole' | 'epoch', from: Row, to: Row) => {
    const sum = sums.get(key) ?? Object.fromEntries(columns.map((name) => [name, 0]));
    for (const name of columns) sum[name] += to[name] - from[name];
    sums.set(key, sum);
  };
  for (const [k, { row }] of points.entries()) {
    if (k === 0) continue;
    const before = points[k - 1];
    add(Number.isNaN(before.hash) ? UNMARKED : before.hash, before.row, row);
    add('whole', before.row, row);
    if (before.row.TIME >= firstEpoch) add('epoch', before.row, row);
  }
  const edges = [...pauses, ended].map(
    (end) => end - (within.findLast(({ TIME }) => TIME <= end)?.TIME ?? started),
  );
  return { sums, edge: Math.max(...edges) };
}

/** Every field of the report is what the traces say, to 1 %. @param late s by which a process's end may be seen late */
export function recomputes(
  { folder, host }: Pick<Launched, 'folder' | 'host'>,
  seenLate = 0,
): number {
  const all = processes(join(folder, `events-${HOST}`));
  const started = Math.min(...all.map((process) => process.started));
  const ended = Math.max(...all.map((process) => process.ended));
  const epochs = all.flatMap((process) => process.epochs);
  const first = epochs.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...epochs);
  // Moments from which on no process runs, though another will.
  const lives = ({ started: from, ended: to }: Events, time: number) => from <= time && time < to;
  const pauses = all
    .map((process) => process.ended)
    .filter((time) => time < ended && !all.some((process) => lives(process, time)));
  const { sums, edge } = sampled(join(folder, `trace-${HOST}`), [started, ended], pauses, first);
  const mean = (of: (process: Events) => number) =>
    all.reduce((sum, process) => sum + of(process), 0) / all.length;
  let compared = 0;
  const same = (what: string, told: unknown, own: number, slack = 0) => {
    compared++;
    const [low, high] = [own - 0.01 * Math.abs(own) - slack, own + 0.01 * Math.abs(own) + slack];
    const value = Number(told);
    if (!(value >= low && value <= high)) {
      const files = ['events', 'trace'].map((name) =>
        readFileSync(join(folder, `${name}-${HOST}`)),
      );
      expect.fail(`${what}: ${value} is not ${own}\n${files.join('\n')}`);
    }
  };
  const section = (
    what: string,
    told: Readonly<Record<string, unknown>>,
    exact: Readonly<Record<string, number>>,
    key: number | 'whole' | 'epoch',
  ) => {
    const sum = sums.get(key) ?? {};
    const value = (name: string) => sum[name] ?? 0;
    const seconds = exact['sync-runtime (s)'] ?? value('TIME');
    const ratio = value('CPU_CYCLES_THREAD') / value('CPU_CYCLES_REFERENCE') || 0;
    const watts = seconds > 0 ? value('CPU_ENERGY') / seconds : 0;
    // Times are printed in ns: a microsecond is rounding.
    for (const [name, own] of Object.entries(exact)) same(`${what} ${name}`, told[name], own, 2e-6);
    // Epochs are seen at a sample, and count from when they were.
    const late = seenLate + (key === 'epoch' ? 0.05 : 1e-5);
    if (key !== 'epoch') same(`${what} sync`, told['sync-runtime (s)'], seconds, late);
    same(`${what} package`, told['package-energy (J)'], value('CPU_ENERGY'), 50 * late);
    same(`${what} dram`, told['dram-energy (J)'], value('DRAM_ENERGY'), 5 * late);
    // Of a region that samples hardly saw, a quotient says nothing.
    if (seconds > 0.02 + 2 * seenLate) {
      same(`${what} power`, told['power (W)'], watts, (50 * late) / seconds);
      // Synthetic packages draw 50 W at all times, so that energy and time must be those of the same moments.
      if (key !== 'epoch') expect(Number(told['power (W)']), `${what} W`).toBeCloseTo(50, 2);
      same(`${what} frequency`, told['frequency (%)'], 100 * ratio);
      same(`${what} hertz`, told['frequency (Hz)'], 2.6e9 * ratio);
    }
    // What the hint is behind the last sample, no row says.
    const slack = late + edge;
    for (const [k, hint] of HINT_FIELDS.entries()) {
      same(`${what} ${hint}`, told[`time-hint-${hint} (s)`], value(HINT_SIGNALS[k]), slack);
    }
  };
  const regions = new Set(all.flatMap(({ spans }) => [...spans.keys()]));
  expect(host.Regions?.map(({ hash }) => hash).toSorted()).toEqual([...regions].toSorted());
  for (const told of host.Regions ?? []) {
    const hash = Number(told.hash);
    const runtime = mean(({ spans }) => covered(spans.get(hash) ?? []));
    const count = mean((process) => process.count.get(hash) ?? 0);
    section(String(told.region), told, { 'runtime (s)': runtime, count }, hash);
  }
  const unmarked = mean((p) => p.ended - p.started - covered([...p.spans.values()].flat()));
  section(
    'unmarked',
    host['Unmarked Totals'] ?? {},
    { 'runtime (s)': unmarked, count: 0 },
    UNMARKED,
  );
  const whole = host['Application Totals'];
  const runtime = ended - started;
  section(
    'application',
    whole,
    { 'runtime (s)': runtime, count: 0, 'sync-runtime (s)': runtime },
    'whole',
  );
  same(
    'overhead',
    whole['GEOPM overhead (s)'],
    mean(({ overhead }) => overhead),
  );
  expect(Number(whole['GEOPM startup (s)'])).toBeLessThanOrEqual(runtime);
  expect(whole['geopmctl memory HWM (B)']).toBeGreaterThan(1e7);
  const init = host.Regions?.filter(({ region }) => /^MPI_Init(_thread)?$/.test(String(region)));
  if (init !== undefined && init.length > 0) {
    const sum = init.reduce((total, region) => total + Number(region['runtime (s)']), 0);
    same('MPI startup', whole['MPI startup (s)'], sum, 1e-5);
  }
  const told = host['Epoch Totals'];
  expect(told === undefined).toBe(epochs.length === 0);
  if (told !== undefined) {
    const since = ended - first;
    const count = mean((process) => process.epochs.length);
    section('epoch', told, { 'runtime (s)': since, count, 'sync-runtime (s)': since }, 'epoch');
  }
  return compared;
}
