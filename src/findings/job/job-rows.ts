/** The jobs of an archive as rows: what is known of each, and its metrics. */
import type { AccountedJob } from './accounting.ts';
import { applicationOf } from './application.ts';
import { flagsOf } from './flags.ts';
import type { Job } from './job.ts';
import type { ListedJob } from './job-list.ts';
import { METRIC_FAMILIES, metricsOf } from './metrics/index.ts';
import type { MetricSet } from './metrics/metric.ts';
import { type JobToRead, type ReadJobsOptions, readJobs } from './read-jobs.ts';

export interface JobRow {
  readonly id: string;
  /** '' if no accounting file has it. */
  readonly user: string;
  readonly account: string;
  readonly queue: string;
  readonly name: string;
  readonly state: string;
  /** The program that most of its processes run; '' if that is not known, or if metrics were not requested. */
  readonly application: string;
  /** Seconds since 1970 of its first and last record group. */
  readonly first: number;
  readonly last: number;
  readonly seconds: number;
  readonly hosts: number;
  readonly groups: number;
  /** The number of hosts without the mark. */
  readonly no_begin: number;
  readonly no_end: number;
  /** Names of the raised flags; null if metrics were not requested. */
  readonly flags: readonly string[] | null;
  /** Columns of the metrics with an inexact input (`MetricValue.doubt`); null as for `flags`. */
  readonly doubtful: readonly string[] | null;
  /** By column (`columnOf`); null if the metric is not available. */
  readonly metrics: Readonly<Record<string, number | null>>;
}

/** A metric's column: metrics of hpcperfstats get a prefix if another set has a metric of the same name. */
export const columnOf = (set: MetricSet, name: string): string =>
  set === 'hpcperfstats' ? `hpcperfstats_${name}` : name;

/** All metrics' columns, in the order of their families, each with its unit and formula. */
export const METRIC_MEANINGS: Readonly<Record<string, string>> = Object.fromEntries(
  METRIC_FAMILIES.flatMap(({ set, metrics }) =>
    metrics.map(({ name, unit, formula }) => [
      columnOf(set, name),
      unit === '' ? formula : `${unit}: ${formula}`,
    ]),
  ),
);
export const METRIC_COLUMNS: readonly string[] = Object.keys(METRIC_MEANINGS);

export function rowOf(listed: ListedJob, accounted: AccountedJob | null): JobRow {
  const hosts = [...listed.hosts.values()];
  return {
    id: listed.id,
    user: accounted?.user ?? '',
    account: accounted?.account ?? '',
    queue: accounted?.queue ?? '',
    name: accounted?.name ?? '',
    state: accounted?.state ?? '',
    application: '',
    first: listed.first,
    last: listed.last,
    seconds: listed.last - listed.first,
    hosts: hosts.length,
    groups: listed.groups,
    no_begin: hosts.filter(({ begin }) => !begin).length,
    no_end: hosts.filter(({ end }) => !end).length,
    flags: null,
    doubtful: null,
    metrics: {},
  };
}

/** The rows with metrics and flags, in the order of `jobs`. Reads the jobs' files. */
export async function measuredRows(
  jobs: readonly JobToRead[],
  options: ReadJobsOptions,
): Promise<JobRow[]> {
  const rows = new Map<string, JobRow>();
  await readJobs(jobs, options, (job, { listed, accounted }) => {
    rows.set(job.id, measuredRow(job, listed, accounted));
  });
  return jobs.flatMap(({ listed }) => rows.get(listed.id) ?? []);
}

/** The row of one job that was read. */
export function measuredRow(job: Job, listed: ListedJob, accounted: AccountedJob | null): JobRow {
  const values = metricsOf(job);
  const flags = flagsOf(job, values).filter(({ result }) => result === 'flagged');
  return {
    ...rowOf(listed, accounted),
    application: applicationOf(job),
    flags: flags.map(({ flag }) => flag.name),
    doubtful: values.flatMap(({ set, metric, doubt }) =>
      doubt === '' ? [] : [columnOf(set, metric.name)],
    ),
    metrics: Object.fromEntries(
      values.map(({ set, metric, value }) => [columnOf(set, metric.name), value]),
    ),
  };
}
