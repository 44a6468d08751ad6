/** What a metric of a job is: one declaration gives its value, its row in the docs, and its inputs on the page. */
import { GIB, MIB } from '../../../model/bytes.ts';
import { shareText } from '../../../model/measures/index.ts';
import { type HostSeries, type Input, type JobRows, JobView, MissingInput } from '../view.ts';

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

/** By unit, the divisor of a sum, and its notation in formulas; counters are in B, CPU time in hundredths of a second. */
const SCALES: Readonly<Record<string, readonly [number, string]>> = {
  'MiB/s': [MIB, '2²⁰ '],
  'GiB/s': [GIB, '2³⁰ '],
  cores: [100, '100 '],
};

/** Rates of hosts, converted to a unit. */
export function ratesIn(unit: string, series: HostSeries): HostSeries {
  const [scale] = SCALES[unit] ?? [1];
  return new Map([...series].map(([host, rates]) => [host, rates.map((rate) => rate / scale)]));
}

/** The type of a key: its name, or a function that finds the type for the job's processors, with the name used in formulas. */
export type TypeName = string | { readonly name: string; readonly of: (view: JobView) => string };

const nameOf = (type: TypeName) => (typeof type === 'string' ? type : type.name);
const typeIn = (view: JobView, type: TypeName) => (typeof type === 'string' ? type : type.of(view));
const sumOf = (keys: readonly string[]) =>
  keys.length === 1 ? `Δ${keys[0]}` : `Δ(${keys.join(' + ')})`;
const noted = (note: string) => (note === '' ? {} : { note });

/** The counted amount per second and host: Δkeys / (T N), in a unit of `SCALES` or unconverted. */
export function average(
  name: string,
  type: TypeName,
  keys: readonly string[],
  unit: string,
  note = '',
): JobMetric {
  const [scale, written] = SCALES[unit] ?? [1, ''];
  return {
    ...{ name, unit, formula: `${sumOf(keys)} / (${written}T N)` },
    inputs: keys.map((key) => `${nameOf(type)}.${key}`),
    ...noted(note),
    compute: (view) => view.rate(typeIn(view, type), ...keys) / scale,
  };
}

/** One sum divided by another: Δover / Δunder. */
export function quotient(
  name: string,
  type: TypeName,
  over: string,
  under: string,
  unit: string,
  note = '',
): JobMetric {
  return {
    ...{ name, unit, formula: `Δ${over} / Δ${under}` },
    inputs: [over, under].map((key) => `${nameOf(type)}.${key}`),
    ...noted(note),
    compute: (view) => {
      const of = typeIn(view, type);
      return view.total(of, over) / view.total(of, under);
    },
  };
}

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
