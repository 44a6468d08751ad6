/** The engine's command-line options: ROSS's names where ROSS has them. One table for parser and help. */
import { flag, float, int, type OptionSpec, text } from '../model/option.ts';

/** In the groups in which `--help` shows them. */
export const ENGINE_OPTIONS = {
  synch: text(
    'optimistic',
    'synchroniser: 1 sequential, 2 conservative, 3 optimistic, 4 optimistic-debug, 5 optimistic-realtime, 6 rollback-check; number or word',
  ),
  pes: int(1, 'PEs: worker threads', { min: 1, max: 1024 }),
  nkp: int(16, 'KPs per PE', { min: 1, max: 1 << 20 }),
  end: float(100000, 'virtual time at which the run ends', { min: 0 }),
  lookahead: float(0, 'least offset of an event to another LP, in virtual time', { min: 0 }),
  'gvt-interval': int(
    16,
    'turns of the scheduler between GVTs; milliseconds in optimistic-realtime',
    {
      min: 1,
    },
  ),
  batch: int(16, 'events per turn of the scheduler', { min: 1 }),
  'max-opt-lookahead': float(
    Number.POSITIVE_INFINITY,
    'most virtual time beyond GVT; adaptive by default',
    {
      min: 0,
    },
  ),
  'max-memory': float(0, 'most event memory of the whole run: bytes, or with K, M or G', {
    min: 4096,
  }),
  'report-interval': float(0.01, 'fraction of the end time between progress reports', { min: 0 }),
  pin: flag(true, 'bind each PE to a CPU of its own (default where there are enough)'),
  timing: flag(true, "keep times of the engine's activities (sampled)"),
  'rng-seed1': int(11111111, 'first seed of the models’ random streams', { min: 1 }),
  'rng-seed2': int(22222222, 'second seed', { min: 1 }),
  'rng-seed3': int(33333333, 'third seed', { min: 1 }),
  'rng-seed4': int(44444444, 'fourth seed', { min: 1 }),
  'core-rng-seed1': int(55555555, 'first seed of the engine’s own random streams', { min: 1 }),
  'core-rng-seed2': int(66666666, 'second seed', { min: 1 }),
  'core-rng-seed3': int(77777777, 'third seed', { min: 1 }),
  'core-rng-seed4': int(88888888, 'fourth seed', { min: 1 }),
} as const satisfies Readonly<Record<string, OptionSpec>>;

/** ROSS's options that mean nothing here: accepted, and said to have no effect. */
export const IGNORED_OPTIONS: Readonly<Record<string, string>> = {
  extramem: 'event memory grows on demand, up to --max-memory',
  'clock-rate': 'times come from a calibrated clock',
  'avl-size': 'remote events are looked up in a table that grows',
  'buddy-size': 'undo logs grow on demand',
  'lz4-knob': 'nothing is compressed',
  'read-buffer': 'messages between PEs travel in shared memory',
  'send-buffer': 'messages between PEs travel in shared memory',
};
