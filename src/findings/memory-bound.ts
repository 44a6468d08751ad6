/** Memory at its peak bandwidth. */
import { OWN, percent } from './finding.ts';
import { gradedBy, hostsOf, jobRule } from './job-rule.ts';

const SOME = {
  value: 0.7,
  unit: 'share',
  means: 'of the peak that STREAM reaches, or more: notice',
  source: `${OWN}; the peaks (76 and 104 GB/s) are those of tacc_stats 2.3, exam MemBw`,
};
const MUCH = { value: 0.9, unit: 'share', means: 'of the peak: problem', source: OWN };

export const MEMORY_BOUND = jobRule({
  name: 'memory-bound',
  title: 'memory bandwidth at its peak',
  looks: 'Divides a job’s memory traffic by the peak bandwidth of its processors (metric MemBw).',
  set: 'exam',
  metric: 'MemBw',
  thresholds: { SOME, MUCH },
  knob: 'Reuse loaded data (blocking, loop fusion), store less (smaller types), or run fewer processes per host.',
  severity: gradedBy(SOME, MUCH),
  says: (value, job) =>
    `memory traffic reached ${percent(value)} of the peak bandwidth, on ${hostsOf(job)}`,
});
