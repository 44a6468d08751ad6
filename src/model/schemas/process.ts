/** What the kernel says of the processes of a recorded command, and of their threads. Source: proc(5). */
import type { Schema } from '../metric.ts';
import { column, counter, REAL, SCHEDSTAT } from './column.ts';

const constant = { behaviour: 'constant' } as const;
const HOST = column('host', 'label', '', 'same', 'host', { behaviour: 'label' });
const PROCESS_ID = column('process_id', 'u32', '', 'same', 'process', constant);
const THREAD_ID = column('thread_id', 'u32', '', 'same', 'thread', constant);
/** Of something that comes and goes: not what a row is about. */
const passing = { behaviour: 'label' } as const;

/** A row when a process is first seen, and one when it has become another program or was bound to other CPUs: the last is true. */
export const PROCESS = {
  name: 'process_info',
  domain: 'process',
  help: 'processes of the command, as they are first seen and each time that they become another program or are bound to other CPUs',
  metrics: [
    REAL,
    HOST,
    PROCESS_ID,
    column('parent_id', 'u32', '', 'last', 'process that started it'),
    column(
      'rank',
      'f32',
      '',
      'last',
      'MPI rank, as its launcher’s variable says; missing outside of MPI',
    ),
    column('name', 'label', '', 'last', 'its name', passing),
    column('command', 'label', '', 'last', 'its words', passing),
    column('cpus', 'label', '', 'last', 'CPUs that it may run on, as 0-3,8', passing),
  ],
} as const satisfies Schema;

/** Ten times a second. */
export const PROCESS_THREAD = {
  name: 'process_thread',
  domain: 'process',
  help: 'threads of the command’s processes: their time on a CPU, waiting for one, and where',
  metrics: [
    REAL,
    HOST,
    PROCESS_ID,
    THREAD_ID,
    column('name', 'label', '', 'last', 'the thread’s name', passing),
    column(
      'state',
      'label',
      '',
      'last',
      'R runs or wants to, S sleeps, D waits for a device, T is stopped, Z has ended',
      passing,
    ),
    column('cpu', 'u32', '', 'last', 'CPU that it ran on last'),
    ...SCHEDSTAT,
    counter('user_time', 'ns', 'time in the program’s own code, in ticks of 10 ms'),
    counter('system_time', 'ns', 'time in the kernel, in ticks of 10 ms'),
    counter('minor_faults', '{fault}', 'page faults without I/O'),
    counter('major_faults', '{fault}', 'page faults that read a device'),
    column(
      'blocked',
      'u32',
      '',
      'mean',
      '1 where it stood still: a device blocked it (D), or it was stopped (T)',
    ),
  ],
} as const satisfies Schema;

const FINE: readonly string[] = ['run_queue_wait', 'timeslices'];

/** Where the kernel keeps no statistics of its scheduler: `cpu_time` is then user and system time, in ticks. */
export const PROCESS_THREAD_TICKS: Schema = {
  ...PROCESS_THREAD,
  metrics: PROCESS_THREAD.metrics.filter(({ key }) => !FINE.includes(key)),
};

/** Once a second. */
export const PROCESS_SWITCH = {
  name: 'process_switch',
  domain: 'process',
  help: 'context switches of the threads of the command’s processes',
  metrics: [
    REAL,
    HOST,
    PROCESS_ID,
    THREAD_ID,
    counter('voluntary', '{switch}', 'context switches because it waited for something'),
    counter('involuntary', '{switch}', 'context switches because its CPU was taken from it'),
  ],
} as const satisfies Schema;

/** Once a second. */
export const PROCESS_MEMORY = {
  name: 'process_memory',
  domain: 'process',
  help: 'memory of the command’s processes',
  metrics: [
    REAL,
    HOST,
    PROCESS_ID,
    column('resident', 'u64', 'B', 'sum', 'memory that it has in RAM'),
    column('swapped', 'u64', 'B', 'sum', 'memory of it that is swapped out'),
    column('threads', 'u32', '{thread}', 'sum', 'threads'),
  ],
} as const satisfies Schema;

/** Once a second, of processes whose files may be read. */
export const PROCESS_IO = {
  name: 'process_io',
  domain: 'process',
  help: 'input and output of the command’s processes',
  metrics: [
    REAL,
    HOST,
    PROCESS_ID,
    counter('read', 'B', 'bytes that read calls returned, of memory and pipes too'),
    counter('written', 'B', 'bytes given to write calls'),
    counter('device_read', 'B', 'bytes that came from a device'),
    counter('device_written', 'B', 'bytes that go to a device'),
  ],
} as const satisfies Schema;

/** Once a second, of each control group of the command’s that has a quota of CPU time. */
export const PROCESS_QUOTA = {
  name: 'process_quota',
  domain: 'host',
  help: 'CPU quotas of the control groups that the command’s processes are in',
  metrics: [
    REAL,
    HOST,
    column('cgroup', 'label', '', 'same', 'control group', { behaviour: 'label' }),
    column('quota', 'f64', '', 'last', 'CPUs that it may use'),
    counter('periods', '{period}', 'periods in which it ran'),
    counter('throttled_periods', '{period}', 'periods in which its quota was used up'),
    counter(
      'throttled_time',
      'ns',
      'time that its runnable threads were kept from running, summed over CPUs',
    ),
  ],
} as const satisfies Schema;

/** As often, of each of these control groups whose weight is not the usual one. */
export const PROCESS_WEIGHT = {
  name: 'process_weight',
  domain: 'host',
  help: 'control groups of the command’s processes that get another part of the CPUs than is usual',
  metrics: [
    REAL,
    HOST,
    column('cgroup', 'label', '', 'same', 'control group', { behaviour: 'label' }),
    column('weight', 'f64', '', 'last', 'its part of CPUs that others want too; usual is 100'),
  ],
} as const satisfies Schema;

/** As often, of the whole machine. */
export const PROCESS_PRESSURE = {
  name: 'process_pressure',
  domain: 'host',
  help: 'how long threads of the machine stood still because a resource was short (/proc/pressure)',
  metrics: [
    REAL,
    HOST,
    column('resource', 'label', '', 'same', 'cpu, memory or io', { behaviour: 'label' }),
    counter('some', 'us', 'time in which some threads stood still'),
    counter('full', 'us', 'time in which all threads that had something to do stood still'),
  ],
} as const satisfies Schema;

/** As often, of each of these control groups that has a limit of memory. */
export const PROCESS_LIMIT = {
  name: 'process_limit',
  domain: 'host',
  help: 'memory limits of the control groups that the command’s processes are in',
  metrics: [
    REAL,
    HOST,
    column('cgroup', 'label', '', 'same', 'control group', { behaviour: 'label' }),
    column('limit', 'u64', 'B', 'last', 'memory that it may have'),
    column('used', 'u64', 'B', 'last', 'memory that it has, without the page cache'),
    counter('killed', '{process}', 'processes that the kernel killed because it had too much'),
    column('charged', 'u64', 'B', 'last', 'memory that it has, with the page cache'),
  ],
} as const satisfies Schema;

/** As often, of each of these control groups, if the kernel counts them (Linux 5.9). */
export const PROCESS_REFAULT = {
  name: 'process_refault',
  domain: 'host',
  help: 'pages that control groups with a memory limit dropped to make room, and needed again',
  metrics: [
    REAL,
    HOST,
    column('cgroup', 'label', '', 'same', 'control group', { behaviour: 'label' }),
    counter('refaulted', '{page}', 'pages read again after they had been dropped'),
  ],
} as const satisfies Schema;

/** As often, of each network link whose speed its driver tells. */
export const PROCESS_LINK = {
  name: 'process_link',
  domain: 'host',
  help: 'network links of the machine, all programs’ traffic',
  metrics: [
    REAL,
    HOST,
    column('link', 'label', '', 'same', 'network interface, or port of an adapter', {
      behaviour: 'label',
    }),
    column('speed', 'f64', 'B/s', 'last', 'what it can carry in each direction'),
    counter('received', 'B', 'bytes received'),
    counter('sent', 'B', 'bytes sent'),
  ],
} as const satisfies Schema;

/** As often, of each processor package that counts it. */
export const PROCESS_HEAT = {
  name: 'process_heat',
  domain: 'host',
  help: 'processor packages that slowed down because they were too hot',
  metrics: [
    REAL,
    HOST,
    column('package', 'u32', '', 'same', 'processor package', constant),
    counter('throttles', '{throttle}', 'times that the package slowed down'),
    counter('throttled_time', 'ms', 'time for which it did'),
  ],
} as const satisfies Schema;
