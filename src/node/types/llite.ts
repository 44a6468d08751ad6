/**
 * `llite`: what processes request of each Lustre file system. Keys as in tacc_stats 2.3. In read_bytes Lustre counts what
 * was requested, not what was read: see osc_read, and `osc`.
 */
import { hasClients, lustreStats } from './lustre.ts';
import { counter, type NodeType } from './type.ts';

const METRICS = [
  counter('read_bytes', 'asked for by read(): more than was read', 'B'),
  counter('write_bytes', 'written by write()', 'B'),
  counter('direct_read', 'read with O_DIRECT', 'B'),
  counter('direct_write', 'written with O_DIRECT', 'B'),
  counter('osc_read', 'read from servers', 'B'),
  counter('osc_write', 'written to servers', 'B'),
  counter('dirty_pages_hits', 'pages written to that were dirty'),
  counter('dirty_pages_misses', 'pages written to that were clean'),
  counter('ioctl', 'ioctl calls'),
  counter('open', 'opens'),
  counter('close', 'closes'),
  counter('mmap', 'mmap calls'),
  counter('seek', 'seeks'),
  counter('fsync', 'fsync calls'),
  counter('setattr', 'changes of attributes'),
  counter('truncate', 'truncations'),
  counter('flock', 'flock calls'),
  counter('getattr', 'stat calls'),
  counter('statfs', 'statfs calls'),
  counter('alloc_inode', 'inodes made'),
  counter('setxattr', 'extended attributes set'),
  counter('getxattr', 'extended attributes read'),
  counter('listxattr', 'extended attributes listed'),
  counter('removexattr', 'extended attributes removed'),
  counter('inode_permission', 'access checks'),
  counter('readdir', 'reads of directories'),
  counter('create', 'files made'),
  counter('lookup', 'lookups'),
  counter('link', 'links made'),
  counter('unlink', 'files removed'),
  counter('symlink', 'symbolic links made'),
  counter('mkdir', 'directories made'),
  counter('rmdir', 'directories removed'),
  counter('mknod', 'special files made'),
  counter('rename', 'renames'),
];

export const LLITE: NodeType = {
  name: 'llite',
  help: 'what processes ask of Lustre file systems',
  device: 'Lustre file system',
  source: '/proc/fs/lustre or /sys/kernel/debug/lustre, llite/*/stats',
  metrics: METRICS,
  open: (tree) => lustreStats(tree, LLITE),
  mayBlock: (tree) => hasClients(tree, 'llite'),
};
