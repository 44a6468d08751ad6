/** A job's hosts in time: one course per host for a track or a key, and where it is doubtful. */
import {
  type HostJob,
  type Job,
  type MetricTrack as JobTrack,
  jobTimes,
  type KeyTotals,
  type OddDelta,
  type TypeTable,
  tracksOf,
} from '../../findings/job/index.ts';
import type { NodeMetric, ShownNodeType, SuspectSpan } from '../../view/facts/nodes.ts';
import type { EntityBins } from '../../view/series/table.ts';
import { Track } from '../../view/series/track.ts';
import type { Steps } from '../../view/steps.ts';

/** One host's course: its samples as intervals ( t', t ], on the page's time axis. */
interface Course {
  readonly host: string;
  readonly track: Track;
}

export interface Courses {
  readonly metric: NodeMetric;
  readonly spans: readonly SuspectSpan[];
  /** How many of `hosts`, or of all, have it. */
  hosts(hosts?: readonly string[]): number;
  bins(from: number, to: number, count: number, hosts?: readonly string[]): Steps<EntityBins[]>;
}

/** What a verdict means for the numbers. */
const VERDICTS: Readonly<Record<OddDelta['verdict'], string>> = {
  wrapped: 'rolled over; repaired',
  dip: 'went back a little; counted as 0',
  reset: 'was reset; the count is not known',
  suspect: 'rose by more than it can; left out',
};
const UNKNOWN: readonly string[] = ['reset', 'suspect'];
const NAMED = 3;

const TRACK = 'track:';

interface OwnTracks {
  readonly times: Float64Array;
  readonly tracks: readonly JobTrack[];
}
const TRACKS = new WeakMap<HostJob, OwnTracks>();

/** Tracks are made host by host, each at its own times: a job's common times are those of its median host. */
function ownTracks(job: Job, host: HostJob): OwnTracks {
  const known = TRACKS.get(host);
  if (known !== undefined) return known;
  const times = jobTimes([host]);
  const made = { times, tracks: tracksOf({ ...job, hosts: [host], times }) };
  TRACKS.set(host, made);
  return made;
}

const SHORT = ['cpu', 'cpi', 'flops', 'lnet'];
const titled = (name: string) =>
  SHORT.includes(name) ? name.toUpperCase() : name[0].toUpperCase() + name.slice(1);

/** Rows that a host's tracks, or its course for a key, go through. */
const rowsOf = ({ times, types }: HostJob): number => times.length * (1 + types.size);

/** Those that any host has. */
export function* trackMetrics(job: Job): Steps<NodeMetric[]> {
  const found = new Map<string, NodeMetric>();
  for (const host of job.hosts) {
    for (const { name, unit, inputs } of ownTracks(job, host).tracks) {
      if (found.has(name)) continue;
      found.set(name, { id: TRACK + name, title: titled(name), unit, kind: 'track', inputs });
    }
    yield rowsOf(host);
  }
  return [...found.values()];
}

/** Types with their keys, of all hosts. */
export function typesWithKeys(job: Job): ShownNodeType[] {
  const found = new Map<
    string,
    {
      keys: Map<string, { name: string; unit: string; kind: string }>;
      devices: number;
      hosts: number;
    }
  >();
  for (const { types } of job.hosts) {
    for (const [type, { keys }] of types) {
      const one = found.get(type) ?? { keys: new Map(), devices: 0, hosts: 0 };
      found.set(type, one);
      one.hosts++;
      one.devices += Math.max(0, ...[...keys.values()].map(({ devices }) => devices.size));
      for (const { name, unit, kind } of keys.values()) one.keys.set(name, { name, unit, kind });
    }
  }
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([type, { keys, devices, hosts }]) => ({
      type,
      keys: [...keys.values()],
      devices,
      hosts,
    }));
}

/** The metric of this id; null where the job has no such. */
function* metricOf(job: Job, id: string): Steps<NodeMetric | null> {
  if (id.startsWith(TRACK)) {
    return (yield* trackMetrics(job)).find((metric) => metric.id === id) ?? null;
  }
  const [type, name] = split(id);
  for (const { types } of job.hosts) {
    const key = types.get(type)?.keys.get(name);
    if (key === undefined) continue;
    const kind = key.kind === 'event' ? 'rate' : 'level';
    const unit = kind === 'rate' ? `${key.unit === '' ? '1' : key.unit}/s` : key.unit;
    return { id, title: id, unit, kind };
  }
  return null;
}

const split = (id: string): readonly [string, string] => {
  const dot = id.indexOf('.');
  return dot < 0 ? [id, ''] : [id.slice(0, dot), id.slice(dot + 1)];
};

/** Values at or between `times` as intervals; the first of those at times has none. */
function courseOf(
  times: ArrayLike<number>,
  valueAt: (interval: number) => number,
  zero: number,
): Track {
  const track = new Track(1);
  for (let k = 0; k + 1 < times.length; k++) {
    if (!(times[k + 1] > times[k])) continue;
    track.add(times[k] - zero, times[k + 1] - zero);
    track.set(0, valueAt(k));
  }
  return track;
}

function keyCourse({ times }: TypeTable, key: KeyTotals, zero: number): Track {
  const { rows } = key;
  if (key.kind !== 'event') return courseOf(times, (k) => rows[k + 1], zero);
  const unknown = unknownTimes(key);
  return courseOf(
    times,
    (k) =>
      unknown.has(times[k + 1]) ? Number.NaN : (rows[k + 1] - rows[k]) / (times[k + 1] - times[k]),
    zero,
  );
}

/** Times at which no device's difference is known: nothing is drawn there. */
function unknownTimes({ odd, devices }: KeyTotals): ReadonlySet<number> {
  const counts = new Map<number, number>();
  for (const { time, verdict } of odd) {
    if (UNKNOWN.includes(verdict)) counts.set(time, (counts.get(time) ?? 0) + 1);
  }
  return new Set([...counts].filter(([, count]) => count >= devices.size).map(([time]) => time));
}

function* keySpans(
  host: string,
  { type, times }: TypeTable,
  { name, odd, devices }: KeyTotals,
  zero: number,
): Generator<SuspectSpan, void> {
  const placeOf = new Map(times.map((time, k) => [time, k]));
  const together = new Map<string, string[]>();
  for (const { time, verdict, device } of odd) {
    const of = `${time} ${verdict}`;
    const devices = together.get(of) ?? [];
    together.set(of, devices);
    devices.push(device);
  }
  for (const [of, named] of together) {
    const [time, verdict] = of.split(' ');
    const to = Number(time);
    const at = placeOf.get(to) ?? -1;
    const some =
      named.length === devices.size && named.length > 1
        ? 'all devices'
        : `${named.slice(0, NAMED).join(', ')}${named.length > NAMED ? ` and ${named.length - NAMED} more` : ''}`;
    const what = `${type}.${name} of ${some}: ${VERDICTS[verdict as OddDelta['verdict']]}`;
    yield { host, from: (times[at - 1] ?? to) - zero, to: to - zero, what };
  }
}

/** Spans that touch and say the same are one. */
function joined(spans: readonly SuspectSpan[]): SuspectSpan[] {
  const open = new Map<string, { host: string; from: number; to: number; what: string }>();
  const found: { host: string; from: number; to: number; what: string }[] = [];
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const of = `${span.host} ${span.what}`;
    const before = open.get(of);
    if (before !== undefined && span.from <= before.to) {
      before.to = Math.max(before.to, span.to);
      continue;
    }
    const one = { ...span };
    open.set(of, one);
    found.push(one);
  }
  return found;
}

/** Where a host's records themselves are doubtful: torn lines, another host's records, a start of the host. */
function* oddSpans({ host, oddities, times }: HostJob, zero: number): Generator<SuspectSpan, void> {
  for (const { time, what } of oddities) {
    if (time === null) continue;
    const before = times.findLast((one) => one < time);
    const after = times.find((one) => one >= time);
    yield { host, from: (before ?? time) - zero, to: (after ?? time) - zero, what };
  }
}

/** Of one host: its course for a metric, and what of it is doubtful. Null where it lacks that. */
function hostCourse(job: Job, host: HostJob, id: string, zero: number) {
  const spans: SuspectSpan[] = [...oddSpans(host, zero)];
  const addKey = (input: string) => {
    const [type, name] = split(input);
    const table = host.types.get(type);
    const key = table?.keys.get(name);
    if (table !== undefined && key !== undefined) {
      spans.push(...keySpans(host.host, table, key, zero));
    }
  };
  if (!id.startsWith(TRACK)) {
    const [type, name] = split(id);
    const table = host.types.get(type);
    const key = table?.keys.get(name);
    if (table === undefined || key === undefined) return null;
    addKey(id);
    return { track: keyCourse(table, key, zero), spans };
  }
  const own = ownTracks(job, host);
  const name = id.slice(TRACK.length);
  const found = own.tracks.find((one) => one.name === name);
  const values = found?.hosts.get(host.host);
  if (found === undefined || values === undefined) return null;
  for (const input of found.inputs) addKey(input);
  const shift = found.at === 'time' ? 1 : 0;
  return { track: courseOf(own.times, (k) => values[k + shift], zero), spans };
}

/** Zero: seconds since 1970 of the page's second 0. Null where the job has no such metric. */
export function* coursesOf(job: Job, id: string, zero: number): Steps<Courses | null> {
  const metric = yield* metricOf(job, id);
  if (metric === null) return null;
  const courses: Course[] = [];
  const spans: SuspectSpan[] = [];
  for (const host of job.hosts) {
    const found = hostCourse(job, host, id, zero);
    yield rowsOf(host);
    if (found === null) continue;
    courses.push({ host: host.host, track: found.track });
    spans.push(...found.spans);
  }
  const of = (hosts?: readonly string[]) =>
    courses.filter(({ host }) => hosts === undefined || hosts.includes(host));
  return {
    metric,
    spans: joined(spans),
    hosts: (hosts) => of(hosts).length,
    *bins(from, to, count, hosts) {
      const found: EntityBins[] = [];
      for (const { host, track } of of(hosts)) {
        // The values are rates already.
        found.push({ entity: host, ...track.bins([0], false, from, to, count) });
        yield track.length + count;
      }
      return found;
    },
  };
}
