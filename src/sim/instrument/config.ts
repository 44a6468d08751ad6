/** What a run records: checked, plain data, passed to every PE and to the recorder. */
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
  /** Whether real-time samples include KPs whatever `levels` says, to show how far each is ahead of GVT (seeds 001 and 002). */
  readonly kpsInRt: boolean;
  readonly trace: EventTrace;
  /** Whether the clock is read for each traced event, or once per batch. */
  readonly traceClock: 'event' | 'batch';
  readonly numGvt: number;
  /** Milliseconds. */
  readonly rtInterval: number;
  readonly vtInterval: number;
  /** Virtual time after which no more virtual-time samples are taken. */
  readonly vtEnd: number;
  /** Most virtual-time sampling points. */
  readonly vtSamples: number;
  /** A third of the bytes in which a stream of a PE is buffered. */
  readonly bufferSize: number;
  /** Per cent: a buffer with less free space is written out at the next GVT. */
  readonly bufferFree: number;
  /** Buffers are overwritten and nothing is written, to measure what recording costs. */
  readonly disableOutput: boolean;
  readonly onOverflow: 'wait' | 'drop';
  readonly layout: StatsLayout;
  /** Record every rollback, for `extra.frames`. */
  readonly rollbacks: boolean;
  /** Mark the engine's phases as regions, for `extra.frames`. */
  readonly phases: boolean;
  /**
   * PEs write samples in the form of `ross-7` files, which the recorder then only copies: half the work, but without
   * what those files have no room for. Set if only the files get the samples.
   */
  readonly direct: boolean;
}

/** Where the files go. */
export interface StatsFiles {
  /** Folder. */
  readonly path: string;
  readonly prefix: string;
}

/** Each PE has a chain of buffers per stream. Each stream has a file of its own, except rollbacks, which ROSS does not have. */
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

/** The streams of a run with this configuration. */
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

/** The options that were given, by name; those that were not given are absent. */
export type GivenOptions = ReadonlyMap<string, number | boolean | string>;
