/** The counts and times of a PE. One table each: their names are used everywhere. */

export const COUNTERS = [
  /** Events handled, including those rolled back later. */
  'eventsProcessed',
  'eventsRolledBack',
  /** Events aborted because event memory was short; part of those rolled back. */
  'eventsAborted',
  'primaryRollbacks',
  'secondaryRollbacks',
  'fossilCollects',
  'gvtComputations',
  /** GVT computations requested early: out of event memory, or nothing left to do. */
  'forcedGvts',
  'allReduces',
  /** Messages to other PEs, anti-messages included. */
  'remoteSends',
  'remoteReceives',
  /** Committed events that came from another PE. */
  'remoteEvents',
  'committed',
  /** Events not created because they lie at or past the end time. */
  'eventsPastEnd',
  /** Events taken from the queue at the same receive time as the one before. */
  'eventTies',
  /** Events rolled back to free memory. */
  'cancelbacks',
  /** Turns of the scheduler in which there was nothing to do. */
  'idleTurns',
  /** How often a PE in step went on to a new bound without a GVT. */
  'steps',
] as const;

export type EngineCounter = (typeof COUNTERS)[number];

/** What a PE counts although nothing happens in the model. */
export const WITHOUT_EVENTS: ReadonlySet<EngineCounter> = new Set(['idleTurns', 'steps']);

/** Computations that all PEs make together: the count of the first PE stands for all. */
export const JOINT: ReadonlySet<EngineCounter> = new Set(['gvtComputations', 'allReduces']);

/** Index of each counter in a PE's `counts`. */
export const C = Object.fromEntries(COUNTERS.map((name, k) => [name, k])) as Readonly<
  Record<EngineCounter, number>
>;

/** Activities of a PE whose time is kept, named as in ROSS's file format and final statistics. */
export const ACTIVITIES = [
  'networkRead',
  'networkOther',
  'gvt',
  'fossilCollect',
  'eventAbort',
  'eventProcess',
  'priorityQueue',
  'rollback',
  'cancelQueue',
  /** Looking up remote events by id (an AVL tree in ROSS, a table here). */
  'avl',
  /** Undo memory (a buddy allocator in ROSS, a log per KP here). */
  'buddy',
  /** Nothing is compressed here: always 0. */
  'lz4',
  'initialization',
  /** Taking samples. The time for traces is part of the traced activity. */
  'instrumentation',
  /** Waiting for a free instrumentation buffer. */
  'instrumentationWait',
] as const;

export type Activity = (typeof ACTIVITIES)[number];

export const A = Object.fromEntries(ACTIVITIES.map((name, k) => [name, k])) as Readonly<
  Record<Activity, number>
>;
