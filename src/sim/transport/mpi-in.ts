/** Batches that arrive: a ring of receives that are always under way, each into a pinned buffer of its own. */
import { pinned } from '../../os/mpi/memory.ts';
import type { MpiWorld } from '../../os/mpi/world.ts';
import type { BatchShape } from './mpi-batch.ts';

/** Receives under way. What arrives beyond them waits inside MPI, which copies it once more. */
const RECEIVES = 64;

export class BatchesIn {
  readonly words: Int32Array;
  private readonly world: MpiWorld;
  private readonly shape: BatchShape;
  private readonly addresses: readonly bigint[];
  private readonly requests: readonly bigint[];
  /** The oldest receive: batches fill them in order. */
  private head = 0;
  private arrived = false;

  constructor(world: MpiWorld, shape: BatchShape) {
    this.world = world;
    this.shape = shape;
    const { address, memory } = pinned(RECEIVES * shape.bytes);
    this.words = new Int32Array(memory);
    this.addresses = Array.from({ length: RECEIVES }, (_, k) => address + BigInt(k * shape.bytes));
    this.requests = world.requests(RECEIVES).at;
    for (let k = 0; k < RECEIVES; k++) this.receive(k);
  }

  private receive(k: number): void {
    this.world.startReceive(this.addresses[k], this.shape.bytes, this.requests[k]);
  }

  /** Whether the next batch has arrived. */
  look(): boolean {
    if (!this.arrived) this.arrived = this.world.done(this.requests[this.head]);
    return this.arrived;
  }

  /** Index in `words` of the batch that has arrived. */
  at(): number {
    return this.head * (this.shape.bytes / 4);
  }

  /** That batch is done with. */
  release(): void {
    this.receive(this.head);
    this.head = (this.head + 1) % RECEIVES;
    this.arrived = false;
  }

  close(): void {
    for (let k = 0; k < RECEIVES; k++) {
      if (k !== this.head || !this.arrived) this.world.cancel(this.requests[k]);
    }
  }
}
