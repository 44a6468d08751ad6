/** What a command line asks to be recorded, where it goes, and what is said of it in the end. */
import { join } from 'node:path';
import { OptionError, type OptionSpecs } from '../model/option.ts';
import { type InstrumentConfig, recordsAnything } from '../sim/instrument/config.ts';
import { INSTRUMENT_OPTIONS, instrumentConfig } from '../sim/instrument/options.ts';
import { payloadLayouts } from '../sim/instrument/payload.ts';
import { extraFrames, type InstrumentOutput } from '../sim/instrument/recorder.ts';
import type { Model } from '../sim/model.ts';
import type { RunResult } from '../sim/statistics.ts';
import type { OptionGroup, OptionValue } from './ross-options.ts';
import { figure, table } from './table.ts';
import { version } from './version.ts';

/** Title under which ROSS's `--help` shows its options, as the seeds say. */
export const INSTRUMENT_GROUP: OptionGroup = {
  title: 'ROSS Instrumentation',
  options: INSTRUMENT_OPTIONS satisfies OptionSpecs,
};

export interface InstrumentRequest {
  readonly config: Partial<InstrumentConfig>;
  readonly output: InstrumentOutput;
  /** One line per option that is called something else now. */
  readonly notes: readonly string[];
}

/** What `--record` records where nothing else is asked for. */
const RECORDED_BY_DEFAULT: Partial<InstrumentConfig> = {
  engine: { gvt: false, rt: true, vt: false },
  levels: { pe: true, kp: true, lp: false },
  rtInterval: 10,
};

const isInstrumentOption = (name: string) => Object.hasOwn(INSTRUMENT_OPTIONS, name);

/**
 * @param end virtual time at which the run ends
 * @param recording the recording's folder; null where none is made
 * @param onFrames who follows the run
 * @returns null where nothing is to be recorded
 * @throws OptionError
 */
export function instrumentRequest(
  values: ReadonlyMap<string, OptionValue>,
  end: number,
  recording: string | null,
  onFrames: ((frames: readonly Uint8Array[], dropped: number) => void) | null,
): InstrumentRequest | null {
  const { config, files, notes } = instrumentConfig(values, end);
  const asked = recordsAnything(config);
  if (!asked && recording === null && onFrames === null) {
    const stray = [...values.keys()].find(isInstrumentOption);
    if (stray !== undefined) {
      throw new OptionError(
        `--${stray} records nothing by itself; add --engine-stats, --model-stats or --event-trace`,
      );
    }
    return null;
  }
  const path =
    recording === null || values.has('stats-path') ? files.path : join(recording, files.path);
  return {
    config: {
      ...config,
      ...(!asked && RECORDED_BY_DEFAULT),
      rollbacks: recording !== null || onFrames !== null,
      phases: recording !== null || onFrames !== null,
    },
    output: {
      files: asked || recording !== null ? { ...files, path } : null,
      frames: recording === null ? null : extraFrames(recording),
      ...(onFrames !== null && { onFrames }),
      version: `Triscope ${version()}`,
      settings: [
        {
          title: 'Options',
          options: [...values].map(([name, value]) => [name, String(value)] as const),
        },
      ],
    },
    notes,
  };
}

/** A line where models are to be sampled and this one has nothing to say. */
export function nothingToSample(
  { model: modes }: Partial<InstrumentConfig>,
  model: Model,
): readonly string[] {
  const asked = modes !== undefined && (modes.gvt || modes.rt || modes.vt);
  if (!asked || payloadLayouts(model).some(({ what }) => what === 'sample')) return [];
  return [
    `--model-stats: model '${model.name}' has no instrument with a sample: nothing is recorded of it`,
  ];
}

const COLUMNS = ['stream', 'bytes', 'waited ms', 'dropped records', 'dropped bytes'];

/** Lines of the report: where records went, and what became of each stream. */
export function instrumentationLines({ instrumentation }: RunResult): string[] {
  if (instrumentation === undefined) return [];
  const { folder, error, streams } = instrumentation;
  const names = [...new Set(streams.map((s) => s.stream))];
  const rows = names.map((name) => {
    const own = streams.filter((s) => s.stream === name);
    const sum = (of: (s: (typeof own)[number]) => number) =>
      figure(own.reduce((total, s) => total + of(s), 0));
    return [
      name,
      sum((s) => s.bytes),
      sum((s) => Math.round(s.waitedMs)),
      sum((s) => s.droppedRecords),
      sum((s) => s.droppedBytes),
    ];
  });
  return [
    '',
    `Instrumentation${folder === null ? '' : ` in ${folder}`}:`,
    ...table(COLUMNS, rows),
    ...(error === null ? [] : [`  incomplete: ${error}`]),
  ];
}
