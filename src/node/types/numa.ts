/** `numa`: where pages were allocated. Keys as in tacc_stats. They dip now and then: the kernel reads them without a lock. */
import { nodeFolders } from './node-folders.ts';
import { counter, type NodeType } from './type.ts';

const METRICS = [
  counter('numa_hit', 'pages allocated on this node as wanted'),
  counter('numa_miss', 'pages allocated here, wanted on another node'),
  counter('numa_foreign', 'pages wanted here, allocated on another node'),
  counter('interleave_hit', 'interleaved pages allocated here as wanted'),
  counter('local_node', 'pages allocated here by processes on this node'),
  counter('other_node', 'pages allocated here by processes on another node'),
];

export const NUMA: NodeType = {
  name: 'numa',
  help: 'allocation of pages on NUMA nodes',
  device: 'NUMA node',
  source: '/sys/devices/system/node/nodeN/numastat',
  metrics: METRICS,
  open: (tree) => nodeFolders(tree, NUMA, 'numastat', 0),
};
