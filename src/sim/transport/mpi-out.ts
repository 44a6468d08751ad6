/** Slots on their way to other ranks: gathered into batches in pinned buffers, one being filled per destination. */
import { type Pinned, pinned } from '../../os/mpi/memory.ts';
import type { MpiWorld } from '../../os/mpi/world.ts';
import {
  BATCH_COLOUR,
  BATCH_FROM,
  BATCH_HEADER,
  BATCH_SLOTS,
  type BatchShape,
} from './mpi-batch.ts';

/** Buffers that are added at a time. */
const CHUNK = 64;

interface Chunk extends Pinned {
  readonly words: Int32Array;
}

export class BatchesOut {
  /** The words that `slot` points into. */
  words: Int32Array = new Int32Array(0);
  private readonly world: MpiWorld;
  private readonly shape: BatchShape;
  private readonly chunks: Chunk[] = [];
  /** Of each buffer. */
  private readonly addresses: bigint[] = [];
  private readonly requests: bigint[] = [];
  private readonly free: number[] = [];
  /** Buffers that MPI has, oldest first. */
  private flying: number[] = [];
  /** Per destination: the buffer being filled, or -1, and how many slots are in it. */
  private readonly filling: Int32Array;
  private readonly filled: Int32Array;
  /** Destinations with something in their buffer. */
  private readonly begun: number[] = [];
  private readonly sent: (to: number) => number;

  /** @param sent called before each batch goes: returns its colour */
  constructor(world: MpiWorld, shape: BatchShape, sent: (to: number) => number) {
    this.world = world;
    this.shape = shape;
    this.sent = sent;
    this.filling = new Int32Array(world.size).fill(-1);
    this.filled = new Int32Array(world.size);
  }

  /** Index in `words` of the next slot for rank `to`, which the caller fills. Never blocks: buffers are added as needed. */
  slot(to: number): number {
    let buffer = this.filling[to];
    if (buffer >= 0 && this.filled[to] === this.shape.slots) {
      this.send(to, buffer);
      buffer = -1;
    }
    if (buffer < 0) {
      buffer = this.take();
      if (this.filling[to] < 0) this.begun.push(to);
      this.filling[to] = buffer;
      this.filled[to] = 0;
    }
    const { words } = this.chunks[(buffer / CHUNK) | 0];
    this.words = words;
    return this.startOf(buffer) + BATCH_HEADER + this.filled[to]++ * this.shape.slotWords;
  }

  /** Sends all that is gathered; returns how many batches. */
  flush(): number {
    const { begun } = this;
    const count = begun.length;
    for (let k = 0; k < count; k++) {
      const to = begun[k];
      this.send(to, this.filling[to]);
      this.filling[to] = -1;
    }
    begun.length = 0;
    return count;
  }

  private startOf(buffer: number): number {
    return (buffer % CHUNK) * (this.shape.bytes / 4);
  }

  private send(to: number, buffer: number): void {
    const { words } = this.chunks[(buffer / CHUNK) | 0];
    const at = this.startOf(buffer);
    const slots = this.filled[to];
    words[at + BATCH_SLOTS] = slots;
    words[at + BATCH_FROM] = this.world.rank;
    words[at + BATCH_COLOUR] = this.sent(to);
    const bytes = (BATCH_HEADER + slots * this.shape.slotWords) * 4;
    this.world.startSend(this.addresses[buffer], bytes, to, this.requests[buffer]);
    this.flying.push(buffer);
  }

  private take(): number {
    if (this.free.length === 0) this.reap();
    if (this.free.length === 0) this.grow();
    return this.free.pop() as number;
  }

  /** Takes back the buffers of batches that have gone. */
  private reap(): void {
    const { flying, free, requests, world } = this;
    let kept = 0;
    for (let k = 0; k < flying.length; k++) {
      const buffer = flying[k];
      if (world.done(requests[buffer])) free.push(buffer);
      else flying[kept++] = buffer;
    }
    flying.length = kept;
  }

  private grow(): void {
    const memory = pinned(CHUNK * this.shape.bytes);
    const first = this.chunks.length * CHUNK;
    this.chunks.push({ ...memory, words: new Int32Array(memory.memory) });
    this.requests.push(...this.world.requests(CHUNK).at);
    for (let k = 0; k < CHUNK; k++) {
      this.addresses.push(memory.address + BigInt(k * this.shape.bytes));
      this.free.push(first + k);
    }
  }
}
