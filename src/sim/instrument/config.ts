/** What is to be recorded of a run: checked, plain data, passed to every PE and to the recorder. */
import type { RossLayout } from '../../formats/ross/write/index.ts';

/** Layouts of the files. */
type StatsLayout = RossLayout;

/** When samples are taken. */
export interface SampleModes {
  /** Immediately after every `numGvt`-th GVT. */
  readonly gvt: boolean;
  /** Every `rtInterval` milliseconds. */
  readonly rt: boolean;
  /** Every `vtInterval` of virtual time. */
  readonly vt: boolean;
}

/** Which events are traced. */
export type EventTrace = 'none' | 'all' | 'rollbacks' | 'committed';

export interface InstrumentConfig {
  readonly engine: SampleModes;
  readonly model: SampleModes;
  readonly levels: { readonly pe: boolean; readonly kp: boolean; readonly lp: boolean };
  /** Whether real-time samples hold KPs whatever `levels` say: how far each is ahead of GVT (seeds 001 and 002). */
  readonly kpsInRt: boolean;
  readonly trace: EventTrace;
  /** Whether each traced event's time is a clock read of its own, or one per batch. */
  readonly traceClock: 'event' | 'batch';
  readonly numGvt: number;
  /** Milliseconds. */
  readonly rtInterval: number;
  readonly vtInterval: number;
  /** Virtual time of the last virtual-time sample, at most. */
  readonly vtEnd: number;
  /** Most virtual-time sampling points. */
  readonly vtSamples: number;
  /** Bytes of one buffer; each stream of each PE has three. */
  readonly bufferSize: number;
  /** Per cent: a buffer with less free is written out at the next GVT. */
  readonly bufferFree: number;
  /** Buffers are overwritten, nothing is written: to measure what recording costs. */
  readonly disableOutput: boolean;
  readonly onOverflow: 'wait' | 'drop';
  readonly layout: StatsLayout;
  /** Log every rollback, for `extra.frames`. */
  readonly rollbacks: boolean;
  /** Mark phases of the engine as regions, for `extra.frames`. */
  readonly phases: boolean;
  /**
   * PEs write samples as the files of `ross-7` have them, which the recorder then copies: half the work, but without
   * what those files have no room for. Set where nobody but the files gets the samples.
   */
  readonly direct: boolean;
}

/** Where the files go. */
export interface StatsFiles {
  /** Folder. */
  readonly path: string;
  readonly prefix: string;
}

/** One buffer chain per stream and PE; each has a file of its own, but rollbacks, which have none in ROSS. */
export const STREAMS = ['gvt', 'rt', 'vt', 'model', 'evtrace', 'rollback'] as const;
export type Stream = (typeof STREAMS)[number];

const any = (modes: SampleModes) => modes.gvt || modes.rt || modes.vt;

/** Whether anything at all is recorded. */
export function recordsAnything(config: InstrumentConfig): boolean {
  return (
    any(config.engine) ||
    any(config.model) ||
    config.trace !== 'none' ||
    config.rollbacks ||
    config.phases
  );
}

/** The streams that a run with this configuration has. */
export function streamsOf(config: InstrumentConfig): readonly Stream[] {
  const { engine, model, trace, rollbacks } = config;
  const wanted: Readonly<Record<Stream, boolean>> = {
    gvt: engine.gvt,
    rt: engine.rt,
    vt: engine.vt || model.vt,
    model: model.gvt || model.rt,
    evtrace: trace !== 'none',
    rollback: rollbacks,
  };
  return STREAMS.filter((name) => wanted[name]);
}

/** What was given, by name; what was not given is not there. */
export type GivenOptions = ReadonlyMap<string, number | boolean | string>;
