/** Profile traces: what each process told, as a lane of regions, epochs, and times inside regions. */
import { HASH_UNMARKED } from '../../model/region-hash.ts';
import type { OpenRecording } from '../../query/index.ts';
import type { LaneTimes } from './regions-lanes.ts';

export interface ProcessTrace {
  readonly host: string;
  readonly process: number;
  readonly from: number;
  /** Outermost regions; the constant for unmarked time between them. */
  readonly lane: LaneTimes;
  readonly epochs: Float64Array;
  /** By hash: visits and seconds from entry to exit. Short visits, which have no times, are left out. */
  readonly regions: ReadonlyMap<number, { count: number; runtime: number }>;
  readonly suspect: { readonly from: number; readonly what: string } | null;
}

class Reader {
  readonly host: string;
  readonly process: number;
  private readonly times: number[] = [];
  private readonly hashes: number[] = [];
  private readonly epochs: number[] = [];
  private readonly regions = new Map<number, { count: number; runtime: number }>();
  /** Regions that it is in, outermost first. */
  private readonly inside: { hash: number; since: number }[] = [];
  private last = Number.NEGATIVE_INFINITY;

  constructor(host: string, process: number) {
    this.host = host;
    this.process = process;
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

  end(): ProcessTrace {
    const [open] = this.inside;
    const what =
      'it never told that it left this region: it was ended inside, or the trace was cut';
    return {
      ...{ host: this.host, process: this.process },
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

/** Reads them. What one process told stays in its order, also where times are equal. */
export async function readProfiles(sql: OpenRecording): Promise<readonly ProcessTrace[]> {
  const { blocks } = await sql.rows(
    'SELECT host, process, t, event, hash FROM geopm_profile_trace',
  );
  const told = new Map<string, { reader: Reader; events: Told[] }>();
  for await (const block of blocks) {
    for (const [host, process, time, event, hash] of block) {
      const of = `${process} ${host}`;
      const own = told.get(of) ?? {
        reader: new Reader(String(host ?? ''), Number(process)),
        events: [],
      };
      told.set(of, own);
      own.events.push({ time: Number(time), event: String(event), hash: Number(hash) });
    }
  }
  return [...told.values()].map(({ reader, events }) => {
    events.sort((a, b) => a.time - b.time);
    for (const { time, event, hash } of events) reader.take(time, event, hash);
    return reader.end();
  });
}
