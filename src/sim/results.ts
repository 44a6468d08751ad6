/** The results that `final` handlers report, combined over LPs and PEs. */
import { addTo, type ExactSum, rounded } from './exact-sum.ts';
import { NAMES } from './handler-names.ts';
import type { Results } from './model.ts';
import { ModelError } from './model-error.ts';
import { sealNames } from './sealed.ts';
import {
  type GatheredStatistic,
  mergeStatistics,
  type StatisticResult,
  statisticResult,
} from './statistic/gathered.ts';

function expectNumber(method: string, name: string, value: unknown): void {
  if (typeof name !== 'string')
    throw new ModelError(
      `results.${method}(${String(name)}, …): the first is the result’s name, a text`,
    );
  if (typeof value === 'number' && value - value === 0) return;
  const given = typeof value === 'string' ? JSON.stringify(value) : String(value);
  const what =
    value === Infinity || value === -Infinity ? 'is no finite number' : 'is not a number';
  throw new ModelError(`results.${method}('${name}'): ${given} ${what}`);
}

/**
 * What a model reported at its end: sums, maxima, histograms and rows, over all LPs, by the names that the model gave
 * them.
 */
export interface ModelResults {
  /** Sums over all LPs. */
  readonly totals: Record<string, number>;
  /** Largest values over all LPs. */
  readonly maxima: Record<string, number>;
  /** Histograms: weights by bin. */
  readonly counts: Record<string, number[]>;
  /** Rows by name, ordered by LP. */
  readonly rows: Record<string, { lp: number; values: Record<string, number> }[]>;
  /** Statistics that LPs have in their state, by the names of their fields; of several LP types, `type.field`. */
  readonly statistics: Record<string, StatisticResult>;
}

/** The reports of the LPs of one PE. Sums are rounded only after those of all PEs are added. Plain data: it crosses threads. */
export interface GatheredResults extends Pick<ModelResults, 'maxima' | 'rows'> {
  readonly totals: Record<string, ExactSum>;
  readonly counts: Record<string, ExactSum[]>;
  readonly statistics: Record<string, GatheredStatistic>;
}

export class ResultsCollector implements Results {
  readonly data: GatheredResults = { totals: {}, maxima: {}, counts: {}, rows: {}, statistics: {} };
  /** The LP that reports. */
  lp = 0;

  add(name: string, value: number): void {
    expectNumber('add', name, value);
    let total = this.data.totals[name];
    if (total === undefined) {
      total = [];
      this.data.totals[name] = total;
    }
    addTo(total, value);
  }

  max(name: string, value: number): void {
    expectNumber('max', name, value);
    this.data.maxima[name] = Math.max(this.data.maxima[name] ?? -Infinity, value);
  }

  count(name: string, bin: number, weight = 1): void {
    if (!Number.isInteger(bin) || bin < 0)
      throw new ModelError(`count('${name}', ${bin}): bins are integers from 0`);
    expectNumber('count', name, weight);
    let bins = this.data.counts[name];
    if (bins === undefined) {
      bins = [];
      this.data.counts[name] = bins;
    }
    while (bins.length <= bin) bins.push([]);
    addTo(bins[bin], weight);
  }

  row(name: string, values: Readonly<Record<string, number>>): void {
    let rows = this.data.rows[name];
    if (rows === undefined) {
      rows = [];
      this.data.rows[name] = rows;
    }
    if (typeof values !== 'object' || values === null)
      throw new ModelError(
        `results.row('${name}', ${String(values)}): the second is an object, { name: value }`,
      );
    // NaN stands for a value that a row does not have.
    for (const [key, value] of Object.entries(values))
      if (typeof value !== 'number') expectNumber('row', `${name}: ${key}`, value);
    rows.push({ lp: this.lp, values: { ...values } });
  }

  /** Adds an LP's statistic, or the merged one of several LPs, which may be modified. */
  statistic(name: string, one: GatheredStatistic): void {
    const all = this.data.statistics[name];
    if (all === undefined) this.data.statistics[name] = one;
    else mergeStatistics(all, one);
  }
}

sealNames(ResultsCollector.prototype, 'results', NAMES.results);

const mapped = <A, B>(from: Record<string, A>, f: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, f(value)]));

/** Merges PEs' results, whatever their order; rows in order of LP. */
export function mergeResults(parts: readonly GatheredResults[]): ModelResults {
  const all = new ResultsCollector();
  for (const part of parts) {
    for (const [name, terms] of Object.entries(part.totals))
      for (const term of terms) all.add(name, term);
    for (const [name, value] of Object.entries(part.maxima)) all.max(name, value);
    for (const [name, bins] of Object.entries(part.counts)) {
      bins.forEach((terms, bin) => {
        for (const term of terms) if (term !== 0) all.count(name, bin, term);
      });
    }
    for (const [name, one] of Object.entries(part.statistics)) all.statistic(name, one);
    for (const [name, rows] of Object.entries(part.rows)) {
      for (const { lp, values } of rows) {
        all.lp = lp;
        all.row(name, values);
      }
    }
  }
  const { totals, maxima, counts, rows, statistics } = all.data;
  for (const list of Object.values(rows)) list.sort((a, b) => a.lp - b.lp);
  return {
    totals: mapped(totals, rounded),
    maxima,
    counts: mapped(counts, (bins) => bins.map(rounded)),
    rows,
    statistics: mapped(statistics, statisticResult),
  };
}
