/** Jobs of a path's raw stats files with their metrics, as `node job` prints them, for rules. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Archive,
  type Job,
  JobError,
  listJobs,
  type MetricSet,
  type MetricValue,
  metricsOf,
  openArchive,
  readJobs,
} from './job/index.ts';

export interface MeasuredJob {
  readonly job: Job;
  /** All of its metrics; those that are not available say what they lack. */
  readonly values: readonly MetricValue[];
  /** One metric; its `value` is null if it is not available. */
  metric(set: MetricSet, name: string): MetricValue | null;
}

/** Of an archive with more jobs, the latest are read; `node jobs --flag` examines all. */
export const MOST_JOBS = 32;

const ALWAYS = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, foreign: false };

/** The archive at a path: the folder itself, or the node's part of a recording. Null if there is none. */
function archiveAt(path: string): Archive | null {
  const own = join(path, 'node');
  try {
    return openArchive(existsSync(own) ? own : path);
  } catch (error) {
    if (error instanceof JobError) return null;
    throw error;
  }
}

/** The latest jobs of a path. @throws the signal's reason */
export async function measuredJobs(
  path: string,
  signal?: AbortSignal,
): Promise<readonly MeasuredJob[]> {
  const archive = archiveAt(path);
  if (archive === null) return [];
  const { jobs } = await listJobs(archive, { ...ALWAYS, signal });
  const latest = jobs.slice(-MOST_JOBS).map((listed) => ({ listed, accounted: null }));
  const measured = new Map<string, MeasuredJob>();
  await readJobs(latest, { foreign: false, signal }, (job) =>
    measured.set(job.id, measuredJob(job)),
  );
  return latest.flatMap(({ listed }) => measured.get(listed.id) ?? []);
}

/** A job with all of its metrics. @param values the metrics, if they are known already */
export function measuredJob(
  job: Job,
  values: readonly MetricValue[] = metricsOf(job),
): MeasuredJob {
  const byName = new Map(values.map((value) => [`${value.set} ${value.metric.name}`, value]));
  return { job, values, metric: (set, name) => byName.get(`${set} ${name}`) ?? null };
}
