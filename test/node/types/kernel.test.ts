/** Types of the kernel's own counters, each with a small tree and the line that it must give. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODE_TYPES } from 'triscope/node';
import { describe, expect, it } from 'vitest';
import { collect, open, put, records, schema, tree } from './support.ts';

/** Whether a file system can be mounted, where only the test sees it. */
function mayMount(): boolean {
  const script = 'mount -t tmpfs none /mnt';
  return spawnSync('unshare', ['-m', 'sh', '-c', script], { stdio: 'ignore' }).status === 0;
}

const zeros = (count: number) => ' 0'.repeat(count);
const keyCount = (type: string) =>
  NODE_TYPES.find(({ name }) => name === type)?.metrics.length ?? Number.NaN;

describe('block', () => {
  it('copies eleven numbers of each device, but of ram and loop devices', () => {
    const root = tree({
      'sys/block/sda/stat':
        '     1000  5   8000  4294967290  500 2 4000 70 0 900 1000 1 2 3 4 5 6\n',
      'sys/block/dm-0/stat': '1 2 3 4 5 6 7 8 9 10 18446744073709551615\n',
      'sys/block/ram0/stat': '1 1 1 1 1 1 1 1 1 1 1\n',
      'sys/block/loop7/stat': '1 1 1 1 1 1 1 1 1 1 1\n',
    });
    expect(records(root, 'block')).toEqual([
      'block dm-0 1 2 3 4 5 6 7 8 9 10 18446744073709551615',
      'block sda 1000 5 8000 4294967290 500 2 4000 70 0 900 1000',
    ]);
  });

  it('notices devices that come and go', () => {
    const line = (k: number) => `${k} 2 3 4 5 6 7 8 9 10 11`;
    const root = tree({ 'sys/block/sda/stat': line(1) });
    const collection = open(root, ['block']);
    expect(collection.collect().lines).toEqual([`block sda ${line(1)}`]);
    put(root, { 'sys/block/sda/stat': line(2), 'sys/block/sdb/stat': line(3) });
    expect(collection.collect().lines).toEqual([`block sda ${line(2)}`, `block sdb ${line(3)}`]);
    rmSync(join(root, 'sys/block/sda'), { recursive: true });
    expect(collection.collect()).toMatchObject({ lines: [`block sdb ${line(3)}`], failed: [] });
    // Another device of the same name.
    mkdirSync(join(root, 'sys/block/sda'));
    expect(collection.collect().lines).toEqual([`block sdb ${line(3)}`]);
    put(root, { 'sys/block/sda/stat': line(4) });
    expect(collection.collect().lines).toEqual([`block sda ${line(4)}`, `block sdb ${line(3)}`]);
    collection.close();
  });
});

describe('mem', () => {
  const LINES = [
    'MemTotal: 8220940 kB',
    'MemFree:  4559756 kB',
    'MemUsed:  3661184 kB',
    'SwapCached: 77 kB',
    'Active: 2220752 kB',
    'Active(anon): 78 kB',
    'Inactive: 859880 kB',
    'Dirty: 4 kB',
    'FilePages: 5 kB',
    'AnonHugePages: 2048 kB',
    'HugePages_Total: 16',
    'HugePages_Free: 3',
    'HugePages_Surp: 9',
  ];
  const file = (node: number, lines: readonly string[]) =>
    lines.map((line) => `Node ${node} ${line}\n`).join('');

  it('copies what the kernel says of each NUMA node; what it does not say is 0', () => {
    const root = tree({
      'sys/devices/system/node/node0/meminfo': file(0, LINES),
      'sys/devices/system/node/node12/meminfo': file(12, LINES.slice(0, 1)),
      'sys/devices/system/node/online': '0,12',
    });
    expect(records(root, 'mem')).toEqual([
      // MemTotal, MemFree, MemUsed, Active, Inactive, Dirty, Writeback, FilePages, Mapped, AnonPages, PageTables,
      // NFS_Unstable, Bounce, Slab, AnonHugePages, HugePages_Total, HugePages_Free
      'mem 0 8220940 4559756 3661184 2220752 859880 4 0 5 0 0 0 0 0 0 2048 16 3',
      `mem 12 8220940${zeros(16)}`,
    ]);
  });

  it('finds keys again where lines have moved', () => {
    const path = 'sys/devices/system/node/node0/meminfo';
    const root = tree({ [path]: file(0, LINES) });
    const collection = open(root, ['mem']);
    const [first] = collection.collect().lines;
    expect(collection.collect().lines).toEqual([first]);
    // The same keys in another order, and with other widths.
    put(root, { [path]: file(0, [...LINES].reverse()) });
    expect(collection.collect().lines).toEqual([first]);
    put(root, { [path]: file(0, ['MemTotal: 8220940 kB', 'MemFree: 9999999999 kB']) });
    expect(collection.collect().lines).toEqual([`mem 0 8220940 9999999999${zeros(15)}`]);
    put(root, { [path]: file(0, LINES) });
    expect(collection.collect().lines).toEqual([first]);
    collection.close();
  });
});

it('numa: six counters of each node', () => {
  const root = tree({
    'sys/devices/system/node/node0/numastat':
      'numa_hit 24972369\nnuma_miss 41182663\nnuma_foreign 12112910\ninterleave_hit 49948\nlocal_node 24910136\nother_node 41244896\n',
  });
  expect(records(root, 'numa')).toEqual([
    'numa 0 24972369 41182663 12112910 49948 24910136 41244896',
  ]);
});

describe('net', () => {
  const numbers = (name: string, values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => [
        `sys/class/net/${name}/statistics/${key}`,
        `${value}\n`,
      ]),
    );

  it('copies the statistics of interfaces that are up', () => {
    const root = tree({
      'sys/class/net/eth0/flags': '0x1003\n',
      ...numbers('eth0', { rx_bytes: '18446744073709551615', tx_bytes: '12', rx_nohandler: '9' }),
      'sys/class/net/eth1/flags': '0x1002\n',
      ...numbers('eth1', { rx_bytes: '1' }),
      'sys/class/net/bonding_masters': '',
    });
    const collection = open(root, ['net']);
    const line = `net eth0 0 0 18446744073709551615${zeros(11)} 12${zeros(8)}`;
    expect(collection.collect()).toMatchObject({ lines: [line], failed: [] });
    put(root, { 'sys/class/net/eth1/flags': '0x1003\n' });
    expect(collection.collect().lines).toEqual([line, `net eth1 0 0 1${zeros(20)}`]);
    collection.close();
  });
});

describe('ib', () => {
  it('copies the counters of ports that are active', () => {
    const port = (name: string, state: string, data: string) => ({
      [`sys/class/infiniband/${name}/state`]: `${state}\n`,
      [`sys/class/infiniband/${name}/counters/port_rcv_data`]: `${data}\n`,
      [`sys/class/infiniband/${name}/counters/VL15_dropped`]: 'N/A (no PMA)\n',
    });
    const root = tree({
      ...port('mlx4_0/ports/1', '4: ACTIVE', '4294967000'),
      ...port('mlx4_0/ports/2', '1: DOWN', '5'),
      ...port('mlx5_0/ports/1', '4: ACTIVE', '26509113295'),
    });
    // What no port has a number for is not in the schema: it is not 0.
    expect(schema(root, 'ib')).toBe('!ib port_rcv_data,E,U=4B,W=32');
    expect(records(root, 'ib')).toEqual(['ib mlx4_0.1 4294967000', 'ib mlx5_0.1 26509113295']);
  });
});

describe('ps', () => {
  const STAT = 'cpu0 1\nintr 9 8 7\nctxt 123456\nbtime 1\nprocesses 5000\nprocs_running 2\n';

  it('has context switches, processes, and loads in hundredths', () => {
    const root = tree({ 'proc/stat': STAT, 'proc/loadavg': '1.05 0.70 10.08 3/211 4242\n' });
    expect(records(root, 'ps')).toEqual(['ps - 123456 5000 105 70 1008 3 211']);
  });

  it('says what is wrong with a file', () => {
    const root = tree({ 'proc/stat': STAT, 'proc/loadavg': '1.05 0.70\n' });
    const { lines, failed } = collect(root, 'ps');
    expect(lines).toEqual([]);
    expect(failed).toEqual([`ps: ${root}/proc/loadavg has no three loads`]);
  });
});

it('sysv_shm: sums segments, beyond 2^53 exactly', () => {
  const head = '       key      shmid perms       size  cpid  lpid nattch\n';
  const root = tree({
    'proc/sysvipc/shm': `${head}         0     131072   666    1048576  2720  2720      1\n         5          1  1600 9007199254740993 1 1 1\n`,
  });
  expect(records(root, 'sysv_shm')).toEqual(['sysv_shm - 9007199255789569 2']);
  expect(records(tree({ 'proc/sysvipc/shm': head }), 'sysv_shm')).toEqual(['sysv_shm - 0 0']);
});

it('vfs: what is in use of what is there', () => {
  const root = tree({
    'proc/sys/fs/dentry-state': '850986\t838906\t45\t0\t0\t0\n',
    'proc/sys/fs/file-nr': '6080\t0\t1174404\n',
    'proc/sys/fs/inode-state': '168192\t59759\t0\t0\t0\t0\t0\n',
  });
  expect(records(root, 'vfs')).toEqual(['vfs - 12080 6080 108433']);
});

describe('vm', () => {
  it('copies the keys that the kernel has', () => {
    const root = tree({
      'proc/vmstat':
        'nr_free_pages 5\nnr_anon_transparent_hugepages 18\npgpgin 100\npgpgout 200\npgalloc_dma 7\npgfault 9000\npgrotated 4\nthp_split 3\n',
    });
    expect(schema(root, 'vm')).toBe(
      '!vm nr_anon_transparent_hugepages pgpgin,E,U=KB pgpgout,E,U=KB pgfault,E pgrotated,E thp_split,E',
    );
    expect(records(root, 'vm')).toEqual(['vm - 18 100 200 9000 4 3']);
    expect(keyCount('vm')).toBe(27);
  });

  it('sums what kernels of today split, and has what they renamed', () => {
    const root = tree({
      'proc/vmstat': [
        'pgrefill 5',
        'pgsteal_kswapd 100\npgsteal_direct 20\npgsteal_khugepaged 3\npgsteal_anon 70\npgsteal_file 53',
        'pgscan_kswapd 200\npgscan_direct 40\npgscan_direct_throttle 9\npgscan_anon 1',
        'allocstall_dma 0\nallocstall_dma32 1\nallocstall_normal 2\nallocstall_movable 4',
        'thp_split_page 6\nthp_split_page_failed 8\nthp_split_pmd 7\n',
      ].join('\n'),
    });
    expect(schema(root, 'vm')).toBe(
      '!vm pgrefill_normal,E pgsteal_normal,E pgscan_kswapd_normal,E pgscan_direct_normal,E kswapd_steal,E allocstall,E thp_split,E',
    );
    expect(records(root, 'vm')).toEqual(['vm - 5 123 200 40 100 7 6']);
    const older = tree({
      'proc/vmstat': 'pgsteal_kswapd_dma 1\npgsteal_kswapd_normal 10\npgsteal_direct_normal 5\n',
    });
    expect(records(older, 'vm')).toEqual(['vm - 15 11']);
  });

  it('follows numbers that grow by a digit', () => {
    const root = tree({ 'proc/vmstat': 'pgpgin 9\npgpgout 9\nswap_ra 1\npgfree 9\n' });
    const collection = open(root, ['vm']);
    expect(collection.collect().lines).toEqual(['vm - 9 9 9']);
    put(root, { 'proc/vmstat': 'pgpgin 10\npgpgout 11\nswap_ra 1\npgfree 12\n' });
    expect(collection.collect().lines).toEqual(['vm - 10 11 12']);
    collection.close();
  });
});

describe('tmpfs', () => {
  it('leaves out what is not mounted in a recorded tree: its numbers would be those of this machine', () => {
    const root = tree({
      'proc/mounts': 'tmpfs /mnt/a tmpfs rw 0 0\ntmpfs /gone tmpfs rw 0 0\n',
      'mnt/a/file': 'x',
    });
    const { lines, failed, absent } = collect(root, 'tmpfs');
    // A folder of the tree is on a tmpfs itself where the tests' folder is.
    expect(lines.filter((line) => line.startsWith('tmpfs /gone'))).toEqual([]);
    expect(failed).toEqual([]);
    expect(absent).toEqual([]);
  });

  it.skipIf(!mayMount())('has the memory and the inodes that are in use', () => {
    const root = tree({ 'proc/mounts': 'tmpfs /mnt/with\\040blank tmpfs rw 0 0\n' });
    const place = join(root, 'mnt', 'with blank');
    mkdirSync(place, { recursive: true });
    const script = [
      'mount -t tmpfs -o size=8m none "$1"',
      'head -c 1000000 /dev/zero > "$1/file"',
      'exec "$2" "$3" node collect tmpfs --print --root "$4"',
    ].join(' && ');
    const triscope = fileURLToPath(new URL('../../../bin/triscope', import.meta.url));
    const words = ['-m', 'sh', '-c', script, 'sh', place, process.execPath, triscope, root];
    const out = execFileSync('unshare', words, { encoding: 'utf8' });
    // 1,000,000 bytes are 245 pages; the folder is an inode too.
    expect(out.trimEnd().split('\n').at(-1)).toBe('tmpfs /mnt/with\\040blank 1003520 2');
  });

  it.skipIf(process.platform !== 'linux')('asks each mount of this machine once', () => {
    const { lines } = collect(undefined, 'tmpfs');
    const places = lines.map((line) => line.split(' ')[1]);
    expect(new Set(places).size).toBe(places.length);
    for (const line of lines) expect(line).toMatch(/^tmpfs \/\S* \d+ \d+$/);
  });
});
