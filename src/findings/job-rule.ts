/** Rules about a job: they compare one of its metrics, as `node job` prints it, with a threshold. */
import {
  asRows,
  type FindingParts,
  type FindingRule,
  graded,
  type JobSubject,
  type Lacks,
  type Severity,
  type Subject,
  type Threshold,
} from './finding.ts';
import type { MetricSet, MetricValue } from './job/index.ts';
import type { MeasuredJob } from './measured-jobs.ts';

/** A rule that reads nothing but the records of jobs. */
export interface JobFindingRule extends FindingRule {
  run(subject: JobSubject): Promise<readonly FindingParts[] | Lacks>;
}

interface JobRule extends Omit<FindingRule, 'needs' | 'run'> {
  readonly set: MetricSet;
  readonly metric: string;
  severity(value: number, job: MeasuredJob): Severity | null;
  /** The sentence after “Job 7: ”, without its full stop. */
  says(value: number, job: MeasuredJob): string;
}

/** SQL for the recorded counters behind the inputs whose tables exist; '' if no table does. */
function queryFor({ inputs }: MetricValue, has: Subject['has']): string {
  const parts = inputs.flatMap(({ name }) => {
    const [type, key] = name.split('.');
    return key !== undefined && has(`node_${type}.${key}`)
      ? [
          `SELECT host, device, '${name}' AS input, arg_min("${key}", t) AS first, arg_max("${key}", t) AS last
FROM node_${type} GROUP BY host, device`,
        ]
      : [];
  });
  return parts.length === 0 ? '' : `${parts.join('\nUNION ALL ')}\nORDER BY ALL`;
}

/** Findings about a job's course need at least this many seconds: shorter jobs mostly start and end. */
const LEAST_SECONDS = 60;

export const isBrief = ({ job: { times } }: MeasuredJob): boolean =>
  (times.at(-1) ?? 0) - (times[0] ?? 0) < LEAST_SECONDS;

/** For recordings without raw stats files. */
export const NO_JOBS: Lacks = { lacks: 'raw stats of a job' };

/** A metric describes a whole job, so such a rule is applied to each job of the recording. */
export const jobRule = (rule: JobRule): JobFindingRule => ({
  ...rule,
  needs: [],
  async run(subject) {
    const found: FindingParts[] = [];
    const jobs = await subject.jobs();
    if (jobs.length === 0) return NO_JOBS;
    let lacks = `${rule.metric} of any job`;
    let measured = 0;
    for (const job of jobs) {
      const value = job.metric(rule.set, rule.metric);
      if (value?.lacks) lacks = value.lacks;
      if (value === null || value.value === null) continue;
      measured++;
      const severity = rule.severity(value.value, job);
      if (severity === null) continue;
      found.push({
        severity,
        sentence: `Job ${job.job.id}: ${rule.says(value.value, job)}.`,
        evidence: {
          sql: queryFor(value, subject.has),
          rows: asRows(value.inputs),
          formula: `${value.metric.name} = ${value.metric.formula}`,
        },
        advice: rule.knob,
      });
    }
    return measured === 0 ? { lacks } : found;
  },
});

/** The usual grading: `notice` from threshold `some` on, `problem` from `bad` on. */
export const gradedBy = (some: Threshold, bad: Threshold) => (value: number) =>
  graded(value, some, bad);

/** “host a”, “2 hosts”. */
export const hostsOf = ({ job }: MeasuredJob): string =>
  job.hosts.length === 1 ? `host ${job.hosts[0].host}` : `${job.hosts.length} hosts`;
