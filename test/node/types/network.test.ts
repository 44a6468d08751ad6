/** `nfs`, and the types of Lustre in the places where its versions keep their files. */
import { NODE_TYPES } from 'triscope/node';
import { describe, expect, it } from 'vitest';
import { collect, records, tree } from './support.ts';

const zeros = (count: number) => ' 0'.repeat(count);
const keysOf = (type: string) =>
  NODE_TYPES.find(({ name }) => name === type)?.metrics.map(({ key }) => key) ?? [];

/** Key and value of what is not 0 in a record. */
function valuesOf(line: string): Record<string, string> {
  const [type, , ...values] = line.split(' ');
  const keys = keysOf(type);
  expect(values).toHaveLength(keys.length);
  return Object.fromEntries(
    keys.map((key, k) => [key, values[k]]).filter(([, value]) => value !== '0'),
  );
}

describe('nfs', () => {
  const MOUNTSTATS = `device rootfs mounted on / with fstype rootfs
device server:/export mounted on /home\\040dir with fstype nfs statvers=1.1
	opts:	rw,vers=3,READ:1
	events:	1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27
	bytes:	4096 8192 0 0 18446744073709551615 0 0 0
	RPC iostats version: 1.1  p/v: 100003/3 (nfs)
	xprt:	tcp 766 1 1 0 0 100 90 2 3 4 5 6 7
	xprt:	tcp 767 1 1 0 0 11 12 0 1 1 0 0 0
	per-op statistics
	        NULL: 1 1 1 1 1 1 1 1 1
	     GETATTR: 86102054 86103087 0 13515430340 9643670764 8980 77 99 3
	        READ: 20 20 0 300 400 50 60 70

device tmpfs mounted on /dev/shm with fstype tmpfs
device server:/old mounted on /old with fstype nfs statvers=1.0
	events:	7
	xprt:	udp 700 1 30 29 1 2 3
device nfs4:/proj mounted on /proj with fstype nfs4 statvers=1.1
	events:	9 9 9
`;

  it('has a record per mount of NFS 2 or 3, and sums its connections', () => {
    const lines = records(tree({ 'proc/self/mountstats': MOUNTSTATS }), 'nfs');
    expect(lines.map((line) => line.split(' ')[1])).toEqual(['/home\\040dir', '/old']);
    const home = valuesOf(lines[0]);
    expect(home).toMatchObject({
      inode_revalidate: '1',
      delay: '25',
      normal_read: '4096',
      server_read: '18446744073709551615',
      xprt_sends: '111',
      xprt_recvs: '102',
      xprt_bad_xids: '2',
      xprt_req_u: '4',
      xprt_bklog_u: '5',
      GETATTR_ops: '86102054',
      GETATTR_execute: '99',
      READ_bytes_recv: '400',
      READ_rtt: '60',
    });
    // 25 events, 3 of bytes, 5 of connections, 7 of GETATTR and 7 of READ.
    expect(Object.keys(home)).toHaveLength(47);
    expect(valuesOf(lines[1])).toEqual({
      inode_revalidate: '7',
      xprt_sends: '30',
      xprt_recvs: '29',
      xprt_bad_xids: '1',
      xprt_req_u: '2',
      xprt_bklog_u: '3',
    });
    expect(keysOf('nfs')).toHaveLength(206);
  });

  it('has no record where nothing is mounted', () => {
    const root = tree({
      'proc/self/mountstats': 'device rootfs mounted on / with fstype rootfs\n',
    });
    expect(collect(root, 'nfs')).toEqual({ lines: [], failed: [], absent: [] });
  });
});

const [SCRATCH, WORK] = ['ffff8102658ec800', 'ffff8104435c8c00'];
const LLITE = `snapshot_time             1301585789.189183 secs.usecs
read_bytes                449131 samples [bytes] 1 23553884 101262334767
write_bytes               201770 samples [bytes] 1 20971520 236938468092 77
osc_read                  5 samples [bytes] 4096 1048576 4096
dirty_pages_hits          276 samples [regs]
open                      1000 samples [usec] 1 5 4000 16000
`;

describe.each([
  ['/proc, as up to 2.11', 'proc/fs/lustre', 'proc/sys/lnet/stats'],
  ['debugfs, as since 2.12', 'sys/kernel/debug/lustre', 'sys/kernel/debug/lnet/stats'],
  ['sysfs', 'sys/fs/lustre', 'proc/sys/lnet/stats'],
])('Lustre in %s', (_, place, lnet) => {
  const files = {
    [`${place}/devices`]: `  0 UP mgc MGC10.0.0.1@o2ib 5d3c 5
  1 UP lov scratch-clilov-${SCRATCH} 5b 4
  3 UP lov work-clilov-${WORK} 77 4
`,
    [`${place}/llite/scratch-${SCRATCH}/stats`]: LLITE,
    [`${place}/llite/work-${WORK}/stats`]: 'getattr 50 samples [regs]\n',
    [`${place}/mdc/scratch-MDT0000-mdc-${SCRATCH}/stats`]:
      'req_waittime 10 samples [usec] 32 4826358 908745020 670751020176306\nmds_close 3 samples [usec] 1 2 3 4\n',
    [`${place}/mdc/scratch-MDT0001-mdc-${SCRATCH}/stats`]:
      'req_waittime 1 samples [usec] 1 1 5 1\n',
    [`${place}/osc/scratch-OST0000-osc-${SCRATCH}/stats`]:
      'read_bytes 2 samples [bytes] 1 2 18446744073709551615\nost_read 4 samples [usec] 5 6 7 8\n',
    [`${place}/osc/scratch-OST0001-osc-${SCRATCH}/stats`]:
      'read_bytes 2 samples [bytes] 1 2 9007199254740994\nost_read 5 samples [usec] 5 6 7 8\n',
    // A server's, not a client's.
    [`${place}/osc/scratch-OST0001-osc-MDT0000/stats`]: 'ost_read 100 samples [usec] 5 6 7 8\n',
    [lnet]: '0 1172 0 195805494 204125982 0 16957 216828482753 708781379083 0 3268048\n',
  };

  it('gives a record per file system: sums of bytes and times, counts of the rest', () => {
    const lines = records(tree(files), 'llite', 'lnet', 'mdc', 'osc');
    expect(lines).toEqual([
      `llite scratch-clilov 101262334767 236938468092 0 0 4096 0 276 0 0 1000${zeros(25)}`,
      `llite work-clilov${zeros(17)} 50${zeros(17)}`,
      'lnet - 195805494 204125982 16957 216828482753 708781379083 3268048',
      'mdc scratch-clilov 0 3 0 0 0 0 0 0 11 908745025',
      // Modulo 2^64: 2^64 - 1 + 9007199254740994.
      'osc scratch-clilov 9007199254740993 0 0 0 9 0 0 0 0 0',
    ]);
  });
});

it('a file system of Lustre whose name is not told is called by its name before the first server', () => {
  const root = tree({
    [`proc/fs/lustre/llite/big-data-${SCRATCH}/stats`]: 'open 1 samples [regs]\n',
    [`proc/fs/lustre/osc/big-data-OST0000-osc-${SCRATCH}/stats`]:
      'ost_read 1 samples [usec] 1 1 1\n',
  });
  expect(records(root, 'llite', 'osc').map((line) => line.split(' ')[1])).toEqual([
    'big-data',
    'big-data',
  ]);
});
