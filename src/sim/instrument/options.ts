/** The options under “ROSS Instrumentation”, of every era, and what they request. */
import { isPacked } from '../../formats/ross/write/index.ts';
import {
  alias,
  flag,
  float,
  int,
  OptionError,
  type OptionSpec,
  oneOf,
  size,
  text,
} from '../../model/option.ts';
import type {
  EventTrace,
  GivenOptions,
  InstrumentConfig,
  SampleModes,
  StatsFiles,
} from './config.ts';
import { ERAS, type Era, eraOf } from './era.ts';

const MODES = '1 gvt, 2 rt, 3 both (ROSS 7: vt), 4 all; or words: gvt,rt,vt, all';

const PREFIX = text('ross-stats', 'prefix of the files’ names', {
  placeholder: 'PREFIX',
  none: '',
});

export const INSTRUMENT_OPTIONS = {
  'engine-stats': text('', `sample the engine: ${MODES}`, { placeholder: 'MODES' }),
  'model-stats': text('', `sample the model: ${MODES}`, { placeholder: 'MODES' }),
  'num-gvt': int(1, 'GVT intervals from one sampling point to the next', {
    min: 1,
    fallback: '1; 10 where the numbers are those of ross-7',
  }),
  'rt-interval': float(1000, 'real time between sampling points', { min: 0.001, unit: 'ms' }),
  'vt-interval': float(1000000, 'virtual time between sampling points', { min: Number.MIN_VALUE }),
  animate: int(
    0,
    'frames of the model’s own samples at evenly spaced virtual times, for the page’s view Animation: --model-stats=vt with the interval that gives as many',
    { min: 0, max: 10_000, placeholder: 'FRAMES' },
  ),
  'vt-samp-end': float(0, 'virtual time of the last sampling point', { min: 0, fallback: '--end' }),
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
    'trace events: all handled ones, those that cause rollbacks, or committed ones',
  ),
  'trace-clock': oneOf({ event: 0, batch: 1 }, 'event', 'clock reads of traced events'),
  'stats-prefix': PREFIX,
  'stats-filename': alias(
    'stats-prefix',
    PREFIX,
    '--stats-prefix, as it was called in 2016',
    '--stats-filename is ROSS’s of 2016; it is --stats-prefix now',
  ),
  'stats-path': text('stats-output', 'folder of the files', { placeholder: 'FOLDER', none: '' }),
  'stats-layout': oneOf(
    { 'ross-7': 7, 'ross-8.1': 8, 'ross-2017': 2017, 'ross-2017-04': 201704 },
    'ross-7',
    'layout of the files: ROSS 7.0 to 8.0, 8.1 and later, June 2017, or April 2017',
  ),
  'stats-era': oneOf(
    ERAS,
    'ross-2017',
    'era of the numbers above: in ross-7 3 is vt and 4 is all',
    { fallback: 'as the options beside them tell, else ross-2017' },
  ),
  'buffer-size': size(8_000_000, 'a third of the buffer memory of each stream of a PE', {
    min: 4096,
  }),
  'buffer-free': float(
    15,
    'free space below which a buffer is handed over to be written at a GVT; a full one is at once',
    {
      min: 0,
      max: 100,
      unit: '%',
    },
  ),
  'on-overflow': oneOf(
    { wait: 0, drop: 1 },
    'wait',
    'what a PE does when all its buffers are full',
  ),
  'disable-output': flag(
    false,
    'write nothing and overwrite the buffers, to measure the cost of sampling',
  ),
  'enable-gvt-stats': flag(false, '--engine-stats=gvt, as it was called in 2016'),
  'real-time-samp': float(0, '--engine-stats=rt --rt-interval=MS, as it was called in 2016', {
    min: 0,
    unit: 'ms',
  }),
} as const satisfies Readonly<Record<string, OptionSpec>>;

export type InstrumentOption = keyof typeof INSTRUMENT_OPTIONS;

const NONE: SampleModes = { gvt: false, rt: false, vt: false };

const BY_NUMBER: Readonly<Record<Era, Readonly<Record<string, string>>>> = {
  'ross-7': { '0': 'none', '1': 'gvt', '2': 'rt', '3': 'vt', '4': 'all' },
  'ross-2017': { '0': 'none', '1': 'gvt', '2': 'rt', '3': 'both' },
};

/** GVTs between two samples: 1 in seeds 001 and 002; 10 in ROSS since it has virtual-time samples. */
const NUM_GVT: Readonly<Record<Era, number>> = { 'ross-2017': 1, 'ross-7': 10 };

function modesOf(option: string, given: string, era: Era): SampleModes {
  const modes = { ...NONE };
  for (const word of given.toLowerCase().split(',').filter(Boolean)) {
    const name = BY_NUMBER[era][word] ?? word;
    if (name === 'all') modes.gvt = modes.rt = modes.vt = true;
    else if (name === 'both') modes.gvt = modes.rt = true;
    else if (name === 'gvt' || name === 'rt' || name === 'vt') modes[name] = true;
    else if (name !== 'none') {
      const mend = word === '4' ? '; 4 is all in --stats-era=ross-7' : '';
      throw new OptionError(
        `--${option}=${given}: must be gvt, rt, vt, a list of these separated by commas, all, or a number from 0 to ${word === '4' ? 3 : 4}${mend}`,
      );
    }
  }
  return modes;
}

const any = (modes: SampleModes) => modes.gvt || modes.rt || modes.vt;

interface EngineSampling {
  readonly modes: SampleModes;
  /** Milliseconds. */
  readonly rtInterval: number;
  readonly notes: readonly string[];
}

/** The options that ask for engine samples, in the order in which they were given: the last one wins. */
function engineSampling(given: GivenOptions, era: Era): EngineSampling {
  let modes = NONE;
  let rtInterval: number = INSTRUMENT_OPTIONS['rt-interval'].default;
  const notes: string[] = [];
  for (const [name, value] of given) {
    if (name === 'engine-stats') {
      const asked = modesOf(name, String(value), era);
      modes = any(asked)
        ? { gvt: modes.gvt || asked.gvt, rt: modes.rt || asked.rt, vt: asked.vt }
        : NONE;
    } else if (name === 'enable-gvt-stats') {
      modes = { ...modes, gvt: Boolean(value) };
      if (value) notes.push('--enable-gvt-stats is ROSS’s of 2016; it is --engine-stats=gvt now');
    } else if (name === 'rt-interval') rtInterval = Number(value);
    else if (name === 'real-time-samp') {
      modes = { ...modes, rt: Number(value) > 0 };
      if (!modes.rt) continue;
      rtInterval = Number(value);
      notes.push(
        `--real-time-samp is ROSS’s of 2016; it is --engine-stats=rt --rt-interval=${value} now`,
      );
    }
  }
  return { modes, rtInterval, notes };
}

/** What the given options request. */
export interface AskedSamples {
  readonly config: InstrumentConfig;
  readonly files: StatsFiles;
  /** One line per option that has a new name, or whose number may have a new meaning. */
  readonly notes: readonly string[];
  /** Engine samples were declined, by `--engine-stats=0`. */
  readonly engineOff: boolean;
}

/**
 * What the given options request.
 * @param end virtual time at which the run ends
 * @throws OptionError for an invalid value, or two that contradict each other
 */
export function instrumentConfig(given: GivenOptions, end: number): AskedSamples {
  const value = <N extends InstrumentOption>(name: N) =>
    (given.get(name) ??
      INSTRUMENT_OPTIONS[name].default) as (typeof INSTRUMENT_OPTIONS)[N]['default'];
  const { era, notes } = eraOf(given);
  const engine = engineSampling(given, era);
  const granularity = Number(value('granularity'));
  const old = era === 'ross-7' || granularity > 1;
  const levels = {
    pe: granularity > 0 && old ? granularity === 3 : Boolean(value('pe-data')),
    kp: Boolean(value('kp-data')) || granularity === 1 || granularity === 3,
    lp: Boolean(value('lp-data')) || (granularity === 1 && !old) || granularity >= 2,
  };
  const prefix = String(value('stats-prefix'));
  if (prefix === '' || /[\\/]/.test(prefix)) {
    throw new OptionError(`--stats-prefix=${prefix}: must be the beginning of a file’s name`);
  }
  const vtEnd = Number(value('vt-samp-end'));
  const layout = value('stats-layout') as InstrumentConfig['layout'];
  const frames = Number(value('animate'));
  const asked = modesOf('model-stats', String(value('model-stats')), era);
  const model = { ...asked, vt: asked.vt || frames > 0 };
  if (isPacked(layout) && (engine.modes.vt || model.vt)) {
    throw new OptionError(
      `--stats-layout=${layout} cannot hold virtual-time samples; leave vt out, or use ross-7`,
    );
  }
  const config: InstrumentConfig = {
    engine: engine.modes,
    model,
    levels,
    // In the layout of 2017 records always hold KPs.
    kpsInRt: layout === 'ross-2017' || levels.kp || given.get('kp-data') !== false,
    trace: value('event-trace') as EventTrace,
    traceClock: value('trace-clock') as 'event' | 'batch',
    numGvt: Number(given.get('num-gvt') ?? NUM_GVT[era]),
    rtInterval: engine.rtInterval,
    vtInterval:
      frames > 0 && !given.has('vt-interval') ? end / frames : Number(value('vt-interval')),
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
  return {
    config,
    files: { path: String(value('stats-path')), prefix },
    notes: [...notes, ...engine.notes],
    engineOff: given.has('engine-stats') && !any(engine.modes),
  };
}
