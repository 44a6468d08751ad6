/**
 * The live bus: takes samples, and gives encoded frames to all followers. Publishing never waits: frames for which a slow follower has no
 * room are left out and counted, and the gap in the frames' sequence numbers shows it to the reader.
 */
import { FrameEncoder } from '../formats/frames/index.ts';
import { AT, FLAG_DICTIONARY, FLAG_SCHEMA, HEADER_BYTES } from '../formats/frames/layout.ts';
import type { Batch } from '../model/metric.ts';
import type { PageFacts } from '../view/facts/run.ts';

/** A receiver of what is recorded: facts of the run, and frames of samples. */
export interface Follower {
  /**
   * Receives a frame of stream `stream`, and returns whether it had room for it. `left`: number of frames with samples left out
   * so far: those dropped before it joined, and those for which it had no room.
   */
  frame(stream: number, frame: Uint8Array, must: boolean, left: number): boolean;
  /** Receives what is known of the run, whenever it changes. */
  facts(facts: PageFacts): void;
  /** Whether it wants samples of a table; all tables by default. */
  wants?(table: string): boolean;
  /** For a follower that passes frames on: how many follow it, and frames for which these had no room. */
  counts?(): { readonly followers: number; readonly skipped: number };
}

interface SentFrame {
  readonly stream: number;
  readonly frame: Uint8Array;
  /** Name of its schema. */
  readonly table: string;
}

interface Following {
  readonly follower: Follower;
  left: number;
}

/** Bytes of earlier frames that a follower gets who joins late. */
const HISTORY_BYTES = 32 * 1024 * 1024;

const NO_FACTS: PageFacts = {
  title: 'live run',
  command: '',
  state: 'running',
  hosts: [],
  pes: [],
  zero: '0',
  notes: [],
};

const field = (frame: Uint8Array, at: number): number =>
  new DataView(frame.buffer, frame.byteOffset).getUint32(at, true);

/** Name of the schema that a frame defines. */
function nameOf(frame: Uint8Array): string {
  const text = new TextDecoder().decode(frame.subarray(HEADER_BYTES));
  return (JSON.parse(text) as { name: string }).name;
}

/**
 * Gives frames of samples to followers as they come; slow followers miss some and are told how many.
 * @example
 * ```ts
 * import { LiveBus, startServer } from 'triscope/live';
 *
 * const bus = new LiveBus({ title: 'my run' });
 * const server = await startServer({ bus });
 * console.log(server.url);
 * bus.update({ state: 'finished' });
 * await server.close();
 * ```
 */
export class LiveBus {
  private readonly _followers = new Set<Following>();
  private readonly encoder = new FrameEncoder();
  private _skipped = 0;
  private _facts: PageFacts;
  /** Definitions and dictionaries by stream: a new follower needs them all. */
  private readonly definitions: SentFrame[] = [];
  private readonly history: SentFrame[] = [];
  private historyBytes = 0;
  private streams = 1;
  /** Names of schemas, by stream and number. */
  private readonly names = new Map<string, string>();
  /** Frames with samples that are in the history no more, by table. */
  private readonly forgotten = new Map<string, number>();

  /** @param facts what is known of the run from the start */
  constructor(facts: Partial<PageFacts> = {}) {
    const now = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
    this._facts = { ...NO_FACTS, zero: String(now), ...facts };
  }

  /** What is known of the run. */
  get facts(): PageFacts {
    return this._facts;
  }

  /** Number of followers. */
  get followers(): number {
    let count = 0;
    for (const { follower } of this._followers) count += follower.counts?.().followers ?? 1;
    return count;
  }

  /** Data frames that were left out, over all followers. */
  get skipped(): number {
    let count = this._skipped;
    for (const { follower } of this._followers) count += follower.counts?.().skipped ?? 0;
    return count;
  }

  /** Changes what is said about the run: its PEs' places once they are known, its state at the end. */
  update(facts: Partial<PageFacts>): void {
    this._facts = { ...this._facts, ...facts };
    for (const { follower } of this._followers) follower.facts(this._facts);
  }

  /** Publishes samples. @throws TypeError for a column that its schema does not allow */
  publish(batch: Batch): void {
    this.send(0, this.encoder.encode(batch));
  }

  /** An entry for frames of another encoder, some of which may be missing; each encoder needs its own. */
  stream(): (frames: readonly Uint8Array[], dropped?: number) => void {
    const stream = this.streams++;
    return (frames, dropped = 0) => {
      this._skipped += dropped;
      // They are missing for all, like frames that one had no room for.
      for (const following of this._followers) following.left += dropped;
      this.send(stream, frames);
    };
  }

  /** Sends the earlier frames, then new ones. Call the result to stop. */
  follow(follower: Follower): () => void {
    let left = 0;
    for (const [table, count] of this.forgotten) {
      if (follower.wants?.(table) ?? true) left += count;
    }
    follower.facts(this._facts);
    for (const kept of [...this.definitions, ...this.history]) {
      if (follower.wants?.(kept.table) ?? true) follower.frame(kept.stream, kept.frame, true, left);
    }
    const following = { follower, left };
    this._followers.add(following);
    return () => {
      if (this._followers.delete(following)) this._skipped += follower.counts?.().skipped ?? 0;
    };
  }

  private send(stream: number, frames: readonly Uint8Array[]): void {
    for (const frame of frames) {
      const flags = field(frame, AT.flags);
      const must = (flags & (FLAG_SCHEMA | FLAG_DICTIONARY)) !== 0;
      const kept = { stream, frame, table: this.tableOf(stream, frame, flags) };
      if (must) this.definitions.push(kept);
      else this.keep(kept);
      for (const following of this._followers) this.offer(following, kept, must);
    }
  }

  private offer(following: Following, { stream, frame, table }: SentFrame, must: boolean): void {
    const { follower, left } = following;
    if (!(follower.wants?.(table) ?? true)) return;
    if (follower.frame(stream, frame, must, left)) return;
    following.left++;
    this._skipped++;
  }

  private tableOf(stream: number, frame: Uint8Array, flags: number): string {
    const key = `${stream} ${field(frame, AT.schema)}`;
    if (flags === FLAG_SCHEMA) this.names.set(key, nameOf(frame));
    return this.names.get(key) ?? '';
  }

  private keep(kept: SentFrame): void {
    this.history.push(kept);
    this.historyBytes += kept.frame.length;
    let gone = 0;
    while (this.historyBytes > HISTORY_BYTES && gone < this.history.length - 1) {
      const { frame, table } = this.history[gone++];
      this.historyBytes -= frame.length;
      this.forgotten.set(table, (this.forgotten.get(table) ?? 0) + 1);
    }
    // Rarely, and many at once: shifting an array costs its length.
    if (gone > 0) this.history.splice(0, gone);
  }
}
