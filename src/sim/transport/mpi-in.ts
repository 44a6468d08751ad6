/** Batches that arrive: a ring of receives that are always under way, each into a pinned buffer of its own. */
import { pinned } from '../../os/mpi/memory.ts';
import type { MpiWorld } from '../../os/mpi/world.ts';
import type { BatchShape } from './mpi-batch.ts';

/** Number of receives under way. What arrives beyond them waits inside MPI, which copies it once more. */
const RECEIVES = 64;

export class BatchesIn {
  readonly words: Int32Array;
  readonly doubles: Float64Array;
  private readonly world: MpiWorld;
  private readonly bufferWords: number;
  private readonly requests: readonly number[];
  /** The oldest receive: batches fill them in order. */
  private head = 0;
  /** Batches processed so far. */
  processed = 0;
  /** Number of batches from there on that are known to have arrived. */
  known = 0;

  constructor(world: MpiWorld, shape: BatchShape) {
    this.world = world;
    this.bufferWords = shape.bytes / 4;
    const { address, memory } = pinned(RECEIVES * shape.bytes);
    this.words = new Int32Array(memory);
    this.doubles = new Float64Array(memory);
    this.requests = world.requests(RECEIVES).at;
    for (const [k, request] of this.requests.entries()) {
      world.prepareReceive(address + k * shape.bytes, shape.bytes, request);
      world.startReceive(request);
    }
  }

  /** Whether one more batch has arrived than was known. */
  look(): boolean {
    if (this.known === RECEIVES) return false;
    if (!this.world.done(this.requests[(this.head + this.known) % RECEIVES])) return false;
    this.known++;
    return true;
  }

  /** Index in `words` of the batch `behind` the oldest that has arrived. */
  at(behind: number): number {
    return ((this.head + behind) % RECEIVES) * this.bufferWords;
  }

  /** Called when the oldest batch has been processed. */
  release(): void {
    this.world.startReceive(this.requests[this.head]);
    this.head = (this.head + 1) % RECEIVES;
    this.known--;
    this.processed++;
  }

  close(): void {
    for (const [k, request] of this.requests.entries()) {
      this.world.dropReceive(request, (k - this.head + RECEIVES) % RECEIVES >= this.known);
    }
  }
}
