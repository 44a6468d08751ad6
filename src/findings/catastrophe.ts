/** A job whose work stops before the job does. */
import { percent, short } from './finding.ts';
import { hostsOf, isBrief, jobRule } from './job-rule.ts';

const FALL = {
  value: 0.01,
  unit: 'share',
  means:
    'of the earlier rate and less is left on a host: problem; of a job of less than a minute, an info',
  source: 'tacc_stats 2.3, exam Catastrophe',
};

const USED = {
  value: 0.1,
  unit: 'core',
  means: 'of user time on average over the job: with less there is no work that could stop',
  source: 'ours: below it are ticks of /proc/stat, and niced work is no user time',
};

export const CATASTROPHE = jobRule({
  name: 'catastrophe',
  title: 'work that stops suddenly',
  looks:
    'Finds the moment at which a host’s rate of user time fell most: the ratio of the rate after it to the rate before it (metric Catastrophe).',
  set: 'exam',
  metric: 'Catastrophe',
  thresholds: { USED, FALL },
  knob: 'Did a process fail while the others waited for it? Read the job’s output around that time, and let a job end when its first process fails.',
  severity: (value, job) => {
    const used = job.metric('summary', 'avg_cpuusage')?.value ?? 0;
    if (used < USED.value || value > FALL.value) return null;
    return isBrief(job) ? 'info' : 'problem';
  },
  says: (value, job) =>
    `work stopped within the job: after the fall a host does ${value === 0 ? 'nothing' : percent(value)} of what it did before (${hostsOf(job)}, ${short(job.job.times[job.job.times.length - 1] - job.job.times[0])} s in all)`,
});
