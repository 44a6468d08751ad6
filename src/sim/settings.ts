/** Turns the settings that a user gives into a checked RunConfig: defaults, units, invalid values. */
import { availableParallelism, totalmem } from 'node:os';
import { didYouMean } from '../model/nearest.ts';
import {
  allowed,
  checkNumber,
  defaultsOf,
  OptionError,
  type OptionSpecs,
  type OptionValues,
} from '../model/option.ts';
import { GIB } from '../model/units.ts';
import { type RunConfig, SYNCHRONISERS, type Synchroniser } from './config.ts';
import { ENGINE_OPTIONS } from './engine-options.ts';
import { type InstrumentConfig, recordsAnything } from './instrument/config.ts';
import { instrumentConfig } from './instrument/options.ts';
import type { Model } from './model.ts';
import { CORE_SEEDS, MODEL_SEEDS, type Seeds } from './rng/clcg4.ts';

/**
 * The settings of a run, all optional, named as the options of `triscope sim run` in camel case. Absent settings have the
 * default of the command line, or, for `end`, `lookahead` and `warmup`, of the model.
 */
export interface Settings {
  /** How PEs are synchronised; sequential on one PE, optimistic on several. */
  readonly synch?: Synchroniser;
  /** Number of PEs: threads, or ranks of an MPI job; 1 by default. */
  readonly pes?: number;
  /** Number of KPs on each PE; 16 by default. */
  readonly nkp?: number;
  /** Turns of the scheduler between GVT computations; in `optimistic-realtime` milliseconds. */
  readonly gvtInterval?: number;
  /** Maximum number of events that a PE handles in a turn of the scheduler; 16 by default. */
  readonly batch?: number;
  /** Virtual time at which the run ends. */
  readonly end?: number;
  /** Virtual time from which on statistics count. */
  readonly warmup?: number;
  /** Least offset of an event to another LP, in virtual time. */
  readonly lookahead?: number;
  /** How far beyond GVT a PE may go, in virtual time; Infinity lets the engine adapt it. */
  readonly maxOptLookahead?: number;
  /** Maximum bytes of event memory, for all PEs together. */
  readonly maxMemory?: number;
  /** Seeds of the LPs' random streams: four numbers. */
  readonly seeds?: Seeds;
  /** Seeds of the engine's own random streams: four numbers. */
  readonly coreSeeds?: Seeds;
  /** Whether times of the engine's activities are kept. */
  readonly timing?: boolean;
  /** Whether each PE is bound to a CPU of its own. */
  readonly pin?: boolean;
  /** Progress is reported each time GVT has advanced by this fraction of the end time; 0 to 1. */
  readonly reportInterval?: number;
  /** What to record, where it differs from the defaults of `--help`'s “ROSS Instrumentation”. */
  readonly instrument?: Partial<InstrumentConfig>;
  /** The model's own options. */
  readonly options?: Readonly<Record<string, number | boolean | string>>;
}

/** Names of the settings; the compiler checks that none is missing. */
const SETTINGS: Readonly<Record<keyof Settings, true>> = {
  synch: true,
  pes: true,
  nkp: true,
  gvtInterval: true,
  batch: true,
  end: true,
  warmup: true,
  lookahead: true,
  maxOptLookahead: true,
  maxMemory: true,
  seeds: true,
  coreSeeds: true,
  timing: true,
  pin: true,
  reportInterval: true,
  instrument: true,
  options: true,
};

function expectKnown(what: string, given: object, names: readonly string[]): void {
  for (const key of Object.keys(given)) {
    if (names.includes(key)) continue;
    const near = didYouMean(key, names);
    throw new OptionError(
      `${key}: no such ${what}${near === '' ? `; there are ${names.join(', ')}` : near}`,
    );
  }
}

/** A typed array has at most 2^32 bytes. */
const MOST_MEMORY_PER_PE = 4 * GIB;

/** Default event memory: half of the machine's, at most 4 GiB. */
function defaultMaxMemory(): number {
  return Math.min(4 * GIB, Math.floor(totalmem() / 2));
}

/** Whether the synchroniser works on one PE only. */
export function runsOnOnePe(synch: Synchroniser): boolean {
  return synch === 'sequential' || synch === 'rollback-check' || synch === 'optimistic-debug';
}

/**
 * Completes and checks settings for a model.
 * @throws OptionError for an invalid value
 * @example
 * ```ts
 * import { configFor, loadModel } from 'triscope/sim';
 *
 * const loaded = await loadModel('phold');
 * const config = configFor(loaded.model, { pes: 2 });
 * console.log(config.synch, config.end, config.maxMemory); // 'optimistic', virtual time, bytes
 * loaded.dispose();
 * ```
 */
export function configFor(model: Model, settings: Settings): RunConfig {
  expectKnown('setting', settings, Object.keys(SETTINGS));
  const number = (
    name: keyof typeof ENGINE_OPTIONS,
    value: number | undefined,
    fallback: number,
  ) => {
    if (value === undefined) return fallback;
    return checkNumber(name, ENGINE_OPTIONS[name], value);
  };
  const pes = number('pes', settings.pes, 1);
  const synch = settings.synch ?? (pes === 1 ? 'sequential' : 'optimistic');
  if (!Object.hasOwn(SYNCHRONISERS, synch)) {
    throw new OptionError(`--synch=${synch}: ${allowed(ENGINE_OPTIONS.synch)}`);
  }
  if (pes !== 1 && runsOnOnePe(synch))
    throw new OptionError(`--pes=${pes}: --synch=${synch} runs on one PE; leave --pes out`);
  const lookahead = number('lookahead', settings.lookahead, model.lookahead ?? 0);
  if (synch === 'conservative' && !(lookahead > 0)) {
    throw new OptionError(
      `--lookahead=${lookahead}: must be greater than 0 with --synch=conservative`,
    );
  }
  const end = number('end', settings.end, model.end ?? 100000);
  const warmup = number('warmup', settings.warmup, model.warmup ?? 0);
  if (warmup > 0 && warmup >= end)
    throw new OptionError(`--warmup=${warmup}: must be before --end=${end}`);
  const maxMemory = number('max-memory', settings.maxMemory, defaultMaxMemory());
  if (maxMemory > MOST_MEMORY_PER_PE * pes) {
    throw new OptionError(`--max-memory=${maxMemory}: must be at most 4G per PE`);
  }
  const debug = synch === 'optimistic-debug' || synch === 'rollback-check';
  return {
    synch,
    pes,
    nkp: debug ? 1 : number('nkp', settings.nkp, 16),
    gvtInterval: number('gvt-interval', settings.gvtInterval, 16),
    batch: number('batch', settings.batch, 16),
    end,
    warmup,
    lookahead,
    maxOptLookahead:
      settings.maxOptLookahead === undefined || settings.maxOptLookahead === Infinity
        ? Infinity
        : number('max-opt-lookahead', settings.maxOptLookahead, Infinity),
    maxMemory,
    seeds: settings.seeds ?? MODEL_SEEDS,
    coreSeeds: settings.coreSeeds ?? CORE_SEEDS,
    timing: settings.timing ?? true,
    pin: settings.pin ?? pes <= availableParallelism(),
    reportInterval: number('report-interval', settings.reportInterval, 0.01),
    options: modelOptions(model, settings.options ?? {}),
    instrument: instrumentFor(settings, end),
  };
}

function instrumentFor(settings: Settings, end: number): InstrumentConfig | null {
  if (settings.instrument === undefined) return null;
  const config = { ...instrumentConfig(new Map(), end).config, ...settings.instrument };
  return recordsAnything(config) ? config : null;
}

function modelOptions(
  model: Model,
  given: Readonly<Record<string, number | boolean | string>>,
): OptionValues<OptionSpecs> {
  const values: Record<string, number | boolean | string> = { ...defaultsOf(model.options) };
  for (const [name, value] of Object.entries(given)) {
    const spec = model.options[name];
    if (spec === undefined) {
      throw new OptionError(
        `model '${model.name}' has no option --${name}${didYouMean(name, Object.keys(model.options), '--')}`,
      );
    }
    if (typeof value !== typeof spec.default) {
      throw new OptionError(`--${name}=${value}: must be a ${typeof spec.default}`);
    }
    if (spec.words !== undefined && !Object.hasOwn(spec.words, String(value))) {
      throw new OptionError(`--${name}=${value}: use one of ${Object.keys(spec.words).join(', ')}`);
    }
    values[name] = typeof value === 'number' ? checkNumber(name, spec, value) : value;
  }
  return values;
}
