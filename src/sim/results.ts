/** What `final` handlers report, gathered over LPs and PEs. */
import type { Results } from './model.ts';

export interface ModelResults {
  readonly totals: Record<string, number>;
  readonly maxima: Record<string, number>;
  /** Histograms: weights by bin. */
  readonly counts: Record<string, number[]>;
  /** Rows by name, ordered by LP. */
  readonly rows: Record<string, { lp: number; values: Record<string, number> }[]>;
}

export class ResultsCollector implements Results {
  readonly data: ModelResults = { totals: {}, maxima: {}, counts: {}, rows: {} };
  /** The LP that reports. */
  lp = 0;

  add(name: string, value: number): void {
    this.data.totals[name] = (this.data.totals[name] ?? 0) + value;
  }

  max(name: string, value: number): void {
    this.data.maxima[name] = Math.max(this.data.maxima[name] ?? -Infinity, value);
  }

  count(name: string, bin: number, weight = 1): void {
    if (!Number.isInteger(bin) || bin < 0)
      throw new RangeError(`count('${name}', ${bin}): not a bin`);
    let bins = this.data.counts[name];
    if (bins === undefined) {
      bins = [];
      this.data.counts[name] = bins;
    }
    while (bins.length <= bin) bins.push(0);
    bins[bin] += weight;
  }

  row(name: string, values: Readonly<Record<string, number>>): void {
    let rows = this.data.rows[name];
    if (rows === undefined) {
      rows = [];
      this.data.rows[name] = rows;
    }
    rows.push({ lp: this.lp, values: { ...values } });
  }
}

/** Merges PEs' results, in PE order; rows in order of LP. */
export function mergeResults(parts: readonly ModelResults[]): ModelResults {
  const all = new ResultsCollector();
  for (const part of parts) {
    for (const [name, value] of Object.entries(part.totals)) all.add(name, value);
    for (const [name, value] of Object.entries(part.maxima)) all.max(name, value);
    for (const [name, bins] of Object.entries(part.counts)) {
      bins.forEach((weight, bin) => {
        if (weight !== 0) all.count(name, bin, weight);
      });
    }
    for (const [name, rows] of Object.entries(part.rows)) {
      for (const { lp, values } of rows) {
        all.lp = lp;
        all.row(name, values);
      }
    }
  }
  for (const rows of Object.values(all.data.rows)) rows.sort((a, b) => a.lp - b.lp);
  return all.data;
}
