/** The settings of one run, after parsing and checking: plain data, passed to every PE. */
import type { OptionSpecs, OptionValues } from '../model/option.ts';
import type { InstrumentConfig } from './instrument/config.ts';
import type { Seeds } from './rng/clcg4.ts';

/** Synchronisers, numbered as ROSS's `--synch`. */
export const SYNCHRONISERS = {
  sequential: 1,
  conservative: 2,
  optimistic: 3,
  'optimistic-debug': 4,
  'optimistic-realtime': 5,
  'rollback-check': 6,
} as const;

/** How PEs are synchronised, by name; ROSS’s numbers are in `SYNCHRONISERS`. */
export type Synchroniser = keyof typeof SYNCHRONISERS;

/**
 * A run's effective settings, with defaults. Times of the model are in virtual time, memory in
 * in bytes.
 */
export interface RunConfig {
  /** How PEs keep the order of events. */
  readonly synch: Synchroniser;
  /** Number of PEs. */
  readonly pes: number;
  /** KPs per PE. */
  readonly nkp: number;
  /** Turns of the scheduler between GVT computations; milliseconds in optimistic-realtime. */
  readonly gvtInterval: number;
  /** Maximum number of events that a PE handles in a turn of the scheduler. */
  readonly batch: number;
  /** Virtual time at which the run ends. */
  readonly end: number;
  /** Virtual time from which on statistics count. */
  readonly warmup: number;
  /** Least offset of an event to another LP, in virtual time. */
  readonly lookahead: number;
  /** How far beyond GVT a PE may go, in virtual time; Infinity: adaptive. */
  readonly maxOptLookahead: number;
  /** Maximum bytes of event memory, for all PEs together. */
  readonly maxMemory: number;
  /** Seeds of the LPs' random streams. */
  readonly seeds: Seeds;
  /** Seeds of the engine's own random streams. */
  readonly coreSeeds: Seeds;
  /** Whether to keep (sampled) times of the engine's activities. */
  readonly timing: boolean;
  /** Whether to bind each PE to a CPU of its own. */
  readonly pin: boolean;
  /** Progress is reported each time GVT has advanced by this fraction of the end time; 0 to 1. */
  readonly reportInterval: number;
  /** The model's own options. */
  readonly options: OptionValues<OptionSpecs>;
  /** What is recorded; null if nothing is. */
  readonly instrument: InstrumentConfig | null;
}
