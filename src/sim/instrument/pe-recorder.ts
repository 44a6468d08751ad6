/** The interface between a PE, its engine, and what records them. */
import type { PhaseMarks } from '../../model/region-page.ts';
import type { StepPoints } from './step-points.ts';

/** Records events of one PE. */
export interface EventTracer {
  /** Records event `h` of LP `index` of the PE. */
  record(h: number, index: number): void;
  /** Reads the clock once for the events to come, if it is not read for each event. */
  batch(): void;
  /** Called when an event is about to be handled; null if durations are not recorded. */
  readonly begin: (() => void) | null;
}

/** Records rollbacks of one PE. */
interface RollbackRecorder {
  /** Number of the current rollback, or of the last one. */
  readonly current: number;
  /**
   * A rollback of `kp` to event `h` begins.
   * @param newest receive time of the KP's newest event
   * @param parentPe, parentId the rollback that cancelled `h`; 0 if there is none
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
  /** Seconds since the run's start. */
  real: number;
  virtual: number;
  gvt: number;
  gvtIndex: number;
}

/** What samples need from the engine. */
export interface SampledEngine {
  /** Events that are handled and not committed. */
  uncommitted(): number;
  /** Receive time of each KP's newest event, if the engine keeps it; -Infinity if all are committed. */
  readonly kpTimes: Float64Array | null;
}

/** All that records one PE, as the PE sees it. */
export interface PeRecorder {
  /** Records events as they are handled; null unless all events are traced, in a run that can roll back. */
  readonly tracer: EventTracer | null;
  /** Records events as they are committed; null unless committed events are traced, or all are traced and handled in order. */
  readonly commits: EventTracer | null;
  /** Records events that cause rollbacks; null unless those are traced. */
  readonly stragglers: EventTracer | null;
  readonly rollbacks: RollbackRecorder | null;
  /** Told by the engine what it is doing; null if that is not recorded. */
  readonly phases: PhaseMarks | null;
  /** Where threads in step are sampled; null where there are none, or no samples at GVTs. */
  readonly points: StepPoints | null;
  /** Whether turns may have more than `--batch` events: nothing is recorded once a turn. */
  readonly longTurns: boolean;
  /** No event at or after this time may be handled before the sample. */
  readonly nextVt: number;
  /** Called once per turn of the scheduler, or per chunk of a sequential run. */
  turn(): void;
  /**
   * Whether a thread in step may go on from `bound`: before the next point, or past it, after its sample.
   * @param least before which this PE has no events
   * @param lbts before which none arrives
   */
  passes(bound: number, least: number, lbts: number): boolean;
  /** Called after a turn; whether so many turns have passed that a GVT is needed for a sample, which the next one then takes. */
  sampleIsDue(): boolean;
  /** Called when a GVT has been agreed on and the events before it are committed. @param counts whether it counts for samples */
  reached(gvt: number, counts: boolean): void;
}
