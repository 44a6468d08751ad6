/** What a PE and its engine know of what records them. */
import type { PhaseMarks } from '../../model/region-page.ts';

/** Records events, of one PE. */
export interface EventTracer {
  /** Records event `h` of LP `index` of the PE. */
  record(h: number, index: number): void;
  /** Reads the clock for the events to come, where they do not read it themselves. */
  batch(): void;
  /** An event is about to be handled; null where nobody wants to know how long that takes. */
  readonly begin: (() => void) | null;
}

/** Records rollbacks, of one PE. */
interface RollbackRecorder {
  /** Number of the rollback that is under way or was last. */
  readonly current: number;
  /**
   * A rollback of `kp` to event `h` begins.
   * @param newest receive time of the KP's newest event
   * @param parentPe, parentId the rollback that cancelled `h`; 0 for none
   */
  begin(
    cause: number,
    kp: number,
    h: number,
    newest: number,
    parentPe: number,
    parentId: number,
  ): void;
  /** One event of the KP has been undone. */
  undid(): void;
  end(): void;
}

/** When and where a sample is taken. */
export interface SamplePoint {
  /** Seconds since the run's zero. */
  real: number;
  virtual: number;
  gvt: number;
  gvtIndex: number;
}

/** What samples need of the engine. */
export interface SampledEngine {
  /** Events handled and not committed. */
  uncommitted(): number;
  /** Receive time of each KP's newest event, where the engine keeps it; -Infinity for none uncommitted. */
  readonly kpTimes: Float64Array | null;
}

/** All that records one PE, as the PE sees it. */
export interface PeRecorder {
  /** Records events as they are handled; null unless all are traced, in a run that can roll back. */
  readonly tracer: EventTracer | null;
  /** Records events as they are committed; null unless those are traced, or all are handled in order. */
  readonly commits: EventTracer | null;
  /** Records events that cause rollbacks; null unless those are traced. */
  readonly stragglers: EventTracer | null;
  readonly rollbacks: RollbackRecorder | null;
  /** Where the engine says what it is doing; null where nobody wants to know. */
  readonly phases: PhaseMarks | null;
  /** No event at or past this time may be handled before the sample. */
  readonly nextVt: number;
  /** Once per turn of the scheduler, or chunk of a sequential run. */
  turn(): void;
  /** A GVT has been agreed on and what it commits is committed. @param counts whether it counts for samples */
  reached(gvt: number, counts: boolean): void;
}
