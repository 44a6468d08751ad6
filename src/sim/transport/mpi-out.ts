/** Slots on their way to other ranks: collected into batches in pinned buffers, one of which is being filled per destination. */
import { pinned } from '../../os/mpi/memory.ts';
import type { MpiWorld } from '../../os/mpi/world.ts';
import {
  BATCH_COLOUR,
  BATCH_FROM,
  BATCH_HEADER,
  BATCH_SLOTS,
  BATCH_TAKEN,
  type BatchShape,
} from './mpi-batch.ts';
import type { MpiPromises } from './mpi-promises.ts';

/** Number of buffers that are added, and tested for completion, at a time. */
const CHUNK = 64;

interface Chunk {
  readonly words: Int32Array;
  /** Per buffer. */
  readonly addresses: readonly number[];
  readonly requests: readonly number[];
}

export class BatchesOut {
  /** The words into which `slot` points. */
  words: Int32Array = new Int32Array(0);
  private readonly world: MpiWorld;
  private readonly shape: BatchShape;
  private readonly chunks: Chunk[] = [];
  /** Buffers by number: chunk by chunk. */
  private readonly free: number[] = [];
  private readonly gone = pinned(CHUNK * 4);
  private readonly goneIndices = new Int32Array(this.gone.memory);
  /** Per destination: the buffer being filled, or -1, and the number of slots in it. */
  private readonly filling: Int32Array;
  private readonly filled: Int32Array;
  /** Destinations whose buffer is not empty. */
  private readonly begun: number[] = [];
  /** By destination: batches sent so far, with those without slots. */
  readonly sentTo: Float64Array;
  private readonly sent: (to: number) => number;
  private readonly promises: MpiPromises | null;

  /** @param sent called before each batch with slots is sent: returns its colour */
  constructor(
    world: MpiWorld,
    shape: BatchShape,
    sent: (to: number) => number,
    promises: MpiPromises | null,
  ) {
    this.world = world;
    this.shape = shape;
    this.sent = sent;
    this.promises = promises;
    this.sentTo = new Float64Array(world.size);
    this.filling = new Int32Array(world.size).fill(-1);
    this.filled = new Int32Array(world.size);
  }

  /** Index in `words` of the next slot for rank `to`, which the caller fills. Never blocks: buffers are added as needed. */
  slot(to: number): number {
    let buffer = this.filling[to];
    if (buffer >= 0 && this.filled[to] === this.shape.slots) {
      this.send(to, buffer, this.filled[to]);
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

  /** Whether there is anything to send. */
  get gathered(): boolean {
    return this.begun.length > 0;
  }

  /** Sends all that is collected. */
  flush(): void {
    const { begun } = this;
    for (let k = 0; k < begun.length; k++) {
      const to = begun[k];
      this.send(to, this.filling[to], this.filled[to]);
      this.filling[to] = -1;
    }
    begun.length = 0;
  }

  /** Sends a batch without slots. @param what BEGINS_ROUND or TELLS_PROGRESS */
  tell(to: number, what: number): void {
    this.start(to, this.take(), 0, what);
  }

  private startOf(buffer: number): number {
    return (buffer % CHUNK) * (this.shape.bytes / 4);
  }

  private send(to: number, buffer: number, slots: number): void {
    this.start(to, buffer, slots, this.sent(to));
  }

  private start(to: number, buffer: number, slots: number, colour: number): void {
    const { words, addresses, requests } = this.chunks[(buffer / CHUNK) | 0];
    const at = this.startOf(buffer);
    words[at + BATCH_SLOTS] = slots;
    words[at + BATCH_FROM] = this.world.rank;
    words[at + BATCH_COLOUR] = colour;
    const header = this.promises?.header;
    if (header !== undefined)
      for (let k = BATCH_TAKEN; k < BATCH_HEADER; k++) words[at + k] = header[k];
    const bytes = (BATCH_HEADER + slots * this.shape.slotWords) * 4;
    const k = buffer % CHUNK;
    this.sentTo[to]++;
    this.world.startSend(addresses[k], bytes, to, requests[k]);
  }

  private take(): number {
    if (this.free.length === 0) this.reap();
    if (this.free.length === 0) this.grow();
    return this.free.pop() as number;
  }

  /** Frees the buffers of batches that have been sent: one call for all of a chunk. */
  private reap(): void {
    for (const [c, { requests }] of this.chunks.entries()) {
      const count = this.world.doneSome(CHUNK, requests[0], this.gone);
      for (let k = 0; k < count; k++) this.free.push(c * CHUNK + this.goneIndices[k]);
    }
  }

  private grow(): void {
    const { address, memory } = pinned(CHUNK * this.shape.bytes);
    const first = this.chunks.length * CHUNK;
    const addresses = Array.from({ length: CHUNK }, (_, k) => address + k * this.shape.bytes);
    const requests = this.world.requests(CHUNK).at;
    this.chunks.push({ words: new Int32Array(memory), addresses, requests });
    for (let k = 0; k < CHUNK; k++) this.free.push(first + k);
  }
}
