/** The contents of a lane: spans of regions, or slices of anything with a time. */
import type { LaneSpan, RegionLane } from '../../../src/view/facts/regions.ts';

/** A span with a name of its own, in place of its look's. */
export interface Slice extends LaneSpan {
  readonly name?: string;
  /** Drawn highlighted. */
  readonly marked?: boolean;
}

export interface Lane extends Omit<RegionLane, 'spans'> {
  readonly spans: readonly Slice[];
}
