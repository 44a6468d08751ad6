/** What processes spent their time on: the regions of their profile traces, each without the regions within it. */
import { type OpenRecording, quoteText, type Row } from '../../../query/index.ts';
import type { Has } from '../../tables.ts';
import { GrowingCourse, type LaneTimes, type TimePart, type Times } from './lanes.ts';

const ENTRY = 1;
const EXIT = 2;

/** Calls of MPI mostly wait for other ranks. */
const isMpi = (name: string): boolean => /^mpi_/i.test(name);

/** Null where there is no profile trace, or no region in it. */
export async function regionTimes(recording: OpenRecording, has: Has): Promise<Times | null> {
  const columns = ['t', 'host', 'process', 'event', 'hash'];
  if (!columns.every((column) => has(`geopm_profile_trace.${column}`))) return null;
  const thread = has('geopm_profile_trace.thread') ? 'thread' : 'NULL::INTEGER';
  const told = `SELECT host, process, ${thread} AS thread, t, event, hash, row_number() OVER () AS nth
    FROM geopm_profile_trace WHERE event IN ('REGION_ENTRY', 'REGION_EXIT')`;
  const names = await laneNames(recording, has, told);
  if (names.length === 0) return null;
  const regions = await namesOf(recording, has);
  const { batches } = await recording.columns(
    `SELECT (dense_rank() OVER (ORDER BY host, process, thread))::DOUBLE AS lane, t::DOUBLE,
      (CASE event WHEN 'REGION_ENTRY' THEN ${ENTRY} ELSE ${EXIT} END)::DOUBLE, hash::DOUBLE
    FROM (${told}) ORDER BY lane, t, nth`,
  );
  const readers = names.map((name) => new Reader(name, regions));
  for await (const { rows, columns: all } of batches) {
    const [lanes, times, events, hashes] = all as Float64Array[];
    for (let row = 0; row < rows; row++) {
      readers[lanes[row] - 1].take(times[row], events[row], hashes[row]);
    }
  }
  return timesOf(readers, regions);
}

interface LaneKey {
  readonly host: string;
  readonly process: number;
  readonly thread: number | null;
  readonly rank: number | null;
}

/** By MPI rank where all have one, else by their order: ids of processes differ each time. */
async function laneNames(recording: OpenRecording, has: Has, told: string): Promise<string[]> {
  const rank = ['process_id', 'host', 'rank'].every((key) => has(`process_info.${key}`))
    ? '(SELECT max(i.rank)::INTEGER FROM process_info i WHERE i.process_id = l.process AND i.host = l.host)'
    : 'NULL::INTEGER';
  const lanes = await recording.query<LaneKey & Row>(
    `SELECT host, process, thread, ${rank} AS rank
    FROM (SELECT DISTINCT host, process, thread FROM (${told})) l ORDER BY host, process, thread`,
  );
  const processOf = ({ host, process }: LaneKey) => `${host} ${process}`;
  const processes = [...new Set(lanes.map(processOf))];
  const ranked = lanes.every((lane) => lane.rank !== null);
  return lanes.map((lane) => {
    const name = ranked
      ? `rank ${lane.rank}`
      : processes.length === 1
        ? 'the process'
        : `process ${processes.indexOf(processOf(lane)) + 1} of ${processes.length}`;
    const several = lanes.some((one) => one !== lane && processOf(one) === processOf(lane));
    return several ? `${name}, thread ${lane.thread}` : name;
  });
}

/** Names of regions by their hashes, as far as reports tell them. */
async function namesOf(recording: OpenRecording, has: Has): Promise<Map<number, string>> {
  if (!has('geopm_region.section') || !has('geopm_region.hash')) return new Map();
  const rows = await recording.query<{ hash: number; name: string }>(
    `SELECT hash::DOUBLE AS hash, any_value(region) AS name FROM geopm_region
    WHERE section = ${quoteText('region')} AND hash IS NOT NULL AND region IS NOT NULL GROUP BY hash`,
  );
  return new Map(rows.map(({ hash, name }) => [hash, name]));
}

/** As regions without a name are called in tables, too. */
const nameOf = (hash: number, names: ReadonlyMap<number, string>): string =>
  names.get(hash) ?? `0x${hash.toString(16).padStart(8, '0')}`;

const OUTSIDE: TimePart = { key: '', label: 'outside of regions', isWait: false };

/** Adds up the visits of a process, or thread. Time belongs to the innermost region. */
class Reader {
  readonly name: string;
  private readonly names: ReadonlyMap<number, string>;
  /** By hash, NaN outside of all: the place in `spent`, in the order in which regions were entered first. */
  readonly places = new Map<number, number>([[Number.NaN, 0]]);
  private readonly spent: number[] = [0];
  private readonly inside: number[] = [];
  private readonly growing = new GrowingCourse();
  begin = Number.NaN;
  end = Number.NaN;
  private visits = 0;

  constructor(name: string, names: ReadonlyMap<number, string>) {
    this.name = name;
    this.names = names;
  }

  take(time: number, event: number, hash: number): void {
    if (Number.isNaN(this.begin)) this.begin = time;
    else this.spent[this.placeOf(this.inside.at(-1) ?? Number.NaN)] += time - this.end;
    this.end = time;
    if (event === ENTRY) {
      this.inside.push(hash);
      this.placeOf(hash);
      if (!isMpi(nameOf(hash, this.names))) this.visits++;
    } else {
      const at = this.inside.lastIndexOf(hash);
      // An exit without its entry: the trace began inside.
      if (at >= 0) this.inside.length = at;
    }
    this.growing.add(time, this.visits, this.spent);
  }

  private placeOf(hash: number): number {
    const known = this.places.get(hash);
    if (known !== undefined) return known;
    this.places.set(hash, this.spent.length);
    this.spent.push(0);
    return this.spent.length - 1;
  }

  lane(parts: readonly number[]): LaneTimes {
    const { spent, ...course } = this.growing.end(this.end, this.visits, this.spent);
    const none = course.times.map(() => 0);
    return {
      name: this.name,
      seconds: this.end - this.begin,
      course: {
        ...course,
        spent: parts.map((hash) => spent[this.places.get(hash) ?? -1] ?? none),
      },
    };
  }
}

function timesOf(readers: readonly Reader[], names: ReadonlyMap<number, string>): Times {
  const hashes = [...new Set(readers.flatMap(({ places }) => [...places.keys()]))];
  const parts = hashes.map((hash): TimePart => {
    if (Number.isNaN(hash)) return OUTSIDE;
    const name = nameOf(hash, names);
    return { key: name, label: name, isWait: isMpi(name) };
  });
  const begin = Math.min(...readers.map((one) => one.begin));
  const end = Math.max(...readers.map((one) => one.end));
  return {
    ...{ kind: 'process', progress: 'visits of regions', parts },
    lanes: readers.map((one) => one.lane(hashes)),
    wall: end - begin,
  };
}
