/** A job as the object that `node job --json` prints. */
import type { DeviceRow } from './device-page.ts';
import { conditionOf, type FlagResult, flagsOf } from './flags.ts';
import { isoTime, type Job } from './job.ts';
import { metricsOf } from './metrics/index.ts';
import type { MetricValue } from './metrics/metric.ts';
import { notesOf, repairsOf } from './notes.ts';
import { balanceOf, tracksOf } from './tracks.ts';

const metricFacts = ({ set, metric, value, lacks, doubt, inputs }: MetricValue) => ({
  set,
  name: metric.name,
  value,
  unit: metric.unit,
  formula: metric.formula,
  ...(metric.note ? { note: metric.note } : {}),
  ...(value === null ? { lacks } : {}),
  ...(doubt === '' ? {} : { doubt }),
  inputs,
});

const flagFacts = ({ flag, result, value, why }: FlagResult) => ({
  flag: flag.name,
  set: flag.set,
  metric: flag.metric,
  condition: conditionOf(flag),
  result,
  value,
  ...(why === '' ? {} : { why }),
  means: flag.means,
});

const time = (seconds: number | null) => (seconds === null ? null : isoTime(seconds));
/** JSON has no NaN: a missing value is null. */
const values = (series: Float64Array) =>
  Array.from(series, (value) => (Number.isNaN(value) ? null : value));

/** The whole object. @param page devices of one type, if they were requested */
export function jobObject(job: Job, page: readonly DeviceRow[] | null) {
  const { processes, repairs, notes, oddities, ...facts } = jobFacts(job, metricsOf(job));
  return {
    ...facts,
    times: Array.from(job.times),
    tracks: tracksOf(job).map(({ hosts, ...track }) => ({
      ...track,
      hosts: Object.fromEntries([...hosts].map(([host, series]) => [host, values(series)])),
    })),
    ...{ processes, repairs, notes, oddities },
    ...(page === null ? {} : { page }),
  };
}

/** The facts of a job, without its courses in time. */
export function jobFacts(job: Job, metrics: readonly MetricValue[]) {
  const { times } = job;
  const first = times[0] ?? null;
  const last = times.at(-1) ?? null;
  return {
    id: job.id,
    accounting: job.accounted,
    from: time(first),
    to: time(last),
    seconds: first === null || last === null ? null : last - first,
    hosts: job.hosts.map((host) => ({
      host: host.host,
      groups: host.times.length,
      first: time(host.times[0] ?? null),
      last: time(host.times.at(-1) ?? null),
      begin: time(host.begin),
      end: time(host.end),
      other_jobs: host.others,
      reboots: host.reboots,
      files: host.files,
    })),
    missing: job.missing,
    metrics: metrics.map(metricFacts),
    flags: flagsOf(job, metrics).map(flagFacts),
    balance: balanceOf(job),
    processes: job.hosts.flatMap(({ host, processes }) =>
      processes.list.map((process) => ({ host, ...process })),
    ),
    repairs: repairsOf(job),
    notes: notesOf(job),
    oddities: job.oddities,
  };
}
