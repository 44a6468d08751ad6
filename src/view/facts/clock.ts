/** What /api/clock and /api/summary give. Runs in the server and in the page. */

/** How the clocks of a run correspond: at `real[k]` seconds GVT was `virtual[k]`, after `gvt[k]` computations. None of them decreases. */
export interface ClockFacts {
  readonly real: readonly number[];
  readonly virtual: readonly number[];
  readonly gvt: readonly number[];
}

/** A run in numbers; null where the recording does not say. */
export interface SummaryFacts {
  /** Events that PEs handled, and of them those undone, by the engine samples. */
  readonly processed: number | null;
  readonly rolledBack: number | null;
  /** Committed events a second, over the time that samples cover. */
  readonly committedRate: number | null;
  /** Joules of the processor packages, all hosts. */
  readonly energy: number | null;
}
