/** A transport between ranks, whether they share memory or not. */
import type { Transport } from './transport.ts';

/** Counts of all ranks at the last GVT. */
export interface RankProgress {
  readonly gvt: number;
  readonly committed: number;
  readonly rolledBack: number;
}

export interface RankTransport extends Transport {
  /** Batches sent so far. */
  readonly batches: number;
  progress(): RankProgress;
  /** Stops the run: all ranks, at the next GVT. */
  stop(): void;
  /** Called after the last GVT: nothing is received any more. */
  close(): void;
}
