/** The engine's command-line options: ROSS's names where ROSS has them. One table for parser and help. */
import {
  alias,
  flag,
  float,
  int,
  noEffect,
  type OptionSpec,
  oneOf,
  size,
} from '../model/option.ts';
import { SYNCHRONISERS } from './config.ts';

// 0 means “not given” in ROSS.
const seed = (fallback: number, help: string) =>
  int(fallback, help, { min: 1, max: 0x7ffffffe, none: '0' });

export const ENGINE_OPTIONS = {
  synch: oneOf(SYNCHRONISERS, 'optimistic', 'synchroniser, by number or word', {
    fallback: 'sequential on one PE, optimistic on several',
    none: '0',
  }),
  nkp: int(16, 'KPs per PE', { min: 1, max: 1 << 20 }),
  end: float(100000, 'virtual time at which the run ends', { min: 0 }),
  warmup: float(0, 'virtual time from which on the model’s statistics count', { min: 0 }),
  batch: int(16, 'events per turn of the scheduler', { min: 1 }),
  lookahead: float(0, 'least offset of an event to another LP, in virtual time', { min: 0 }),
  'max-opt-lookahead': float(Infinity, 'how far beyond GVT a PE may go, in virtual time', {
    min: Number.MIN_VALUE,
    fallback: 'adaptive',
  }),
  'rng-seed1': seed(11111111, 'first seed of the models’ random streams'),
  'rng-seed2': seed(22222222, 'second seed'),
  'rng-seed3': seed(33333333, 'third seed'),
  'rng-seed4': seed(44444444, 'fourth seed'),
  'core-rng-seed1': seed(55555555, 'first seed of the engine’s own random streams'),
  'core-rng-seed2': seed(66666666, 'second seed'),
  'core-rng-seed3': seed(77777777, 'third seed'),
  'core-rng-seed4': seed(88888888, 'fourth seed'),
  'gvt-interval': int(16, 'turns of the scheduler between GVTs; ms in optimistic-realtime', {
    min: 1,
  }),
  'report-interval': float(0.01, 'part of the end time between progress reports', { min: 0 }),
  timing: flag(true, 'measure the times of the engine’s activities (sampled)'),
  pes: int(1, 'PEs: worker threads; sim run also takes auto, the fastest number', {
    ...{ min: 1, max: 1024, named: { auto: 0 } },
  }),
  'max-memory': size(0, 'limit of the memory for events of the whole run', {
    min: 4096,
    fallback: 'half of the machine’s memory, at most 4G',
  }),
  pin: flag(true, 'bind each PE to a CPU of its own', { fallback: '1 where there are enough' }),
} as const satisfies Readonly<Record<string, OptionSpec>>;

type EngineOption = keyof typeof ENGINE_OPTIONS;

/** ROSS's options without a meaning here, with ROSS's defaults: they are accepted, and a message says that they have no effect. */
export const IGNORED_OPTIONS = {
  'read-buffer': noEffect(16, 'over MPI each rank has 64 receives posted; threads share memory'),
  'send-buffer': noEffect(1024, 'over MPI buffers are added on demand; threads share memory'),
  extramem: noEffect(0, 'event memory grows on demand, up to --max-memory'),
  'buddy-size': noEffect(0, 'undo logs grow on demand'),
  'lz4-knob': noEffect(17, 'nothing is compressed'),
  'avl-size': noEffect(18, 'remote events are looked up in a table that grows'),
  'clock-rate': noEffect(1_000_000_000, 'times come from a calibrated clock'),
} as const satisfies Readonly<Record<string, OptionSpec>>;

/** Other names of the engine's options. */
export const ENGINE_SYNONYMS = {
  'cons-lookahead': alias(
    'lookahead',
    ENGINE_OPTIONS.lookahead,
    '--lookahead, of models without one of their own',
  ),
} as const satisfies Readonly<Record<string, OptionSpec>>;

/** The options as `--help` shows them: ROSS's groups, in ROSS's order, then what is ours. */
export const ENGINE_GROUPS: readonly {
  readonly title: string;
  readonly names: readonly (
    | EngineOption
    | keyof typeof IGNORED_OPTIONS
    | keyof typeof ENGINE_SYNONYMS
  )[];
}[] = [
  { title: 'ROSS MPI Kernel', names: ['read-buffer', 'send-buffer'] },
  {
    title: 'ROSS Kernel',
    names: [
      'synch',
      'nkp',
      'end',
      'batch',
      'extramem',
      'buddy-size',
      'lz4-knob',
      'lookahead',
      'cons-lookahead',
      'max-opt-lookahead',
      'avl-size',
      'rng-seed1',
      'rng-seed2',
      'rng-seed3',
      'rng-seed4',
      'core-rng-seed1',
      'core-rng-seed2',
      'core-rng-seed3',
      'core-rng-seed4',
    ],
  },
  { title: 'ROSS GVT', names: ['gvt-interval', 'report-interval'] },
  { title: 'ROSS Timing', names: ['clock-rate', 'timing'] },
  { title: 'Triscope', names: ['pes', 'max-memory', 'pin', 'warmup'] },
];

/** Reads options from a file; not in the table, because its value is not a setting of the run. */
export const ARGS_FILE = 'args-file';
export const HELP = 'help';

/**
 * Names for which a prefix may stand. As in ROSS the first match wins: PHOLD's own options, then the
 * engine's in the order of the groups.
 */
export const ROSS_NAMES: readonly string[] = [
  ...['remote', 'nlp', 'mean', 'mult', 'lookahead', 'start-events', 'stagger', 'memory', 'run'],
  ...ENGINE_GROUPS.filter(({ title }) => title.startsWith('ROSS'))
    .flatMap(({ names }): readonly string[] =>
      names.includes('core-rng-seed4') ? [...names, ARGS_FILE] : names,
    )
    .filter((name) => name !== 'lookahead' && name !== 'timing'),
  ...['engine-stats', 'model-stats', 'num-gvt', 'rt-interval', 'vt-interval', 'vt-samp-end'],
  ...['pe-data', 'kp-data', 'lp-data', 'event-trace', 'stats-prefix', 'stats-path'],
  ...['buffer-size', 'buffer-free', 'disable-output', 'sample-count', HELP],
  ...['granularity', 'stats-filename', 'enable-gvt-stats', 'real-time-samp'],
];
