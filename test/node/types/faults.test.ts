/** Trees that no kernel made: junk, loops, and very many devices. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { parseSchema, RawParser } from 'triscope/formats/tacc';
import { Collection, NODE_TYPES } from 'triscope/node';
import { describe, expect, it } from 'vitest';
import { collect, folder, open, tree } from './support.ts';

const mkfifo = (path: string) => execFileSync('mkfifo', [path]);

const SB = 'ffff8102658ec800';
/** A file of each type that reads without a child process. */
const FILES = [
  'proc/stat',
  'proc/vmstat',
  'proc/loadavg',
  'proc/mounts',
  'proc/self/mountstats',
  'proc/sysvipc/shm',
  'proc/sys/fs/dentry-state',
  'proc/sys/fs/file-nr',
  'proc/sys/fs/inode-state',
  'proc/12/status',
  'etc/passwd',
  'sys/block/sda/stat',
  'sys/class/net/eth0/flags',
  'sys/class/net/eth0/statistics/rx_bytes',
  'sys/class/infiniband/mlx5_0/ports/1/state',
  'sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data',
  'sys/devices/system/node/node0/meminfo',
  'sys/devices/system/node/node0/numastat',
  'proc/pressure/cpu',
  'sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/cpu.stat',
  'sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/io.stat',
  'sys/fs/cgroup/system.slice/io.stat',
  'sys/class/hwmon/hwmon0/name',
  'sys/class/hwmon/hwmon0/temp1_input',
  'sys/class/drm/card0/device/mem_info_vram_total',
  'sys/class/drm/card1/gt/gt0/rc6_residency_ms',
];
/** Words that make files look right for a while. */
const WORDS =
  'cpu0 ctxt pgfault Node 0 MemTotal: numa_hit 4: ACTIVE 0x1 Name: Uid: 5 device mounted on /x with fstype nfs statvers=1.1 events: xprt: tcp READ: some total=7 usage_usec 8:0 rbytes=3 tmpfs / kB -1 99999999999999999999999 18446744073709551616 1.5 \n \t'.split(
    ' ',
  );

/** What a reader makes of a collection of this tree: schemas are as the tree has them. */
function problems(root: string): string[] {
  const found: string[] = [];
  const parser = new RawParser({ problem: ({ reason }) => found.push(reason) });
  const collection = new Collection((bytes) => parser.push(Buffer.from(bytes)), { root });
  collection.writer.header();
  collection.collect(['7']);
  collection.close();
  parser.end();
  return found;
}

describe('a tree of junk', () => {
  it('gives records that can be read, or a reason; never an exception', () => {
    const text = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .array(fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 5 })), { maxLength: 60 })
        .map((words) => Buffer.from(words.join(' '))),
    );
    const some = fc.array(fc.tuple(fc.constantFrom(...FILES), text), {
      minLength: 1,
      maxLength: 18,
    });
    fc.assert(
      fc.property(some, (files) => {
        expect(problems(tree(Object.fromEntries(files)))).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it('is reported by file', () => {
    const root = tree(Object.fromEntries(FILES.map((file) => [file, '\0\x01\xfe\n'])));
    const { lines, failed } = collect(root);
    expect(failed.map((reason) => reason.split(':')[0])).toEqual(
      'block cgroup_io cpu cpu_steal mem numa proc ps vfs vm'.split(' '),
    );
    // What has no number in it counts as a counter that the machine lacks.
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['sysv_shm']);
  });

  it('takes no number that 64 bits cannot hold', () => {
    const at = 'sys/class/net/eth0';
    const root = tree({
      [`${at}/flags`]: '1',
      [`${at}/statistics/collisions`]: '18446744073709551616',
      [`${at}/statistics/multicast`]: '-5',
      [`${at}/statistics/rx_bytes`]: '000000000000000000001',
      [`${at}/statistics/rx_dropped`]: '18446744073709551615',
    });
    expect(collect(root, 'net').lines).toEqual([
      `net eth0 0 0 0 0 0 18446744073709551615${' 0'.repeat(17)}`,
    ]);
  });
});

it('loops of symbolic links are followed to nowhere', () => {
  const root = tree({ 'proc/stat': 'cpu0 1 2 3 4 5 6 7\n' });
  for (const at of [
    'sys/block',
    'sys/class/net',
    'sys/class/infiniband/x',
    'proc/fs/lustre/llite',
  ]) {
    mkdirSync(join(root, at), { recursive: true });
    symlinkSync(`../${at.split('/').at(-1)}/eth0`, join(root, at, 'eth0'));
    symlinkSync('.', join(root, at, 'self'));
  }
  symlinkSync('ports', join(root, 'sys/class/infiniband/x/ports'));
  symlinkSync('vmstat', join(root, 'proc/vmstat'));
  symlinkSync('..', join(root, 'proc/12'));
  const { lines, failed } = collect(root);
  expect(lines).toEqual(['cpu 0 1 2 3 4 5 6 7', 'cpu_steal 0 0 0 0']);
  expect(failed).toEqual([]);
});

it('pipes and devices in the place of files give a reason, at once', () => {
  for (const path of [...FILES, 'proc/sys/kernel/hostname', 'proc/uptime']) {
    const root = tree({ 'proc/loadavg': '0 0 0 1/2 3\n' });
    rmSync(join(root, path), { force: true });
    mkdirSync(dirname(join(root, path)), { recursive: true });
    for (const make of [mkfifo, (at: string) => symlinkSync('/dev/zero', at)]) {
      make(join(root, path));
      expect([path, problems(root)]).toEqual([path, []]);
      rmSync(join(root, path));
    }
  }
});

it('names and texts add no lines, and nothing that a terminal obeys', () => {
  const names = [
    'a\nb',
    'a\n1795226194 7\ncpu 0 1',
    '\x1b[31m',
    '\x07',
    '\x85',
    'q"',
    '%m',
    '$p v',
    '!s',
  ];
  const files = names.flatMap((name, k) => [
    [`sys/block/${name}/stat`, '1 2 3 4 5 6 7 8 9 10 11\n'],
    [`sys/class/hwmon/hwmon${k}/name`, `${name}\n`],
    [`sys/class/hwmon/hwmon${k}/temp1_input`, '45000\n'],
    [`sys/class/hwmon/hwmon${k}/temp1_label`, name.repeat(1000)],
    [`sys/fs/cgroup/system.slice/${name}_slurmstepd.scope/job_7/cpu.stat`, 'usage_usec 1\n'],
  ]);
  const root = tree({
    ...Object.fromEntries(files),
    'proc/sys/kernel/hostname': 'h\n1795226194 7\ncpu 0 9\x1b[31m\n',
    'proc/sys/kernel/osrelease': '6\n!cpu user,E\n$x y\x1b]0;t\x07',
  });
  let text = '';
  const collection = new Collection((bytes) => (text += Buffer.from(bytes)), { root });
  collection.writer.header();
  collection.collect(['7']);
  collection.close();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
  expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  expect(
    text.split('\n').filter((line) => /^(cpu 0|\$x|1795226194|!cpu user,E$)/.test(line)),
  ).toEqual([]);
  const devices = text.split('\n').filter((line) => line.startsWith('block ')).length;
  expect([
    devices,
    problems(root).filter((what) => !what.includes('in this group before')),
  ]).toEqual([names.length, []]);
});

it('20,000 devices are collected, with a bounded number of descriptors', () => {
  // In memory: making so many files takes longest.
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : folder, 'triscope-many-'));
  mkdirSync(join(root, 'sys/block'), { recursive: true });
  writeFileSync(join(root, 'sys/stat'), '1 2 3 4 5 6 7 8 9 10 11\n');
  for (let k = 0; k < 20_000; k++) symlinkSync('..', join(root, 'sys/block', `sd${k}`));
  try {
    const collection = open(root, ['block']);
    const before = readdirSync('/proc/self/fd').length;
    const { lines, failed } = collection.collect();
    expect(lines).toHaveLength(20_000);
    expect(failed).toEqual([]);
    expect(readdirSync('/proc/self/fd').length - before).toBeLessThan(4200);
    expect(collection.collect().lines.join('\n') === lines.join('\n')).toBe(true);
    collection.close();
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before);
  } finally {
    rmSync(root, { recursive: true });
  }
});

it('the child process of Lustre gives reasons too', () => {
  const root = tree({ [`proc/fs/lustre/llite/x-${SB}/stats`]: 'open junk samples\n' });
  mkdirSync(join(root, `proc/fs/lustre/llite/y-${SB.replace('f', 'e')}/stats`), {
    recursive: true,
  });
  const { lines, failed } = collect(root, 'llite');
  expect(lines).toEqual([`llite x${' 0'.repeat(35)}`]);
  expect(failed.join()).toMatch(/^llite: EISDIR/);
});

it('every schema is one that readers take', () => {
  for (const { name, metrics } of NODE_TYPES) {
    const keys = metrics.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(parseSchema([name, ...keys].join(' '))).toMatchObject({ type: name });
  }
});
