/** All kinds of statistics: of one LP, merged over LPs, and as a result. */
import type { StructLayout } from '../../model/struct.ts';
import {
  type GatheredHistogram,
  type HistogramResult,
  histogramResult,
  mergeHistograms,
} from './histogram.ts';
import {
  type GatheredQuantiles,
  mergeQuantiles,
  type QuantilesResult,
  quantilesResult,
} from './quantiles.ts';
import { type GatheredTally, mergeTallies, type TallyResult, tallyResult } from './tally.ts';
import {
  type GatheredTimeAverage,
  mergeTimeAverages,
  type TimeAverageResult,
  timeAverageResult,
} from './time-average.ts';

/** A statistic of one LP or many. Plain data: it crosses threads. */
export type GatheredStatistic =
  | GatheredTally
  | GatheredTimeAverage
  | GatheredHistogram
  | GatheredQuantiles;

/** A statistic over all LPs, at the end of a run. */
export type StatisticResult = TallyResult | TimeAverageResult | HistogramResult | QuantilesResult;

/** Adds `from` to `into`; both are of the same field. */
export function mergeStatistics(into: GatheredStatistic, from: GatheredStatistic): void {
  if (into.kind === 'tally') mergeTallies(into, from as GatheredTally);
  else if (into.kind === 'timeAverage') mergeTimeAverages(into, from as GatheredTimeAverage);
  else if (into.kind === 'histogram') mergeHistograms(into, from as GatheredHistogram);
  else mergeQuantiles(into, from as GatheredQuantiles);
}

export function statisticResult(all: GatheredStatistic): StatisticResult {
  switch (all.kind) {
    case 'tally':
      return tallyResult(all);
    case 'timeAverage':
      return timeAverageResult(all);
    case 'histogram':
      return histogramResult(all);
    case 'quantiles':
      return quantilesResult(all);
  }
}

/** The statistic of a field without values. */
const DECLARED = new Set(['lps', 'time', 'error', 'from', 'to']);

/** The numbers of a statistic by name, for tables and sweeps. */
export function valuesOfStatistic(result: StatisticResult): Record<string, number> {
  const values: Record<string, number> = {};
  const steady = 'steady' in result ? result.steady : null;
  for (const [name, value] of Object.entries({ ...result, steady: steady?.mean }))
    if (typeof value === 'number' && !DECLARED.has(name)) values[name] = value;
  return values;
}

/** Names of the fields of a state that are statistics. */
export function statisticsOf(layout: StructLayout, state: object): string[] {
  const fields = state as Readonly<Record<string, { readonly gather?: unknown }>>;
  return layout.fields
    .filter(
      ({ name, field }) =>
        typeof field === 'object' && field.kind === 'cells' && 'gather' in fields[name],
    )
    .map(({ name }) => name);
}

/** The statistic in field `name` of an LP's state. */
export function gatherFrom(state: object, name: string): GatheredStatistic {
  return (state as Readonly<Record<string, { gather(): GatheredStatistic }>>)[name].gather();
}
