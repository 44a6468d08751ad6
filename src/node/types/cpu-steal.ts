/**
 * `cpu_steal`: CPU time that virtual machines take. A type of its own, so that `cpu` keeps the seven keys that
 * tacc_stats gives it.
 */
import { procStat } from './proc-stat.ts';
import { counter, type NodeType } from './type.ts';

const METRICS = [
  counter('steal', 'ready to run while the hypervisor ran something else', 'cs'),
  counter('guest', 'running guests; also counted in user', 'cs'),
  counter('guest_nice', 'running guests with low priority; also counted in nice', 'cs'),
];
/** Number of fields of `cpuN` before these. */
const BEFORE = 7;

export const CPU_STEAL: NodeType = {
  name: 'cpu_steal',
  help: 'time taken by a hypervisor, or given to guests',
  device: 'CPU',
  source: '/proc/stat, cpuN',
  metrics: METRICS,
  open: (tree) => procStat(tree, 'cpu_steal', BEFORE, METRICS.length),
};
