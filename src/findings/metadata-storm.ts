/** Many metadata operations on a file system, compared with its data. */
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
  title: 'bursts of metadata operations',
  looks:
    'Adds up all hosts’ Lustre metadata operations (open, stat and others) per second, at the peak (metric MetaDataRate).',
  set: 'exam',
  metric: 'MetaDataRate',
  thresholds: { SOME, MUCH },
  knob: 'Open files once and keep them open; let one process look up files for all; put many small files into one (HDF5, tar); use local scratch for files that are not shared.',
  severity: gradedBy(SOME, MUCH),
  says: (value, job) =>
    `up to ${whole(value)} Lustre metadata operations per second, from ${hostsOf(job)}`,
});
