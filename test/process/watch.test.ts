/** Processes and threads of a command, read from a recorded /proc. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { Batch } from '../../src/model/metric.ts';
import { ProcessWatch } from '../../src/process/watch.ts';
import { temporaryFolder } from '../cli/support/run.ts';

/** `stat` of a process whose name is hard to read. */
const stat = (id: number, parent: number, name: string, cpu = 3) =>
  `${id} (${name}) R ${parent} ${'0 '.repeat(5)}11 0 2 0 150 50 ${'0 '.repeat(6)}777 ${'0 '.repeat(16)}${cpu} 0 0\n`;

function machine() {
  const folder = temporaryFolder();
  const put = (path: string, text: string) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const process = (id: number, parent: number, name: string, environ = '', threads = [id]) => {
    put(`proc/${id}/stat`, stat(id, parent, name));
    put(`proc/${id}/environ`, environ);
    put(`proc/${id}/cmdline`, `./${name}\0-x\0`);
    put(
      `proc/${id}/status`,
      `Name:\t${name}\nVmRSS:\t  2048 kB\nVmSwap:\t 4 kB\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t7\n`,
    );
    put(`proc/${id}/io`, 'rchar: 10\nwchar: 20\nread_bytes: 4096\nwrite_bytes: 8192\n');
    for (const one of threads) {
      put(`proc/${id}/task/${one}/stat`, stat(one, parent, one === id ? name : 'worker'));
      put(`proc/${id}/task/${one}/schedstat`, `${2n ** 63n} 18446744073709551615 9\n`);
      put(
        `proc/${id}/task/${one}/status`,
        'voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t7\n',
      );
    }
  };
  return {
    folder,
    put,
    process,
    remove: (path: string) => rmSync(join(folder, path), { recursive: true }),
  };
}

const watchOf = (folder: string, root: number) =>
  new ProcessWatch({ host: 'h', root, mark: '1-2', now: () => 1.5, machine: folder });

/** Rows of a schema as objects. */
function rows(batches: readonly Batch[], name: string): Record<string, unknown>[] {
  return batches
    .filter(({ schema }) => schema.name === name)
    .flatMap(({ schema, rows, columns }) =>
      Array.from({ length: rows }, (_, row) =>
        Object.fromEntries(schema.metrics.map(({ key }, k) => [key, columns[k][row]])),
      ),
    );
}

it('the command, its children and who carries its mark are watched, others not; counts of 64 bits are whole', () => {
  const { folder, process, put } = machine();
  process(90, 1, 'a) b (c', 'X=1\0OMPI_COMM_WORLD_RANK=3\0', [90, 91]);
  // A child with the smaller number, a daemon of the command, somebody else's.
  process(20, 90, 'child');
  process(95, 1, 'daemon', 'TRISCOPE_RECORDED=1-2\0');
  process(96, 1, 'other', 'TRISCOPE_RECORDED=1-3\0PMI_RANK=1\0');
  put('proc/self/stat', 'no process');
  const watch = watchOf(folder, 90);
  const batches = watch.sample(true);
  watch.close();
  const infos = rows(batches, 'process_info');
  expect(infos.map((one) => [one.process_id, one.name, one.rank])).toEqual([
    [90, 'a) b (c', 3],
    [95, 'daemon', Number.NaN],
    [20, 'child', Number.NaN],
  ]);
  expect(infos[0]).toMatchObject({ command: './a) b (c -x', cpus: '0-7', parent_id: 1, host: 'h' });
  const threads = rows(batches, 'process_thread');
  expect(threads.map((one) => [one.process_id, one.thread_id, one.name])).toContainEqual([
    90,
    91,
    'worker',
  ]);
  expect(threads[0]).toMatchObject({
    ...{ real_time: 1.5, state: 'R', cpu: 3, cpu_time: 2n ** 63n, timeslices: 9n },
    ...{ run_queue_wait: 2n ** 64n - 1n, user_time: 1_500_000_000n, system_time: 500_000_000n },
    ...{ minor_faults: 11n, major_faults: 2n },
  });
  expect(rows(batches, 'process_memory')[0]).toMatchObject({
    resident: 2097152n,
    swapped: 4096n,
    threads: 2,
  });
  expect(rows(batches, 'process_io')[0]).toMatchObject({
    read: 10n,
    written: 20n,
    device_read: 4096n,
    device_written: 8192n,
  });
  expect(rows(batches, 'process_switch')[0]).toMatchObject({ voluntary: 5n, involuntary: 7n });
  expect(rows(batches, 'process_quota')).toEqual([]);
});

it('what ends is let go, what becomes another program is told again, and what is missing is not made up', () => {
  const { folder, process, put, remove } = machine();
  process(50, 1, 'mpirun');
  process(51, 50, 'mpirun');
  // A kernel without statistics of its scheduler.
  remove('proc/50/task/50/schedstat');
  const watch = watchOf(folder, 50);
  watch.sample(true);
  process(51, 50, 'app', 'PMI_RANK=0\0');
  // A file that only its owner may read.
  remove('proc/51/io');
  const second = watch.sample(true);
  expect(rows(second, 'process_info').map((one) => [one.process_id, one.name, one.rank])).toEqual([
    [51, 'app', 0],
  ]);
  const coarse = rows(second, 'process_thread').find((one) => one.process_id === 50);
  expect(coarse).toMatchObject({ cpu_time: 2_000_000_000n });
  expect(coarse).not.toHaveProperty('run_queue_wait');
  expect(rows(second, 'process_io').map((one) => one.process_id)).toEqual([50]);
  // Bound once it runs.
  put('proc/51/status', 'Cpus_allowed_list:\t1\n');
  expect(
    rows(watch.sample(false), 'process_info').map((one) => [one.process_id, one.cpus]),
  ).toEqual([[51, '1']]);
  remove('proc/51');
  expect(rows(watch.sample(false), 'process_thread').map((one) => one.process_id)).toEqual([50]);
  // Its number, given to somebody else.
  put('proc/51/stat', stat(51, 1, 'other'));
  expect(rows(watch.sample(false), 'process_info')).toEqual([]);
  watch.close();
});

it('between two lists of all processes, only the numbers that were given since the last look are tried', () => {
  const { folder, process, put, remove } = machine();
  process(1000, 1, 'app');
  put('proc/loadavg', '0.1 0.1 0.1 1/99 1000\n');
  const watch = watchOf(folder, 1000);
  const seen = () => rows(watch.sample(false), 'process_info').map((one) => one.process_id);
  expect(seen()).toEqual([1000]);
  // A child, a thread of somebody's, which has a folder too, and a child whose number was not given since.
  process(1003, 1000, 'child');
  put('proc/1003/status', 'Tgid:\t1003\n');
  process(1004, 1000, 'thread');
  put('proc/1004/status', 'Tgid:\t1000\n');
  process(1006, 1000, 'later');
  put('proc/1006/status', 'Tgid:\t1006\n');
  expect(seen()).toEqual([]);
  put('proc/loadavg', '0.1 0.1 0.1 1/99 1005\n');
  expect(seen()).toEqual([1003]);
  put('proc/loadavg', '0.1 0.1 0.1 1/99 1006\n');
  expect(seen()).toEqual([1006]);
  // Many at once, numbers that begin again, and an end: all are listed.
  remove('proc/1004');
  process(2000, 1000, 'far');
  put('proc/loadavg', '0.1 0.1 0.1 1/99 2000\n');
  expect(seen()).toEqual([2000]);
  process(300, 1000, 'near');
  put('proc/loadavg', '0.1 0.1 0.1 1/99 300\n');
  expect(seen()).toEqual([300]);
  watch.close();
});

it('quotas of control groups of both versions are read, from the group and those above it', () => {
  const { folder, process, put } = machine();
  process(7, 1, 'app');
  put('proc/7/cgroup', '3:cpu,cpuacct:/job/step\n0::/user/one\n1:memory:/m\n');
  put(
    'sys/fs/cgroup/cpu/job/cpu.stat',
    'nr_periods 100\nnr_throttled 40\nthrottled_time 123456789\n',
  );
  put('sys/fs/cgroup/cpu/job/cpu.cfs_quota_us', '150000\n');
  put('sys/fs/cgroup/cpu/job/cpu.cfs_period_us', '100000\n');
  put('sys/fs/cgroup/cpu/job/step/cpu.stat', 'nr_periods 0\nnr_throttled 0\nthrottled_time 0\n');
  put('sys/fs/cgroup/cpu/job/step/cpu.cfs_quota_us', '-1\n');
  put('sys/fs/cgroup/user/one/cpu.max', '50000 100000\n');
  put(
    'sys/fs/cgroup/user/one/cpu.stat',
    'usage_usec 9\nnr_periods 10\nnr_throttled 4\nthrottled_usec 5\n',
  );
  const watch = watchOf(folder, 7);
  const found = rows(watch.sample(true), 'process_quota');
  watch.close();
  expect(found.map(({ cgroup, quota, throttled_time }) => [cgroup, quota, throttled_time])).toEqual(
    [
      ['/cpu/job', 1.5, 123456789n],
      ['/user/one', 0.5, 5000n],
    ],
  );
});
