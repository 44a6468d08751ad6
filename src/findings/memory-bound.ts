/** Memory at its peak bandwidth. */
import { OWN, percent } from './finding.ts';
import { gradedBy, hostsOf, jobRule } from './job-rule.ts';

const SOME = {
  value: 0.7,
  unit: 'share',
  means: 'of the peak that STREAM reaches: notice',
  source: `${OWN}; the peaks (76 and 104 GB/s) are those of tacc_stats 2.3, exam MemBw`,
};
const MUCH = { value: 0.9, unit: 'share', means: 'of the peak: problem', source: OWN };

export const MEMORY_BOUND = jobRule({
  name: 'memory-bound',
  title: 'memory at its peak',
  looks: 'Memory traffic of a job by the peak of its processors, as the metric MemBw.',
  set: 'exam',
  metric: 'MemBw',
  thresholds: { SOME, MUCH },
  knob: 'Use what is loaded more often (blocking, fusing loops), store less (smaller types), or run fewer processes on each host.',
  severity: gradedBy(SOME, MUCH),
  says: (value, job) => `memory moved ${percent(value)} of what it can at most, on ${hostsOf(job)}`,
});
