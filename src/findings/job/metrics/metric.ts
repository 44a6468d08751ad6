/** What a metric of a job is: one declaration gives its value, its row in the docs, and its inputs on the page. */
import { type Input, type JobRows, JobView, MissingInput } from '../view.ts';

/**
 * Where a metric is from: `summary` the metrics of tacc_stats 2.3.5, `exam` the tests of 2.3, `hpcperfstats` those
 * that its successor keeps, `triscope` our own.
 */
export const METRIC_SETS = ['summary', 'exam', 'hpcperfstats', 'triscope'] as const;
export type MetricSet = (typeof METRIC_SETS)[number];

export interface JobMetric {
  /** As the original calls it. Unique within its set. */
  readonly name: string;
  readonly unit: string;
  /** Δ: last value less first, repaired, summed over devices and hosts; T: seconds of the job; N: hosts. */
  readonly formula: string;
  /** `type.key`, as the formula names them. */
  readonly inputs: readonly string[];
  /** What to know about it, such as a bug of the original; '' for nothing. */
  readonly note?: string;
  /** @throws MissingInput */
  compute(view: JobView): number;
}

export interface MetricFamily {
  readonly title: string;
  readonly set: MetricSet;
  readonly metrics: readonly JobMetric[];
}

export interface MetricValue {
  readonly set: MetricSet;
  readonly metric: JobMetric;
  /** Null where it is not available. */
  readonly value: number | null;
  /** What it lacks; '' where it has its value. */
  readonly lacks: string;
  readonly inputs: readonly Input[];
}

/** Computes a metric. A quotient of nothing by nothing is not available, not NaN. */
export function evaluate(rows: JobRows, set: MetricSet, metric: JobMetric): MetricValue {
  const view = new JobView(rows);
  try {
    const value = metric.compute(view);
    if (Number.isFinite(value)) return { set, metric, value, lacks: '', inputs: view.inputs };
    const lacks = 'anything to divide by: its denominator is 0';
    return { set, metric, value: null, lacks, inputs: view.inputs };
  } catch (error) {
    if (!(error instanceof MissingInput)) throw error;
    return { set, metric, value: null, lacks: error.message, inputs: view.inputs };
  }
}
