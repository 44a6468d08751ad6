/** Settings worth trying: combinations of the engine's knobs around the setting that is there. */
import { SYNCHRONISERS } from './config.ts';

export const KNOBS = ['synch', 'batch', 'gvtInterval', 'nkp', 'maxOptLookahead', 'pes'] as const;
export type Knob = (typeof KNOBS)[number];

const { sequential, conservative, optimistic } = SYNCHRONISERS;

/** What `sim run` takes; `synch` by its number, `maxOptLookahead` Infinity: left to the engine. */
export type KnobSettings = Readonly<Record<Knob, number>>;

export interface Range {
  /** The setting to start from; always the first candidate. */
  readonly start: KnobSettings;
  /** Those that may be changed. */
  readonly knobs: readonly Knob[];
  readonly count: number;
  /** LPs of the model. */
  readonly lps: number;
  readonly mostPes: number;
  /** Virtual time between two GVTs of the start setting: the measure for windows. */
  readonly gvtStep: number;
  /** Whether the user has chosen the synchroniser. */
  readonly synchGiven: boolean;
  /** The model's lookahead, in virtual time: conservative runs need one. */
  readonly lookahead: number;
}

const POWERS_OF_4 = [1, 4, 16, 64, 256, 1024];

/** Mulberry32: the same candidates each time. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** 1, 2, 4 … up to `most`, and `most`. */
function doublings(most: number): number[] {
  const values: number[] = [];
  for (let value = 1; value < most; value *= 2) values.push(value);
  return [...values, most];
}

function valuesOf({
  start,
  lps,
  mostPes,
  gvtStep,
  lookahead,
}: Range): Readonly<Record<Knob, readonly number[]>> {
  const with_ = (knob: Knob, values: readonly number[]) => [...new Set([start[knob], ...values])];
  const perPe = Math.max(1, Math.floor(lps / start.pes));
  return {
    synch: with_('synch', lookahead > 0 ? [optimistic, conservative] : [optimistic]),
    batch: with_('batch', POWERS_OF_4.slice(0, 5)),
    gvtInterval: with_('gvtInterval', POWERS_OF_4.slice(1)),
    nkp: with_(
      'nkp',
      POWERS_OF_4.filter((kps) => kps <= perPe),
    ),
    // A window that was given can be changed, but no option takes it back.
    maxOptLookahead: with_(
      'maxOptLookahead',
      [1, 4, 16].map((steps) => Number((steps * gvtStep).toPrecision(3))),
    ),
    pes: with_('pes', doublings(Math.max(1, Math.min(mostPes, lps)))),
  };
}

/** Candidates that run alike have one key. */
export function keyOf(settings: KnobSettings): string {
  const { synch, pes, batch, gvtInterval } = settings;
  if (synch === sequential) return 'sequential';
  // Nothing is undone, and the lookahead is the window.
  if (synch === conservative) return ['conservative', pes, batch, gvtInterval].join(' ');
  return KNOBS.map((knob) => settings[knob]).join(' ');
}

/** One PE is sequential and several are not, unless the synchroniser is the user's choice. */
export const fitting = (settings: KnobSettings, synchGiven: boolean): KnobSettings => {
  if (synchGiven) return settings;
  if (settings.pes === 1) return { ...settings, synch: sequential };
  return settings.synch === sequential ? { ...settings, synch: optimistic } : settings;
};

/** The start, each knob changed by itself, and then combinations at random, the same each time. */
export function candidates(range: Range): KnobSettings[] {
  const { start, knobs, count } = range;
  const values = valuesOf(range);
  const found = new Map<string, KnobSettings>();
  const add = (given: KnobSettings) => {
    const settings = fitting(given, range.synchGiven);
    const key = keyOf(settings);
    if (found.size < count && !found.has(key)) found.set(key, settings);
  };
  add(start);
  // PEs and synchronisers first: they matter most, and the other knobs of a sequential PE mean nothing.
  const synchs = knobs.includes('synch') ? values.synch : [start.synch];
  const pes = knobs.includes('pes') ? values.pes : [start.pes];
  for (const n of pes) for (const synch of synchs) add({ ...start, pes: n, synch });
  const next = generator(1);
  const pick = (knob: Knob) => values[knob][Math.floor(next() * values[knob].length)];
  const combinations = knobs.reduce((product, knob) => product * values[knob].length, 1);
  for (let k = 0; found.size < count && k < 20 * combinations; k++) {
    add({ ...start, ...Object.fromEntries(knobs.map((knob) => [knob, pick(knob)])) });
  }
  return [...found.values()];
}
