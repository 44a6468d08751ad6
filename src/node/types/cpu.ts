/** `cpu`: what each CPU did, as the scheduler accounts for it. Keys and order as in tacc_stats. */
import { procStat } from './proc-stat.ts';
import { counter, type NodeType } from './type.ts';

const METRICS = [
  counter('user', 'in user mode', 'cs'),
  counter('nice', 'in user mode, of processes with low priority', 'cs'),
  counter('system', 'in the kernel', 'cs'),
  counter('idle', 'idle', 'cs'),
  counter('iowait', 'idle while a process waited for input or output', 'cs'),
  counter('irq', 'serving interrupts', 'cs'),
  counter('softirq', 'serving what interrupts left to do', 'cs'),
];

export const CPU: NodeType = {
  name: 'cpu',
  help: 'scheduler accounting: time in each state',
  device: 'CPU',
  source: '/proc/stat, cpuN',
  metrics: METRICS,
  open: (tree) => procStat(tree, 'cpu', 0, METRICS.length),
};
