/** `osc`: traffic with the object servers of each Lustre file system. Keys as in tacc_stats 2.3. */
import { hasClients, lustreStats } from './lustre.ts';
import { counter, type NodeType } from './type.ts';

const METRICS = [
  counter('read_bytes', 'read from servers', 'B'),
  counter('write_bytes', 'written to servers', 'B'),
  counter('ost_destroy', 'objects removed'),
  counter('ost_punch', 'truncations'),
  counter('ost_read', 'reads'),
  counter('ost_setattr', 'changes of attributes'),
  counter('ost_statfs', 'statfs requests'),
  counter('ost_write', 'writes'),
  counter('reqs', 'requests'),
  counter('wait', 'time that requests took', 'us'),
];

export const OSC: NodeType = {
  name: 'osc',
  help: 'traffic with the object servers of Lustre',
  device: 'Lustre file system (sum over its object servers)',
  source: '/proc/fs/lustre or /sys/kernel/debug/lustre, osc/*/stats',
  metrics: METRICS,
  open: (tree) => lustreStats(tree, OSC),
  mayBlock: (tree) => hasClients(tree, 'osc'),
};
