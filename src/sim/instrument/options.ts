/** The options under “ROSS Instrumentation”, of every era, and what they ask for. */
import {
  flag,
  float,
  int,
  OptionError,
  type OptionSpec,
  oneOf,
  size,
  text,
} from '../../model/option.ts';
import type { EventTrace, InstrumentConfig, SampleModes, StatsFiles } from './config.ts';

export const INSTRUMENT_OPTIONS = {
  'engine-stats': text('', 'sample the engine: 1 gvt, 2 rt, 3 both; or words: gvt,rt,vt, all', {
    placeholder: 'MODES',
  }),
  'model-stats': text('', 'sample the model: 1 gvt, 2 rt, 3 both; or words: gvt,rt,vt, all', {
    placeholder: 'MODES',
  }),
  'num-gvt': int(1, 'GVT computations from one sampling point to the next', { min: 1 }),
  'rt-interval': float(1000, 'real time between sampling points', { min: 0.001, unit: 'ms' }),
  'vt-interval': float(1000000, 'virtual time between sampling points', { min: Number.MIN_VALUE }),
  'vt-samp-end': float(0, 'virtual time after which none is taken', { min: 0, fallback: '--end' }),
  'sample-count': int(65536, 'most virtual-time sampling points', { min: 1 }),
  granularity: int(0, '0 PE; 1 PE, KP and LP (ROSS of 2018: 1 KP, 2 LP, 3 all)', {
    min: 0,
    max: 3,
  }),
  'pe-data': flag(true, 'sample PEs'),
  'kp-data': flag(false, 'sample KPs'),
  'lp-data': flag(false, 'sample LPs'),
  'event-trace': oneOf(
    { none: 0, all: 1, rollbacks: 2, committed: 3 },
    'none',
    'trace events: all that are handled, those that cause rollbacks, or those committed',
  ),
  'trace-clock': oneOf({ event: 0, batch: 1 }, 'event', 'clock reads of traced events'),
  'stats-prefix': text('ross-stats', 'what the files’ names begin with', { placeholder: 'PREFIX' }),
  'stats-filename': text('', '--stats-prefix, as it was called in 2016', { placeholder: 'PREFIX' }),
  'stats-path': text('stats-output', 'folder of the files', { placeholder: 'FOLDER' }),
  'stats-layout': oneOf(
    { 'ross-7': 7, 'ross-8.1': 8, 'ross-2017': 2017 },
    'ross-7',
    'layout of the files: ROSS 7.0 to 8.0, 8.1 and later, or 2017',
  ),
  'stats-era': oneOf(
    { 'ross-2017': 2017, 'ross-7': 7 },
    'ross-2017',
    'whose numbers the options above are: in ross-7 3 is vt and 4 is all',
  ),
  'buffer-size': size(8_000_000, 'one of the three buffers of each stream and PE', { min: 4096 }),
  'buffer-free': float(15, 'a buffer with less free is written at the next GVT', {
    min: 0,
    max: 100,
    unit: '%',
  }),
  'on-overflow': oneOf(
    { wait: 0, drop: 1 },
    'wait',
    'what a PE does when all its buffers are full',
  ),
  'disable-output': flag(false, 'write nothing, overwrite the buffers: to measure the cost'),
  'enable-gvt-stats': flag(false, '--engine-stats=gvt, as it was called in 2016'),
  'real-time-samp': float(0, '--engine-stats=rt --rt-interval=MS, as it was called in 2016', {
    min: 0,
    unit: 'ms',
  }),
} as const satisfies Readonly<Record<string, OptionSpec>>;

export type InstrumentOption = keyof typeof INSTRUMENT_OPTIONS;

/** What was given, by name; what was not given is not there. */
export type GivenOptions = ReadonlyMap<string, number | boolean | string>;

const NONE: SampleModes = { gvt: false, rt: false, vt: false };

function modesOf(option: string, given: string, era: string): SampleModes {
  const modes = { ...NONE };
  for (const word of given.toLowerCase().split(',').filter(Boolean)) {
    const byNumber: Readonly<Record<string, string>> =
      era === 'ross-7'
        ? { '0': 'none', '1': 'gvt', '2': 'rt', '3': 'vt', '4': 'all' }
        : { '0': 'none', '1': 'gvt', '2': 'rt', '3': 'both' };
    const name = byNumber[word] ?? word;
    if (name === 'all') modes.gvt = modes.rt = modes.vt = true;
    else if (name === 'both') modes.gvt = modes.rt = true;
    else if (name === 'gvt' || name === 'rt' || name === 'vt') modes[name] = true;
    else if (name !== 'none') {
      const mend = word === '4' ? '; 4 is all in --stats-era=ross-7' : '';
      throw new OptionError(
        `--${option}=${given}: must be gvt, rt, vt, several of them with commas between, all, or a number from 0 to ${era === 'ross-7' ? 4 : 3}${mend}`,
      );
    }
  }
  return modes;
}

/**
 * What the given options ask for.
 * @param end virtual time at which the run ends
 * @throws OptionError for a value that cannot be, or two that contradict each other
 */
export function instrumentConfig(
  given: GivenOptions,
  end: number,
): { readonly config: InstrumentConfig; readonly files: StatsFiles; readonly notes: string[] } {
  const value = <N extends InstrumentOption>(name: N) =>
    (given.get(name) ??
      INSTRUMENT_OPTIONS[name].default) as (typeof INSTRUMENT_OPTIONS)[N]['default'];
  const notes: string[] = [];
  const era = String(value('stats-era'));
  const engine: { -readonly [K in keyof SampleModes]: boolean } = {
    ...modesOf('engine-stats', String(value('engine-stats')), era),
  };
  if (value('enable-gvt-stats')) {
    engine.gvt = true;
    notes.push('--enable-gvt-stats is ROSS’s of 2016; it is --engine-stats=gvt now');
  }
  let rtInterval = Number(value('rt-interval'));
  if (Number(value('real-time-samp')) > 0) {
    engine.rt = true;
    rtInterval = Number(value('real-time-samp'));
    notes.push(
      `--real-time-samp is ROSS’s of 2016; it is --engine-stats=rt --rt-interval=${rtInterval} now`,
    );
  }
  const granularity = Number(value('granularity'));
  const old = era === 'ross-7' || granularity > 1;
  const levels = {
    pe: granularity > 0 && old ? granularity === 3 : Boolean(value('pe-data')),
    kp: Boolean(value('kp-data')) || granularity === 1 || granularity === 3,
    lp: Boolean(value('lp-data')) || (granularity === 1 && !old) || granularity >= 2,
  };
  if (given.has('stats-filename')) {
    notes.push('--stats-filename is ROSS’s of 2016; it is --stats-prefix now');
  }
  const prefix = String(given.get('stats-filename') ?? value('stats-prefix'));
  if (prefix === '' || /[\\/]/.test(prefix)) {
    throw new OptionError(`--stats-prefix=${prefix}: must be the beginning of a file’s name`);
  }
  const vtEnd = Number(value('vt-samp-end'));
  const layout = value('stats-layout') as InstrumentConfig['layout'];
  const model = modesOf('model-stats', String(value('model-stats')), era);
  if (layout === 'ross-2017' && (engine.vt || model.vt)) {
    throw new OptionError(
      '--stats-layout=ross-2017 has no room for virtual-time samples; leave vt out, or use ross-7',
    );
  }
  const config: InstrumentConfig = {
    engine,
    model,
    levels,
    trace: value('event-trace') as EventTrace,
    traceClock: value('trace-clock') as 'event' | 'batch',
    numGvt: Number(value('num-gvt')),
    rtInterval,
    vtInterval: Number(value('vt-interval')),
    vtEnd: vtEnd > 0 ? Math.min(vtEnd, end) : end,
    vtSamples: Number(value('sample-count')),
    bufferSize: Number(value('buffer-size')),
    bufferFree: Number(value('buffer-free')),
    disableOutput: Boolean(value('disable-output')),
    onOverflow: value('on-overflow') as 'wait' | 'drop',
    layout,
    rollbacks: false,
    phases: false,
    direct: false,
  };
  return { config, files: { path: String(value('stats-path')), prefix }, notes };
}
