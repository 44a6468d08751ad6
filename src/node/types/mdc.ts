/** `mdc`: requests to the metadata servers of each Lustre file system. Keys as in tacc_stats 2.3. */
import { hasClients, lustreStats } from './lustre.ts';
import { counter, type NodeType } from './type.ts';

const METRICS = [
  counter('ldlm_cancel', 'locks given back'),
  counter('mds_close', 'closes'),
  counter('mds_getattr', 'reads of attributes'),
  counter('mds_getattr_lock', 'reads of attributes with a lock'),
  counter('mds_getxattr', 'reads of extended attributes'),
  counter('mds_readpage', 'reads of directories'),
  counter('mds_statfs', 'statfs requests'),
  counter('mds_sync', 'sync requests'),
  counter('reqs', 'requests'),
  counter('wait', 'time that requests took', 'us'),
];

export const MDC: NodeType = {
  name: 'mdc',
  help: 'requests to the metadata servers of Lustre',
  device: 'Lustre file system (sum over its metadata servers)',
  source: '/proc/fs/lustre or /sys/kernel/debug/lustre, mdc/*/stats',
  metrics: METRICS,
  open: (tree) => lustreStats(tree, MDC),
  mayBlock: (tree) => hasClients(tree, 'mdc'),
};
