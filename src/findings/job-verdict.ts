/** A job's gauges and flags as findings: every page shows the same list. */
import { asRows, counted, type FindingParts, OWN, type Severity } from './finding.ts';
import { conditionOf, flagsOf, type Gauge, gaugesOf } from './job/index.ts';
import { isBrief, type JobFindingRule, NO_JOBS } from './job-rule.ts';
import type { MeasuredJob } from './measured-jobs.ts';

/** The severity of a gauge's grade. */
const SEVERITY_OF: Readonly<Record<Gauge['grade'], Severity | null>> = {
  poor: 'notice',
  fair: 'info',
  good: null,
  unknown: null,
};

function gaugeFindings(measured: MeasuredJob): FindingParts[] {
  const { job } = measured;
  return gaugesOf(job).flatMap(({ name, title, share, grade, words, rule }): FindingParts[] => {
    const grave = SEVERITY_OF[grade];
    if (grave === null) return [];
    const severity = isBrief(measured) ? 'info' : grave;
    return [
      {
        severity,
        sentence: `Job ${job.id}: the gauge “${title}” is ${grade}. ${words}.`,
        evidence: { sql: '', rows: [{ gauge: name, filled: share, grade }], formula: rule },
        advice: '',
      },
    ];
  });
}

export const JOB_GAUGES: JobFindingRule = {
  name: 'job-gauges',
  title: 'gauges of a job that are not in the good range',
  looks:
    'Processors, balance, steadiness, memory, waiting for disks, instructions and load of each job, as `triscope node job` shows them. A poor gauge is a notice; a fair one, or one of a job shorter than a minute, is an info.',
  needs: [],
  thresholds: {},
  knob: '',
  async run(subject) {
    const jobs = await subject.jobs();
    return jobs.length === 0 ? NO_JOBS : jobs.flatMap(gaugeFindings);
  },
};

function flagFinding({ job, values }: MeasuredJob): FindingParts[] {
  const up = flagsOf(job, values).filter(({ result }) => result === 'flagged');
  if (up.length === 0) return [];
  const names = up.map(({ flag }) => flag.name);
  const rows = up.map(({ flag, value }) => ({
    ...{ flag: flag.name, metric: flag.metric, value },
    ...{ flagged_where: conditionOf(flag), means: flag.means },
  }));
  return [
    {
      severity: 'info',
      sentence: `Job ${job.id}: ${counted(up.length, 'flag')} of tacc_stats ${up.length === 1 ? 'is' : 'are'} raised: ${names.join(', ')}.`,
      evidence: { sql: '', rows: asRows(rows) },
      advice: '',
    },
  ];
}

export const JOB_FLAGS: JobFindingRule = {
  name: 'job-flags',
  title: 'flags that are raised for a job',
  looks: `The flags of tacc_stats’ auditor and portal, as \`triscope node job\` lists them. Many only say that there is traffic, or that a machine is small: these are an info. (Losses have rules of their own; the grades are ${OWN}.)`,
  needs: [],
  thresholds: {},
  knob: '',
  async run(subject) {
    const jobs = await subject.jobs();
    return jobs.length === 0 ? NO_JOBS : jobs.flatMap(flagFinding);
  },
};
