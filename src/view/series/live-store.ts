/**
 * Frames of a run that goes on, as series. Bounded: the oldest samples go. Runs in the server and in the page.
 */
import { FrameDecoder } from '../../formats/frames/decode.ts';
import type { Batch, Schema } from '../../model/metric.ts';
import { byFrom, type Flag } from '../facts/flag.ts';
import { Rollbacks } from '../simulation/rollbacks.ts';
import { SeriesStore } from './store.ts';

/** Values kept in all, of 4 bytes. */
const MOST_VALUES = 20_000_000;
const MOST_ROLLBACKS = 100_000;
const ROLLBACK = 'ross_rollback';
const MARK = 'node_mark';
const MOST_MARKS = 1000;

/** Marks of raw stats files, each with its host. `zero`: seconds since 1970 at the run's zero. */
function marksOf({ schema, columns, length }: Batch, zero: number): Flag[] {
  const of = (key: string) => columns[schema.metrics.findIndex((metric) => metric.key === key)];
  const [times, hosts, texts] = ['time', 'host', 'mark'].map(of);
  if (times === undefined || texts === undefined) return [];
  return Array.from({ length }, (_, row) => ({
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
  /** Single rollbacks, the newest. */
  rollbacks = new Rollbacks(MOST_ROLLBACKS);
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

  /** An empty one that goes on with the same streams: what they have defined so far still holds. */
  successor(): LiveStore {
    const next = new LiveStore(this.damage, this.most);
    next.decoders = this.decoders;
    next.left = this.left;
    next.lostBefore = this.lostBefore;
    return next;
  }

  /** Frames that did not come because who takes them was too slow. */
  get lost(): number {
    return this.lostBefore + (this.left === null ? 0 : this.left.now - this.left.first);
  }

  /**
   * A connection begins anew: the past comes again, as far as it is kept. What is here already is not taken twice, and
   * what is missing between shows as a gap.
   */
  restart(): void {
    this.lostBefore = this.lost;
    this.left = null;
    this.decoders = new Map();
    // They come again; those that do not are of no cascade that could be followed.
    this.rollbacks = new Rollbacks(MOST_ROLLBACKS);
    this.marks = [];
    this.store.gap();
  }

  /** Takes a frame of a stream; `left`: frames left out before it. Returns whether samples came with it. */
  take(stream: number, frame: Uint8Array, left: number): boolean {
    if (this.left === null) {
      this.left = { first: left, now: left };
      // Who joins late may miss the first samples: since when what they count was counted is not known then.
      if (left > 0) this.store.anchored = false;
    } else if (left !== this.left.now) {
      this.left.now = left;
      this.store.gap();
    }
    let decoder = this.decoders.get(stream);
    if (decoder === undefined) {
      decoder = new FrameDecoder({
        wanted: ({ name }: Schema) => name === ROLLBACK || !NOT_DRAWN.includes(name),
        onDamage: (error) => this.damage(error.message),
      });
      this.decoders.set(stream, decoder);
    }
    const batches = decoder.push(frame);
    for (const batch of batches) {
      if (batch.schema.name === ROLLBACK) {
        this.rollbacks.take(batch);
        continue;
      }
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
