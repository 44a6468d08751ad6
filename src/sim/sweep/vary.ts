/** What a sweep varies: settings and options with the values that each takes, and the points that they make. */
import { didYouMean } from '../../model/nearest.ts';
import { OptionError } from '../../model/option.ts';
import { ENGINE_OPTIONS } from '../engine-options.ts';
import type { Model } from '../model.ts';
import type { Settings } from '../settings.ts';

/** A setting's value at a point. */
export type VariedValue = number | boolean | string;

/** A setting of the engine (`end`, `lookahead`, `warmup`) or an option of the model, and its values. */
export interface Vary<N extends string = string> {
  /** Name of the setting or option. */
  readonly name: N;
  /** Its values, one for each point along this factor. */
  readonly values: readonly VariedValue[];
}

/** One value of each that is varied, by name. */
export type Point<N extends string = string> = Readonly<Record<N, VariedValue>>;

/** Settings of the engine that may be varied: those on which results depend, rather than those of execution. */
const SETTINGS = ['end', 'lookahead', 'warmup'] as const;
const isSetting = (name: string): name is (typeof SETTINGS)[number] =>
  (SETTINGS as readonly string[]).includes(name);

/** Maximum number of values in one range. */
const MOST = 100_000;
const RANGE = /^(-?[\d.]+(?:e-?\d+)?)\.\.(-?[\d.]+(?:e-?\d+)?)(?::([\d.]+(?:e-?\d+)?))?$/;

function rangeOf(word: string): number[] | null {
  const match = RANGE.exec(word);
  if (match === null) return null;
  const [from, to, step] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 1)];
  const count = Math.floor((to - from) / step + 1e-9) + 1;
  if (!(step > 0) || !(count >= 1) || count > MOST) {
    throw new OptionError(
      `${word}: a range goes up, FROM..TO or FROM..TO:STEP, in at most ${MOST} steps`,
    );
  }
  // So that 0.1..0.5:0.1 has 0.3 rather than 0.30000000000000004.
  return Array.from({ length: count }, (_, k) => Number((from + k * step).toPrecision(12)));
}

function parsedAs(word: string, like: VariedValue): VariedValue | null {
  if (typeof like === 'string') return word;
  if (typeof like === 'boolean') return word === 'true' ? true : word === 'false' ? false : null;
  return word === '' || Number.isNaN(Number(word)) ? null : Number(word);
}

/**
 * `servers=1..8`, `lookahead=0.1,0.5`, `load=0.1..0.9:0.1`. @throws OptionError
 * @example
 * ```ts
 * import { loadModel, parseVary } from 'triscope/sim';
 *
 * const loaded = await loadModel('queueing');
 * const { name, values } = parseVary('arrival=0.1..0.4:0.1', loaded.model); // arrival: 0.1, 0.2, 0.3, 0.4
 * loaded.dispose();
 * ```
 */
export function parseVary(text: string, model: Model): Vary {
  const [, name, list] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined) {
    throw new OptionError(
      `--vary=${text}: use NAME=VALUE,… or NAME=FROM..TO or NAME=FROM..TO:STEP`,
    );
  }
  const names = [...Object.keys(model.options), ...SETTINGS];
  const like = isSetting(name) ? ENGINE_OPTIONS[name].default : model.options[name]?.default;
  if (like === undefined || !names.includes(name)) {
    const near = didYouMean(name, names);
    throw new OptionError(
      `--vary=${text}: ${name} is not an option of model '${model.name}'${near === '' ? `; there are ${names.join(', ')}` : near}`,
    );
  }
  const values = list.split(',').flatMap((word) => {
    const range = typeof like === 'number' ? rangeOf(word) : null;
    if (range !== null) return range;
    const value = parsedAs(word, like);
    if (value === null) throw new OptionError(`--vary=${text}: '${word}' is not a ${typeof like}`);
    return [value];
  });
  return { name, values: [...new Set(values)] };
}

/** Every combination, the last name's values changing fastest. @throws OptionError where a name is there twice */
export function pointsOf(varies: readonly Vary[]): Point[] {
  const names = varies.map(({ name }) => name);
  const twice = names.find((name, k) => names.indexOf(name) !== k);
  if (twice !== undefined) throw new OptionError(`--vary=${twice}=…: given twice`);
  return varies.reduce<Point[]>(
    (points, { name, values }) =>
      points.flatMap((point) => values.map((value) => ({ ...point, [name]: value }))),
    [{}],
  );
}

/** `settings` at one point. */
export function settingsAt(settings: Settings, point: Point): Settings {
  const engine: Record<string, VariedValue> = {};
  const options: Record<string, VariedValue> = { ...settings.options };
  for (const [name, value] of Object.entries(point)) {
    if (isSetting(name)) engine[name] = value;
    else options[name] = value;
  }
  return { ...settings, ...engine, options };
}
