/** Profile traces: what each thread, or process, told, as a lane of regions, epochs, and times inside regions. */
import { HASH_UNMARKED } from '../../model/region-hash.ts';
import type { OpenRecording } from '../../query/index.ts';
import { STEP, type Steps, sorted } from '../../view/steps.ts';
import { inTurns } from '../net/shared-work.ts';
import type { LaneStretches } from './regions-lanes.ts';

export interface ProcessTrace {
  readonly host: string;
  readonly process: number;
  /** The process, and the thread where several told something. */
  readonly name: string;
  readonly from: number;
  /** Outermost regions; the constant for unmarked time between them. */
  readonly lane: LaneStretches;
  readonly epochs: Float64Array;
  /** By hash: visits and seconds from entry to exit. Short visits, which have no times, are left out. */
  readonly regions: ReadonlyMap<number, { count: number; runtime: number }>;
  readonly suspect: { readonly from: number; readonly what: string } | null;
}

class Reader {
  readonly host: string;
  readonly process: number;
  readonly thread: number | null;
  private readonly times: number[] = [];
  private readonly hashes: number[] = [];
  private readonly epochs: number[] = [];
  private readonly regions = new Map<number, { count: number; runtime: number }>();
  /** Regions that it is in, outermost first. */
  private readonly inside: { hash: number; since: number }[] = [];
  private last = Number.NEGATIVE_INFINITY;

  constructor(host: string, process: number, thread: number | null) {
    this.host = host;
    this.process = process;
    this.thread = thread;
  }

  take(time: number, event: string, hash: number): void {
    this.last = Math.max(this.last, time);
    if (event === 'REGION_ENTRY') {
      if (this.inside.length === 0) this.set(time, hash);
      this.inside.push({ hash, since: time });
    } else if (event === 'REGION_EXIT') this.leave(time, hash);
    else if (event === 'EPOCH_COUNT') this.epochs.push(time);
  }

  private set(time: number, hash: number): void {
    this.times.push(time);
    this.hashes.push(hash);
  }

  private leave(time: number, hash: number): void {
    const at = this.inside.findLastIndex((one) => one.hash === hash);
    // An exit without its entry: the trace began inside.
    if (at < 0) return;
    for (const { hash: left, since } of this.inside.splice(at)) {
      const sum = this.regions.get(left) ?? { count: 0, runtime: 0 };
      sum.count++;
      sum.runtime += time - since;
      this.regions.set(left, sum);
    }
    if (this.inside.length === 0) this.set(time, HASH_UNMARKED);
  }

  /** Whether it told of regions or epochs. */
  get told(): boolean {
    return this.times.length > 0 || this.epochs.length > 0;
  }

  /** @param several whether threads of its process told something, too */
  end(called: string, several: boolean): ProcessTrace {
    const { host, process, thread } = this;
    const name = `${called}${several ? ` thread ${thread}` : ''}`;
    const [open] = this.inside;
    const what =
      'it never told that it left this region: it was ended inside, or the trace was cut';
    return {
      ...{ host, process, name },
      from: this.times[0] ?? this.last,
      lane: {
        times: Float64Array.from(this.times),
        hashes: Uint32Array.from(this.hashes),
        end: this.last,
      },
      epochs: Float64Array.from(this.epochs),
      regions: this.regions,
      suspect: open === undefined ? null : { from: open.since, what },
    };
  }
}

interface Told {
  readonly time: number;
  readonly event: string;
  readonly hash: number;
}

interface ToldBy {
  readonly host: string;
  readonly process: number;
  /** Null where the trace does not tell threads apart. */
  readonly thread?: number | null;
  readonly events: Told[];
}

/** “rank 1 (process 812)”, “process 812 (solver)”, of a recorded command's processes, by `PROCESS HOST`. */
type ProcessNames = ReadonlyMap<string, string>;

/** What one thread told stays in its order, also where times are equal. Of threads, those that told of regions or epochs. */
export function* processTraces(
  told: readonly ToldBy[],
  names: ProcessNames = new Map(),
): Steps<readonly ProcessTrace[]> {
  const processes = new Map<string, Reader[]>();
  for (const { host, process, thread = null, events } of told) {
    const reader = new Reader(host, process, thread);
    const inTime = yield* sorted(events, (a, b) => a.time - b.time);
    for (const [k, { time, event, hash }] of inTime.entries()) {
      if (k % STEP === 0) yield STEP;
      reader.take(time, event, hash);
    }
    const of = `${process} ${host}`;
    const own = processes.get(of) ?? [];
    processes.set(of, own);
    own.push(reader);
  }
  return [...processes].flatMap(([of, readers]) => {
    const marked = readers.filter((reader) => reader.told);
    const shown = marked.length === 0 ? readers.slice(0, 1) : marked;
    const called = names.get(of) ?? `process ${readers[0].process}`;
    return shown.map((reader) => reader.end(called, shown.length > 1));
  });
}

/** None where the processes were not recorded. */
async function namesIn(sql: OpenRecording): Promise<ProcessNames> {
  const tables = await sql.query<{ there: boolean }>(
    "SELECT count(*) > 0 AS there FROM information_schema.columns WHERE table_name = 'process_info' AND column_name = 'rank'",
  );
  if (tables[0]?.there !== true) return new Map();
  const rows = await sql.query<{ of: string; name: string }>(
    `SELECT process_id || ' ' || host AS of, coalesce('rank ' || max(rank)::INTEGER || ' (process ' || process_id || ')', 'process ' || process_id || ' (' || arg_max(name, t) || ')') AS name
      FROM process_info GROUP BY host, process_id`,
  );
  return new Map(rows.map(({ of, name }) => [of, name]));
}

/** Reads them. @param hasThreads whether the table tells them apart @throws the signal's reason */
export async function readProfiles(
  sql: OpenRecording,
  hasThreads: boolean,
  signal: AbortSignal,
): Promise<readonly ProcessTrace[]> {
  const thread = hasThreads ? 'thread' : 'NULL';
  const { blocks } = await sql.rows(
    `SELECT host, process, ${thread}, t, event, hash FROM geopm_profile_trace`,
  );
  const told = new Map<string, ToldBy>();
  for await (const block of blocks) {
    for (const [host, process, thread, time, event, hash] of block) {
      const of = `${process} ${thread} ${host}`;
      const own = told.get(of) ?? {
        ...{ host: String(host ?? ''), process: Number(process) },
        thread: thread === null ? null : Number(thread),
        events: [],
      };
      told.set(of, own);
      own.events.push({ time: Number(time), event: String(event), hash: Number(hash) });
    }
  }
  return inTurns(processTraces([...told.values()], await namesIn(sql)), signal);
}
