/**
 * The live bus: samples in, encoded frames out to whoever follows. Publishing never waits: what a slow follower has no
 * room for is left out and counted, and the gap in the frames' sequence shows it to the reader.
 */
import { FrameEncoder } from '../formats/frames/index.ts';
import { AT, FLAG_DICTIONARY, FLAG_SCHEMA } from '../formats/frames/layout.ts';
import type { Batch } from '../model/metric.ts';
import type { Facts } from './facts.ts';

/** Gets frames of stream `stream` and says whether it had room for them. */
export interface Follower {
  frame(stream: number, frame: Uint8Array, must: boolean): boolean;
  facts(facts: Facts): void;
}

interface Kept {
  readonly stream: number;
  readonly frame: Uint8Array;
}

/** Bytes of the past that a follower gets who joins late. */
const HISTORY = 32 * 1024 * 1024;

const NO_FACTS: Facts = {
  title: 'live run',
  command: '',
  state: 'running',
  hosts: [],
  pes: [],
  zero: '0',
  notes: [],
};

function flagsOf(frame: Uint8Array): number {
  return new DataView(frame.buffer, frame.byteOffset).getUint32(AT.flags, true);
}

export class LiveBus {
  /** Data frames that were left out, over all followers. */
  skipped = 0;
  readonly #followers = new Set<Follower>();
  readonly #encoder = new FrameEncoder();
  #facts: Facts;
  /** Definitions and dictionaries by stream: who joins needs them all. */
  readonly #definitions: Kept[] = [];
  readonly #history: Kept[] = [];
  #historyBytes = 0;
  #streams = 1;

  constructor(facts: Partial<Facts> = {}) {
    const now = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
    this.#facts = { ...NO_FACTS, zero: String(now), ...facts };
  }

  get facts(): Facts {
    return this.#facts;
  }

  get followers(): number {
    return this.#followers.size;
  }

  /** Changes what is said about the run: its PEs' places once they are known, its state at the end. */
  update(facts: Partial<Facts>): void {
    this.#facts = { ...this.#facts, ...facts };
    for (const follower of this.#followers) follower.facts(this.#facts);
  }

  /** Publishes samples. @throws TypeError for a column that its schema does not allow */
  publish(batch: Batch): void {
    this.#send(0, this.#encoder.encode(batch));
  }

  /** A way in for frames that another encoder made, of which some may be missing; each encoder needs its own. */
  stream(): (frames: readonly Uint8Array[], dropped?: number) => void {
    const stream = this.#streams++;
    return (frames, dropped = 0) => {
      this.skipped += dropped;
      this.#send(stream, frames);
    };
  }

  /** Sends the past, then what comes. Call the result to stop. */
  follow(follower: Follower): () => void {
    follower.facts(this.#facts);
    for (const { stream, frame } of this.#definitions) follower.frame(stream, frame, true);
    for (const { stream, frame } of this.#history) follower.frame(stream, frame, true);
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  #send(stream: number, frames: readonly Uint8Array[]): void {
    for (const frame of frames) {
      const must = (flagsOf(frame) & (FLAG_SCHEMA | FLAG_DICTIONARY)) !== 0;
      if (must) this.#definitions.push({ stream, frame });
      else this.#keep({ stream, frame });
      for (const follower of this.#followers) {
        if (!follower.frame(stream, frame, must)) this.skipped++;
      }
    }
  }

  #keep(kept: Kept): void {
    this.#history.push(kept);
    this.#historyBytes += kept.frame.length;
    let gone = 0;
    while (this.#historyBytes > HISTORY && gone < this.#history.length - 1) {
      this.#historyBytes -= this.#history[gone++].frame.length;
    }
    // Rarely, and many at once: shifting an array costs its length.
    if (gone > 0) this.#history.splice(0, gone);
  }
}
