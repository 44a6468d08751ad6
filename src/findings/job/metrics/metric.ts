/** What a metric of a job is: one declaration gives its value, its row in the docs, and its inputs on the page. */
import { shareText } from '../../../model/measures/index.ts';
import { type Input, type JobRows, JobView, MissingInput } from '../view.ts';
import type { Declaration } from './declaration.ts';
import { formulaOf, inputNames, valuesText } from './formula.ts';
import { measured } from './quotient.ts';

/**
 * The source of a metric: `summary` the metrics of tacc_stats 2.3.5, `exam` the tests of 2.3, `hpcperfstats` those
 * of its successor, `triscope` our own.
 */
export const METRIC_SETS = ['summary', 'exam', 'hpcperfstats', 'triscope'] as const;
export type MetricSet = (typeof METRIC_SETS)[number];

export interface JobMetric {
  /** Its name in the source. Unique within its set. */
  readonly name: string;
  readonly unit: string;
  /** Δ: last value minus first, repaired, summed over devices and hosts; T: seconds of the job; N: number of hosts. */
  readonly formula: string;
  /** `type.key`, as the formula names them. */
  readonly inputs: readonly string[];
  /** Remarks, such as a bug of the source; '' if there is none. */
  readonly note?: string;
  /** Of a metric that is one sum over another. */
  readonly declaration?: Declaration;
  /** Of all others: why they are no such quotient, as a clause about them. */
  readonly noQuotient?: string;
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
  /** Null if it is not available. */
  readonly value: number | null;
  /** What it lacks; '' if it has a value. */
  readonly lacks: string;
  /** Why the value is doubtful, as a clause; '' if all its inputs are exact on all hosts. */
  readonly doubt: string;
  readonly inputs: readonly Input[];
}

/** Metrics that are one sum over another. */
export const declared = (...declarations: readonly Declaration[]): readonly JobMetric[] =>
  declarations.map((declaration) => {
    const { name, unit, note = '', constant } = declaration;
    const values = constant === undefined ? '' : `${valuesText(constant)}. `;
    return {
      ...{ name, unit, formula: formulaOf(declaration), inputs: inputNames(declaration) },
      note: (values + note).trim(),
      declaration,
      compute: (view) => measured(view, declaration),
    };
  });

/** A value is withheld if more than this share of the differences of one input are only lower bounds. */
const MOST_DOUBT = 0.5;

/** Computes a metric. If it would be 0/0, it is not available. */
export function evaluate(rows: JobRows, set: MetricSet, metric: JobMetric): MetricValue {
  const view = new JobView(rows);
  try {
    const value = metric.compute(view);
    const { inputs, doubt } = view;
    const missing = (lacks: string) => ({ set, metric, value: null, lacks, doubt: '', inputs });
    if (!Number.isFinite(value)) return missing('anything to divide by: its denominator is 0');
    const bounds = `of ${shareText(doubt.share)} of the differences of ${doubt.key} only a lower bound is known`;
    if (doubt.share > MOST_DOUBT) return missing(`exact inputs: ${bounds}`);
    return { set, metric, value, lacks: '', doubt: doubtOf(view, bounds), inputs };
  } catch (error) {
    if (!(error instanceof MissingInput)) throw error;
    return { set, metric, value: null, lacks: error.message, doubt: '', inputs: view.inputs };
  }
}

function doubtOf({ doubt, hostCount, job, noted }: JobView, bounds: string): string {
  const hosts = job.hosts.length;
  const some = hostCount < hosts ? [`${hosts - hostCount} of ${hosts} hosts lack an input`] : [];
  return [...(doubt.share > 0 ? [bounds] : []), ...some, ...noted].join('; ');
}
