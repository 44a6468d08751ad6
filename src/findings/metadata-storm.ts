/** File systems that are asked about files rather than for data. */
import { OWN, whole } from './finding.ts';
import { gradedBy, hostsOf, jobRule } from './job-rule.ts';

const SOME = {
  value: 10_000,
  unit: '1/s',
  means: 'of all hosts at the peak: notice',
  source: 'tacc_stats 2.3, exam MetaDataRate',
};
const MUCH = {
  value: 50_000,
  unit: '1/s',
  means: 'at the peak: problem',
  source: OWN,
};

export const METADATA_STORM = jobRule({
  name: 'metadata-storm',
  title: 'storms of metadata operations',
  looks:
    'Opens, stats and the like of Lustre a second, all hosts, at the peak: the metric MetaDataRate.',
  set: 'exam',
  metric: 'MetaDataRate',
  thresholds: { SOME, MUCH },
  knob: 'Open files once and keep them open; one process looks and tells the others; many small files in one (HDF5, tar); local scratch for what nobody shares.',
  severity: gradedBy(SOME, MUCH),
  says: (value, job) =>
    `up to ${whole(value)} metadata operations a second of Lustre, from ${hostsOf(job)}`,
});
