/**
 * GEOPM's traces in memory, read when first asked for. A row of a trace says what was so when it was taken: the region is
 * that of the time from then on (so that its time is the report's sync-runtime), signals are those of the time before.
 */
import { HASH_UNMARKED } from '../../model/region-hash.ts';
import { endedBy } from '../../query/ended-by.ts';
import { type OpenRecording, quoteName } from '../../query/index.ts';
import type {
  LanesFacts,
  ProcessRegion,
  ProfileFacts,
  RegionLane,
  TraceFacts,
} from '../../view/facts/regions.ts';
import type { EntityBins } from '../../view/series/table.ts';
import { Track } from '../../view/series/track.ts';
import type { Steps } from '../../view/steps.ts';
import { inTurns, SharedWork } from '../net/shared-work.ts';
import { geopmColumns } from './geopm-columns.ts';
import { laneSpans } from './regions-lanes.ts';
import { type ProcessTrace, readProfiles } from './regions-profiles.ts';

interface HostTrace {
  readonly host: string;
  readonly times: Float64Array;
  /** By lane. */
  readonly lanes: ReadonlyMap<string, Uint32Array>;
  readonly epochs: Float64Array;
  readonly signals: ReadonlyMap<string, Track>;
}

/** Throws where there is no room for so many lanes, or hosts. */
export type Room = (count: number) => void;

/** Columns that are no signals. */
const OTHERS = /^(host|real_time|epoch_count|region_(hash|hint)(_cpu_\d+)?|region_progress.*)$/;
const CPU = /^region_hash_cpu_(\d+)$/;
const HOST_LANE = 'host';

/** A list of numbers that grows without objects. */
class Numbers {
  private _cells = new Float64Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this._cells.length) {
      const wider = new Float64Array(2 * this.length);
      wider.set(this._cells);
      this._cells = wider;
    }
    this._cells[this.length++] = value;
  }

  get cells(): Float64Array {
    return this._cells.subarray(0, this.length);
  }
}

interface OpenTrace {
  readonly times: Numbers;
  readonly lanes: readonly Numbers[];
  readonly epochs: Numbers;
  epoch: number;
  readonly signals: readonly Track[];
  /** Whether a signal has had a value: what this machine lacks has none. */
  readonly told: Uint8Array;
}

async function readTraces(sql: OpenRecording): Promise<{
  readonly hosts: readonly HostTrace[];
  readonly units: ReadonlyMap<string, string>;
}> {
  const columns = (await geopmColumns(sql)).get('geopm_trace') ?? [];
  if (columns.length === 0) return { hosts: [], units: new Map() };
  const keys = columns.map(({ key }) => key);
  const cpus = keys.filter((key) => CPU.test(key)).sort((a, b) => cpuOf(a) - cpuOf(b));
  const lanes = [...(keys.includes('region_hash') ? ['region_hash'] : []), ...cpus];
  const signals = keys.filter((key) => !OTHERS.test(key));
  const hasEpochs = keys.includes('epoch_count');
  const asked = [...lanes, ...signals].map(quoteName);
  const { blocks } = await sql.rows(
    `SELECT host, t, ${hasEpochs ? 'epoch_count' : 'NULL'}${asked.map((name) => `, ${name}`).join('')}
       FROM geopm_trace ORDER BY host, t`,
  );
  const open = new Map<string, OpenTrace>();
  for await (const block of blocks) {
    for (const row of block) {
      const host = String(row[0] ?? '');
      const trace = open.get(host) ?? {
        times: new Numbers(),
        lanes: lanes.map(() => new Numbers()),
        epochs: new Numbers(),
        epoch: Number.NaN,
        signals: signals.map(() => new Track(1)),
        told: new Uint8Array(signals.length),
      };
      open.set(host, trace);
      const time = Number(row[1]);
      const before = trace.times.length === 0 ? time : trace.times.cells[trace.times.length - 1];
      trace.times.push(time);
      const epoch = row[2] === null ? Number.NaN : Number(row[2]);
      if (epoch > 0 && !(epoch <= trace.epoch)) trace.epochs.push(time);
      if (!Number.isNaN(epoch)) trace.epoch = epoch;
      for (let k = 0; k < lanes.length; k++) trace.lanes[k].push(Number(row[3 + k] ?? 0));
      for (let k = 0; k < signals.length; k++) {
        const cell = row[3 + lanes.length + k];
        const value = cell === null ? Number.NaN : Number(cell);
        trace.signals[k].add(before, time);
        trace.signals[k].set(0, value);
        if (!Number.isNaN(value)) trace.told[k] = 1;
      }
    }
  }
  const hosts = [...open].map(([host, trace]) => ({
    host,
    times: trace.times.cells,
    lanes: new Map(lanes.map((key, k) => [laneName(key), Uint32Array.from(trace.lanes[k].cells)])),
    epochs: trace.epochs.cells,
    signals: new Map(
      signals.flatMap((key, k) => (trace.told[k] === 1 ? [[key, trace.signals[k]] as const] : [])),
    ),
  }));
  const units = new Map(columns.map(({ key, unit }) => [key, unit]));
  return { hosts, units };
}

const cpuOf = (key: string) => Number(CPU.exec(key)?.[1] ?? -1);
const laneName = (key: string) => (key === 'region_hash' ? HOST_LANE : `CPU ${cpuOf(key)}`);

/** At most one time for each of `bins`. */
function thinned(times: Float64Array, from: number, to: number, bins: number): readonly number[] {
  const found: number[] = [];
  let last = -1;
  for (const time of times) {
    if (time < from || time >= to) continue;
    const bin = Math.floor(((time - from) * bins) / (to - from));
    if (bin !== last) found.push(time);
    last = bin;
  }
  return found;
}

type Lasting = Pick<HostTrace, 'times' | 'lanes' | 'epochs'>;

/** Lanes of a host's CPUs. */
export function* cpuLanes(
  { times, lanes, epochs }: Lasting,
  from: number,
  to: number,
  bins: number,
): Steps<RegionLane[]> {
  const end = times[times.length - 1];
  const made: RegionLane[] = [];
  for (const [name, hashes] of lanes) {
    const spans = yield* laneSpans({ times, hashes, end }, from, to, bins);
    const shown = name === HOST_LANE ? thinned(epochs, from, to, bins) : [];
    made.push({ name, spans, epochs: shown });
    yield bins;
  }
  return made;
}

/** Lanes of a host's processes. */
export function* processLanes(
  own: readonly ProcessTrace[],
  from: number,
  to: number,
  bins: number,
): Steps<RegionLane[]> {
  const made: RegionLane[] = [];
  for (const { name, lane, epochs, suspect } of own) {
    const spans = yield* laneSpans(lane, from, to, bins);
    made.push({
      name,
      spans: spans.filter(({ hash }) => hash !== HASH_UNMARKED),
      epochs: thinned(epochs, from, to, bins),
      ...(suspect !== null && { suspect }),
    });
    yield bins + epochs.length;
  }
  return made;
}

type HostSignals = Pick<HostTrace, 'host' | 'signals'>;

/** A signal of those hosts that have it. */
export function* signalBins(
  hosts: readonly HostSignals[],
  key: string,
  from: number,
  to: number,
  bins: number,
): Steps<EntityBins[]> {
  const found: EntityBins[] = [];
  for (const { host, signals } of hosts) {
    const track = signals.get(key);
    if (track === undefined) continue;
    found.push({ entity: host, ...track.bins([0], false, from, to, bins) });
    yield track.length + bins;
  }
  return found;
}

/** A recording's traces, each read when it is first asked for. */
export class ReadTraces {
  readonly traces: SharedWork<Awaited<ReturnType<typeof readTraces>>>;
  readonly profiles: SharedWork<readonly ProcessTrace[]>;

  constructor(open: () => Promise<OpenRecording>) {
    this.traces = new SharedWork(async (signal) => readTraces(endedBy(await open(), signal)));
    this.profiles = new SharedWork(async (signal) => {
      const sql = endedBy(await open(), signal);
      const columns = (await geopmColumns(sql)).get('geopm_profile_trace');
      if (columns === undefined) return [];
      return readProfiles(
        sql,
        columns.some(({ key }) => key === 'thread'),
        signal,
      );
    });
  }
}

/** What one request asks of them. */
export class RegionTraces {
  private readonly all: ReadTraces;
  private readonly _signal: AbortSignal;

  constructor(all: ReadTraces, signal: AbortSignal) {
    this.all = all;
    this._signal = signal;
  }

  private read(): ReturnType<typeof readTraces> {
    return this.all.traces.get(this._signal);
  }

  private readProfiles(): Promise<readonly ProcessTrace[]> {
    return this.all.profiles.get(this._signal);
  }

  async traces(): Promise<TraceFacts[]> {
    const { hosts, units } = await this.read();
    return hosts.map(({ host, times, lanes, signals }) => ({
      host,
      from: times[0],
      to: times[times.length - 1],
      rows: times.length,
      lanes: [...lanes.keys()],
      signals: [...signals.keys()].map((key) => ({ key, unit: units.get(key) ?? '' })),
    }));
  }

  async profiles(): Promise<ProfileFacts[]> {
    const hosts = new Map<string, { from: number; to: number; processes: number[] }>();
    for (const { host, process, from, lane } of await this.readProfiles()) {
      const own = hosts.get(host) ?? { from, to: lane.end, processes: [] };
      hosts.set(host, own);
      own.from = Math.min(own.from, from);
      own.to = Math.max(own.to, lane.end);
      // Threads of a process come one after the other.
      if (own.processes.at(-1) !== process) own.processes.push(process);
    }
    return [...hosts].map(([host, own]) => ({ host, ...own }));
  }

  /** Regions of processes, from their entries and exits. */
  async processes(names: ReadonlyMap<number, string>): Promise<ProcessRegion[]> {
    const all = await this.readProfiles();
    return all.flatMap(({ host, process, name, regions }) =>
      [...regions].map(([hash, { count, runtime }]) => ({
        ...{ host, process, name, count, runtime },
        region: names.get(hash) ?? `0x${hash.toString(16).padStart(8, '0')}`,
      })),
    );
  }

  /** Lanes of a host's CPUs; null where there is no trace of it. */
  async lanes(
    host: string,
    from: number,
    to: number,
    bins: number,
    room: Room = () => {},
  ): Promise<LanesFacts | null> {
    const trace = (await this.read()).hosts.find((one) => one.host === host);
    if (trace === undefined) return null;
    room(trace.lanes.size);
    const lanes = await inTurns(cpuLanes(trace, from, to, bins), this._signal);
    return { from, to, bins, lanes };
  }

  /** Lanes of a host's processes; null where there is no profile trace of it. */
  async processLanes(
    host: string,
    from: number,
    to: number,
    bins: number,
    room: Room = () => {},
  ): Promise<LanesFacts | null> {
    const own = (await this.readProfiles()).filter((one) => one.host === host);
    if (own.length === 0) return null;
    room(own.length);
    const lanes = await inTurns(processLanes(own, from, to, bins), this._signal);
    return { from, to, bins, lanes };
  }

  /** A signal of all hosts; null where no trace has it. */
  async signal(
    key: string,
    from: number,
    to: number,
    bins: number,
    room: Room = () => {},
  ): Promise<EntityBins[] | null> {
    const { hosts } = await this.read();
    room(hosts.length);
    const found = await inTurns(signalBins(hosts, key, from, to, bins), this._signal);
    return found.length === 0 ? null : found;
  }
}
