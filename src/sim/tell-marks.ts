/** Passes a PE's counts on to observers outside the simulator. */
import type { EngineMarks } from '../model/engine-marks.ts';
import { C } from './counters.ts';

export function tellMarks(marks: EngineMarks | null, gvt: number, counts: Float64Array): void {
  marks?.reached(
    gvt,
    counts[C.eventsProcessed],
    counts[C.eventsRolledBack],
    counts[C.committed],
    counts[C.primaryRollbacks] + counts[C.secondaryRollbacks],
    counts[C.gvtComputations],
  );
}
