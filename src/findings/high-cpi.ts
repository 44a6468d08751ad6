/** Many cycles for each instruction. */
import { OWN, short } from './finding.ts';
import { gradedBy, hostsOf, jobRule } from './job-rule.ts';

const SOME = {
  value: 1.5,
  unit: 'cycles/instruction',
  means: 'or more: notice',
  source: 'tacc_stats 2.3, exam HighCPI and the index page of its portal',
};
const MUCH = {
  value: 3,
  unit: 'cycles/instruction',
  means: 'or more: problem',
  source: 'tacc_stats 2.3.5, index page of its portal',
};

export const HIGH_CPI = jobRule({
  name: 'high-cpi',
  title: 'processors that wait for data',
  looks: `Divides a job’s cycles by the instructions retired (metric avg_cpi). A low value costs nothing and is not a finding. (${OWN}: two grades.)`,
  set: 'summary',
  metric: 'avg_cpi',
  thresholds: { SOME, MUCH },
  knob: 'Find out what the processors wait for: memory bandwidth (avg_mbw), loads that miss the caches (HighCPLD) or branches; then arrange data for locality.',
  severity: gradedBy(SOME, MUCH),
  says: (value, job) =>
    `its processors took ${short(value)} cycles for each instruction, on ${hostsOf(job)}`,
});
