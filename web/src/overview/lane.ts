/** A chart of a lane: its request to the source, its lines, and the sentence about them. */
import type { PageFacts } from '../../../src/view/facts/run.ts';
import type { ChartLook, DrawnLine } from '../parts/lines.ts';
import type { PageSource } from '../source.ts';

export type LaneGroup = 'simulation' | 'regions' | 'threads' | 'nodes';

/** What is looked at. */
export interface LaneView {
  readonly facts: PageFacts;
  /** Seconds. */
  readonly from: number;
  readonly to: number;
  readonly bins: number;
  /** PE that is looked at alone; null for all. */
  readonly pe: number | null;
}

export interface DrawnLane {
  /** In place of the chart's own. */
  readonly title?: string;
  readonly unit?: string;
  readonly lines: readonly DrawnLine[];
  readonly sentence: string;
}

export interface LaneChart extends ChartLook {
  readonly lane: LaneGroup;
  /** Null where the source has nothing for it. */
  draw(source: PageSource, view: LaneView): Promise<DrawnLane | null>;
}
