/** What a command line asks to be recorded, where the records go, and the report on them. */
import { join } from 'node:path';
import { extraFrames } from '../formats/recording-folder.ts';
import type { OptionSpecs } from '../model/option.ts';
import type { RunConfig } from '../sim/config.ts';
import { type LpPlaces, placesOf } from '../sim/drawing.ts';
import { type InstrumentConfig, recordsAnything } from '../sim/instrument/config.ts';
import {
  INSTRUMENT_OPTIONS,
  type InstrumentOption,
  instrumentConfig,
} from '../sim/instrument/options.ts';
import { payloadLayouts } from '../sim/instrument/payload.ts';
import type { InstrumentOutput } from '../sim/instrument/recorder.ts';
import type { LoadedModel } from '../sim/load-model.ts';
import type { Model } from '../sim/model.ts';
import { toldWithPart } from '../sim/model-place.ts';
import type { RunResult } from '../sim/statistics.ts';
import type { OptionGroup, SingleValue } from './command.ts';
import { effectiveSettings } from './effective-settings.ts';
import { UsageError } from './errors.ts';
import { figure, table } from './table.ts';
import { version } from './version.ts';

/** Title under which ROSS's `--help` shows its options, as the seeds say. */
export const INSTRUMENT_GROUP: OptionGroup = {
  title: 'ROSS Instrumentation',
  options: INSTRUMENT_OPTIONS satisfies OptionSpecs,
};

/** What a command line says of the run itself. */
interface RequestedRun {
  readonly run: RunConfig;
  /** All options, those of the model too. */
  readonly groups: readonly OptionGroup[];
}

interface InstrumentRequest {
  readonly config: Partial<InstrumentConfig>;
  readonly output: InstrumentOutput;
  /** One line per option that is called something else now, means something else elsewhere, or does nothing alone. */
  readonly notes: readonly string[];
}

/** What `--record` records where no option chooses records; options about how to record still count. */
function recordedByDefault(config: InstrumentConfig, given: Given): Partial<InstrumentConfig> {
  const { levels } = config;
  return {
    engine: { gvt: false, rt: true, vt: false },
    levels: { ...levels, kp: levels.kp || given.get('kp-data') !== false },
    rtInterval: given.has('rt-interval') ? config.rtInterval : 10,
  };
}

type Given = ReadonlyMap<string, SingleValue>;

/** Options that say what is recorded; the others say how. */
const SWITCHES = [
  'engine-stats',
  'model-stats',
  'animate',
  'event-trace',
  'enable-gvt-stats',
  'real-time-samp',
] as const satisfies readonly InstrumentOption[];

const isInstrumentOption = (name: string) => Object.hasOwn(INSTRUMENT_OPTIONS, name);

/**
 * @param recording the recording's folder; null where none is made
 * @param onFrames gets the frames of a run that is followed live
 * @throws OptionError
 */
export function instrumentRequest(
  values: Given,
  { run, groups }: RequestedRun,
  recording: string | null,
  onFrames: ((frames: readonly Uint8Array[], dropped: number) => void) | null,
): InstrumentRequest {
  const { config, files, notes, engineOff } = instrumentConfig(values, run.end);
  const asked = recordsAnything(config);
  // Frames for an animation come beside what is recorded anyhow.
  const isDefault =
    !asked ||
    (values.has('animate') && !SWITCHES.some((name) => name !== 'animate' && values.has(name)));
  const followed = recording !== null || onFrames !== null;
  const stray = [...values.keys()].find(isInstrumentOption);
  const idle = !asked && !followed && !SWITCHES.some((name) => values.has(name));
  const path =
    recording === null || values.has('stats-path') ? files.path : join(recording, files.path);
  const asking = {
    ...config,
    ...(isDefault && followed && !engineOff && recordedByDefault(config, values)),
    rollbacks: followed,
    phases: followed,
  };
  return {
    config: asking,
    output: {
      files: asked || recording !== null ? { ...files, path } : null,
      frames: recording === null ? null : extraFrames(recording),
      ...(onFrames !== null && { onFrames }),
      version: `Triscope ${version()}`,
      settings: effectiveSettings(groups, values, run, asking),
    },
    notes:
      idle && stray !== undefined
        ? [
            ...notes,
            `--${stray} records nothing by itself; add --engine-stats, --model-stats or --event-trace`,
          ]
        : notes,
  };
}

const hasSample = (model: Model): boolean =>
  payloadLayouts(model).some(({ what }) => what === 'sample');

/**
 * Where `--animate` draws LPs; null without it. Asked before the run: a model that cannot say where is told so at once.
 * @throws UsageError where nothing is recorded, or the model has nothing to show
 * @throws ModelError for a place that cannot be
 */
export function animatedPlaces(
  values: Given,
  { model, path }: LoadedModel,
  run: RunConfig,
  isRecorded: boolean,
): LpPlaces | null {
  if (!(Number(values.get('animate') ?? 0) > 0)) return null;
  if (!isRecorded)
    throw new UsageError('--animate needs --record=NAME: its frames are part of a recording');
  if (!hasSample(model)) {
    throw new UsageError(
      `--animate: model '${model.name}' has no instrument with a sample: there is nothing to draw`,
    );
  }
  try {
    return placesOf(model, run);
  } catch (error) {
    throw toldWithPart(error, path);
  }
}

/** A line for the case that model samples are asked for and the model declares none. */
export function nothingToSample(
  { model: modes }: Partial<InstrumentConfig>,
  model: Model,
): readonly string[] {
  const asked = modes !== undefined && (modes.gvt || modes.rt || modes.vt);
  if (!asked || hasSample(model)) return [];
  return [
    `--model-stats: model '${model.name}' has no instrument with a sample: nothing is recorded of it`,
  ];
}

/** Records have other sizes in buffers than in files. */
const COLUMNS = ['stream', 'buffer bytes', 'waited ms', 'dropped records', 'dropped bytes'];

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
