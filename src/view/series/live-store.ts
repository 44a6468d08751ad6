/**
 * Series from the frames of a running simulation or command. Memory is bounded: the oldest samples are dropped. Runs in the server and in the page.
 */
import { FrameDecoder } from '../../formats/frames/decode.ts';
import type { Batch, Schema } from '../../model/metric.ts';
import { byFrom, type Flag } from '../facts/flag.ts';
import { SeriesStore } from './store.ts';

/** Values kept in all, of 4 bytes. */
const MOST_VALUES = 20_000_000;
const MARK = 'node_mark';
const MOST_MARKS = 1000;

/** Marks of raw stats files, each with its host. `zero`: seconds since 1970 at the run's zero. */
function marksOf({ schema, columns, rows }: Batch, zero: number): Flag[] {
  const of = (key: string) => columns[schema.metrics.findIndex((metric) => metric.key === key)];
  const [times, hosts, texts] = ['time', 'host', 'mark'].map(of);
  if (times === undefined || texts === undefined) return [];
  return Array.from({ length: rows }, (_, row) => ({
    ...{ kind: 'mark' as const, from: Number(times[row]) - zero, to: null },
    text: `${hosts?.[row] ?? ''}: ${texts[row]}`,
  }));
}

/** Tables of single events, and of models' own values: they are asked for by SQL. */
export const NOT_DRAWN: readonly string[] = [
  'ross_model',
  'ross_event',
  'ross_rollback',
  'sim_suspension',
];

export class LiveStore {
  readonly store: SeriesStore;
  /** Marks of nodes, the newest. */
  marks: readonly Flag[] = [];
  /** Seconds since 1970 of the run's zero: records of raw stats files have wall-clock times. */
  zero = 0;
  private readonly damage: (message: string) => void;
  private decoders = new Map<number, FrameDecoder>();
  /** Frames left out when the connection began, and by now; null before the first frame. */
  private left: { readonly first: number; now: number } | null = null;
  private lostBefore = 0;

  private readonly most: number;

  constructor(damage: (message: string) => void = () => {}, most = MOST_VALUES) {
    this.store = new SeriesStore(most);
    this.damage = damage;
    this.most = most;
  }

  /** An empty store for the same streams, whose definitions so far stay valid. */
  successor(): LiveStore {
    const next = new LiveStore(this.damage, this.most);
    next.decoders = this.decoders;
    next.left = this.left;
    next.lostBefore = this.lostBefore;
    return next;
  }

  /** Frames that the server left out because this follower was too slow. */
  get lost(): number {
    return this.lostBefore + (this.left === null ? 0 : this.left.now - this.left.first);
  }

  /**
   * Prepares for a new connection, which sends the past again as far as the server keeps it. Samples that are here already are not taken
   * twice; missing ones show as a gap.
   */
  restart(): void {
    this.lostBefore = this.lost;
    this.left = null;
    this.decoders = new Map();
    this.marks = [];
    this.store.gap();
  }

  /** Takes a frame of a stream; `left`: frames left out before it. Returns whether samples came with it. */
  take(stream: number, frame: Uint8Array, left: number): boolean {
    if (this.left === null) {
      this.left = { first: left, now: left };
      // A late follower may miss the first samples. Then it is not known since when the next samples count.
      if (left > 0) this.store.since = null;
    } else if (left !== this.left.now) {
      this.left.now = left;
      this.store.gap();
    }
    let decoder = this.decoders.get(stream);
    if (decoder === undefined) {
      decoder = new FrameDecoder({
        wanted: ({ name }: Schema) => !NOT_DRAWN.includes(name),
        onDamage: (error) => this.damage(error.message),
      });
      this.decoders.set(stream, decoder);
    }
    const batches = decoder.push(frame);
    for (const batch of batches) {
      if (batch.schema.name === MARK) {
        const all = [...this.marks, ...marksOf(batch, this.zero)].sort(byFrom);
        this.marks = all.slice(-MOST_MARKS);
        continue;
      }
      const isWall = batch.schema.metrics.some(({ key }) => key === 'time');
      this.store.add(batch, isWall ? this.zero : 0);
    }
    return batches.length > 0;
  }
}
