/** Hosts that do nothing while others of the job work. */
import { percent, whole } from './finding.ts';
import { JobRows, JobView } from './job/index.ts';
import { behindByHost } from './job/metrics/balance.ts';
import { jobRule } from './job-rule.ts';

const IDLE = {
  value: 0.99,
  unit: 'share',
  means: 'or more behind the busiest host: problem',
  source: 'tacc_stats 2.3, exam Idle',
};

export const IDLE_NODES = jobRule({
  name: 'idle-nodes',
  title: 'hosts that a job does not use',
  looks:
    'Compares each host’s user time with that of the busiest host, over the intervals (metric Idle).',
  set: 'exam',
  metric: 'Idle',
  thresholds: { IDLE },
  knob: 'Request fewer hosts, or start processes on all of them (mpirun’s host list and processes per host).',
  severity: (value) => (value >= IDLE.value ? 'problem' : null),
  says: (value, { job }) => {
    const behind = [...behindByHost(new JobView(new JobRows(job)))];
    const idle = behind.filter(([, share]) => share >= IDLE.value).map(([host]) => host);
    const named = idle.length > 4 ? `${idle.slice(0, 4).join(', ')} and more` : idle.join(', ');
    return `${whole(idle.length)} of ${whole(behind.length)} hosts did nothing while others worked (${named}; ${percent(value)} behind the busiest)`;
  },
});
