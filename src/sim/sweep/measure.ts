/** The measures of a run that a sweep keeps: totals, maxima and statistics of its results, or quotients of them. */
import { didYouMean } from '../../model/nearest.ts';
import { OptionError } from '../../model/option.ts';
import type { ModelResults } from '../results.ts';
import { valuesOfStatistic } from '../statistic/gathered.ts';

/** `present=area/time`, `served` or `wait.p99`: a total, maximum or number of a statistic, or one divided by another. */
export interface SweepMeasure<K extends string = string> {
  /** What the sweep calls it. */
  readonly name: K;
  /** Name of a total or maximum, or a statistic's number such as `wait.mean`. */
  readonly of: string;
  /** Name of the result that `of` is divided by; omitted for no quotient. */
  readonly by?: string;
}

/**
 * A measure from its text: `NAME=A/B`, `NAME=A` or `NAME`, where A and B are totals, maxima or, as `wait.mean`, numbers of
 * statistics of the model's results.
 * @throws OptionError
 * @example
 * ```ts
 * import { parseMeasure } from 'triscope/sim';
 *
 * const waiting = parseMeasure('waiting=waiting/time'); // a total divided by another, called `waiting`
 * ```
 */
export function parseMeasure(text: string): SweepMeasure {
  const match = /^(?:([\w.-]+)=)?([\w.-]+)(?:\/([\w.-]+))?$/.exec(text);
  if (match === null)
    throw new OptionError(
      `--measure=${text}: use NAME, NAME=A or NAME=A/B, of the model's totals, maxima and statistics`,
    );
  const [, name, of, by] = match;
  return { name: name ?? text, of, ...(by !== undefined && { by }) };
}

/** Measures by name, each as `A` or `A/B`. */
export type Measures<K extends string = string> =
  | readonly SweepMeasure<K>[]
  | Readonly<Record<K, string>>;

/** Measures as a list. @throws OptionError */
export const measuresOf = (given: Measures = []): readonly SweepMeasure[] =>
  Array.isArray(given)
    ? (given as readonly SweepMeasure[])
    : Object.entries(given).map(([name, of]) => parseMeasure(`${name}=${of}`));

/** Numbers by name. */
export type Numbers = Readonly<Record<string, number>>;

/** The numbers of a run's statistics, as `wait.mean`. */
export function numbersOf(statistics: ModelResults['statistics']): Numbers {
  return Object.fromEntries(
    Object.entries(statistics).flatMap(([name, one]) =>
      Object.entries(valuesOfStatistic(one)).map(([key, value]) => [`${name}.${key}`, value]),
    ),
  );
}

/** The values of one run by name; without `measures` all of them. @throws OptionError for a name that the run does not report */
export function valuesOf(
  {
    totals,
    maxima,
    statistics,
  }: Pick<ModelResults, 'totals' | 'maxima'> & { readonly statistics?: Numbers },
  measures: readonly SweepMeasure[],
): Record<string, number> {
  const all: Readonly<Record<string, number>> = { ...statistics, ...maxima, ...totals };
  if (measures.length === 0) return { ...all };
  const value = (name: string) => {
    if (Object.hasOwn(all, name)) return all[name];
    const names = Object.keys(all);
    const near = didYouMean(name, names);
    throw new OptionError(
      `--measure: the model reports no ${name}${near === '' ? `; there are ${names.join(', ')}` : near}`,
    );
  };
  return Object.fromEntries(
    measures.map(({ name, of, by }) => [
      name,
      by === undefined ? value(of) : value(of) / value(by),
    ]),
  );
}
