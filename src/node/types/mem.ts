/** `mem`: memory of each NUMA node. Keys as in tacc_stats 2.3.5, which added AnonHugePages. */
import { nodeFolders } from './node-folders.ts';
import { gauge, type NodeType } from './type.ts';

const METRICS = [
  gauge('MemTotal', 'memory of the node', 'KB'),
  gauge('MemFree', 'not used', 'KB'),
  gauge('MemUsed', 'used, for whatever', 'KB'),
  gauge('Active', 'used lately', 'KB'),
  gauge('Inactive', 'not used lately', 'KB'),
  gauge('Dirty', 'file pages to be written', 'KB'),
  gauge('Writeback', 'file pages that are being written', 'KB'),
  gauge('FilePages', 'page cache', 'KB'),
  gauge('Mapped', 'file pages that processes have mapped', 'KB'),
  gauge('AnonPages', 'pages of processes that belong to no file', 'KB'),
  gauge('PageTables', 'page tables', 'KB'),
  gauge('NFS_Unstable', 'sent to an NFS server, not yet on its disks; 0 since Linux 5.8', 'KB'),
  gauge('Bounce', 'bounce buffers', 'KB'),
  gauge('Slab', 'data of the kernel', 'KB'),
  gauge('AnonHugePages', 'transparent huge pages that belong to no file', 'KB'),
  gauge('HugePages_Total', 'huge pages set aside'),
  gauge('HugePages_Free', 'of those, not used'),
];

export const MEM: NodeType = {
  name: 'mem',
  help: 'memory usage',
  device: 'NUMA node',
  source: '/sys/devices/system/node/nodeN/meminfo',
  metrics: METRICS,
  open: (tree) => nodeFolders(tree, MEM, 'meminfo', 2),
};
