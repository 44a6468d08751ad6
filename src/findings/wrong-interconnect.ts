/** Messages between hosts over Ethernet. */
import { bytes } from '../model/measures/index.ts';
import { MIB } from '../model/units.ts';
import { hostsOf, jobRule } from './job-rule.ts';

const SOME = {
  value: 1e7,
  unit: 'B/s',
  means:
    'or more over eth0 or eth1 of a host: notice; problem if the job has a faster network and hardly uses it',
  source: 'tacc_stats 2.3, exam GigEBW',
};

/** Bytes a second over the faster network. */
const fabric = (job: Parameters<typeof hostsOf>[0]): number | null => {
  const found = job.metric('summary', 'avg_fabricbw');
  return found?.value == null ? null : found.value * MIB;
};

export const WRONG_INTERCONNECT = jobRule({
  name: 'wrong-interconnect',
  title: 'traffic over Ethernet instead of the fast network',
  looks:
    'Compares the bytes per second over eth0 (else eth1, metric GigEBW) with those over the fabric.',
  set: 'exam',
  metric: 'GigEBW',
  thresholds: { SOME },
  knob: 'Make MPI use the fabric: check which transport it chooses (Open MPI: --mca pml ucx; Intel MPI: I_MPI_FABRICS).',
  severity: (value, job) => {
    if (value <= SOME.value) return null;
    const fast = fabric(job);
    return fast !== null && fast < value ? 'problem' : 'notice';
  },
  says: (value, job) => {
    const fast = fabric(job);
    const beside = fast === null ? '' : `, ${bytes(fast)}/s over the fabric`;
    return `${bytes(value)}/s of each host went over Ethernet${beside}, on ${hostsOf(job)}`;
  },
});
