/** What is drawn in a lane: spans of regions, or slices of whatever has a time. */
import type { LaneSpan, RegionLane } from '../../../src/view/facts/regions.ts';

/** A span with a name of its own, in place of its look's. */
export interface Slice extends LaneSpan {
  readonly name?: string;
  /** Stands out among others. */
  readonly marked?: boolean;
}

export interface Lane extends Omit<RegionLane, 'spans'> {
  readonly spans: readonly Slice[];
}
