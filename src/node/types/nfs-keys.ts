/** Keys of the types `nfs`, in the order of /proc/self/mountstats as in tacc_stats 2.3.0, and `nfs4`. */
import { counter } from './type.ts';

export const EVENTS = [
  counter('inode_revalidate', 'times that cached attributes of an inode were checked'),
  counter('dentry_revalidate', 'times that a cached directory entry was checked'),
  counter('data_invalidate', 'times that cached data of an inode was thrown away'),
  counter('attr_invalidate', 'times that cached attributes of an inode were thrown away'),
  counter('vfs_open', 'opens'),
  counter('vfs_lookup', 'lookups'),
  counter('vfs_access', 'access checks'),
  counter('vfs_updatepage', 'pages written to in the cache'),
  counter('vfs_readpage', 'single pages read'),
  counter('vfs_readpages', 'reads of several pages'),
  counter('vfs_writepage', 'single pages written'),
  counter('vfs_writepages', 'writes of several pages'),
  counter('vfs_getdents', 'reads of directories'),
  counter('vfs_setattr', 'changes of attributes'),
  counter('vfs_flush', 'flushes when closing'),
  counter('vfs_fsync', 'fsync calls'),
  counter('vfs_lock', 'lock calls'),
  counter('vfs_release', 'closes'),
  counter('congestion_wait', 'waits for congestion to end'),
  counter('setattr_trunc', 'truncations'),
  counter('extend_write', 'writes beyond the end of a file'),
  counter('silly_rename', 'files removed while open'),
  counter('short_read', 'reads for which the server gave less'),
  counter('short_write', 'writes of which the server took less'),
  counter('delay', 'times that the server said: later'),
];

export const BYTES = [
  counter('normal_read', 'read by read()', 'B'),
  counter('normal_write', 'written by write()', 'B'),
  counter('direct_read', 'read with O_DIRECT', 'B'),
  counter('direct_write', 'written with O_DIRECT', 'B'),
  counter('server_read', 'read from the server', 'B'),
  counter('server_write', 'written to the server', 'B'),
  counter('read_page', 'pages read'),
  counter('write_page', 'pages written'),
];

export const TRANSPORT = [
  counter('xprt_sends', 'requests sent'),
  counter('xprt_recvs', 'answers received'),
  counter('xprt_bad_xids', 'answers to no request'),
  counter('xprt_req_u', 'requests under way, summed over sends'),
  counter('xprt_bklog_u', 'requests that waited for a slot, summed over sends'),
];

export const OPERATIONS = [
  'ACCESS',
  'COMMIT',
  'CREATE',
  'FSINFO',
  'FSSTAT',
  'GETATTR',
  'LINK',
  'LOOKUP',
  'MKDIR',
  'MKNOD',
  'PATHCONF',
  'READ',
  'READDIR',
  'READDIRPLUS',
  'READLINK',
  'REMOVE',
  'RENAME',
  'RMDIR',
  'SETATTR',
  'SYMLINK',
  'WRITE',
];

/** Operations of NFS 4.0 to 4.2 that programs cause, under the kernel's names. An operation that a mount's version lacks is 0. */
export const OPERATIONS_4 = [
  'ACCESS',
  'CLOSE',
  'COMMIT',
  'CREATE',
  'DELEGRETURN',
  'GETACL',
  'GETATTR',
  'LAYOUTCOMMIT',
  'LAYOUTGET',
  'LAYOUTRETURN',
  'LINK',
  'LOCK',
  'LOCKT',
  'LOCKU',
  'LOOKUP',
  'OPEN',
  'OPEN_DOWNGRADE',
  'OPEN_NOATTR',
  'READ',
  'READDIR',
  'READLINK',
  'REMOVE',
  'RENAME',
  'SEQUENCE',
  'SETACL',
  'SETATTR',
  'STATFS',
  'SYMLINK',
  'WRITE',
];

const operation = (name: string) => [
  counter(`${name}_ops`, `${name} requests`),
  counter(`${name}_ntrans`, `times that ${name} was sent`),
  counter(`${name}_timeouts`, `${name} requests that timed out`),
  counter(`${name}_bytes_sent`, `sent for ${name}`, 'B'),
  counter(`${name}_bytes_recv`, `received for ${name}`, 'B'),
  counter(`${name}_queue`, `time of ${name} before it was sent`, 'ms'),
  counter(`${name}_rtt`, `time of ${name} between request and answer`, 'ms'),
  counter(`${name}_execute`, `time of ${name} in all`, 'ms'),
];
export const PER_OPERATION = operation('').length;

/** All keys, with the keys of these operations last. */
export const nfsMetrics = (operations: readonly string[]) => [
  ...EVENTS,
  ...BYTES,
  ...TRANSPORT,
  ...operations.flatMap(operation),
];
