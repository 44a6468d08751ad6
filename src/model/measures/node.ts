/** Measures of hosts. CPUs by the kernel's account in /proc/stat: hundredths of a second (USER_HZ), so that one per second is 1 %. */
import type { Measure } from './measure.ts';

/** Not in the schemas of all collectors, or not on all kernels. */
const OPTIONAL = ['nice', 'irq', 'softirq', 'iowait', 'steal'];

const share = (
  key: string,
  label: string,
  states: readonly string[],
  good: Measure['good'],
  help: string,
): Measure => ({
  key,
  label,
  unit: '%',
  good,
  of: Object.fromEntries(states.map((state) => [state, 1])),
  per: 'seconds',
  factor: 1,
  optional: OPTIONAL,
  help: `share of a CPU’s time ${help}`,
});

export const CPU_USER = share(
  'cpu_user',
  'user',
  ['user', 'nice'],
  null,
  'in programs, niced ones too',
);
export const CPU_SYSTEM = share(
  'cpu_system',
  'system',
  ['system', 'irq', 'softirq'],
  null,
  'in the kernel, interrupts too',
);
export const CPU_STOLEN = share(
  'cpu_stolen',
  'stolen',
  ['steal'],
  'less',
  'in which a hypervisor ran something else',
);
export const CPU_BUSY = share(
  'cpu_busy',
  'busy',
  ['user', 'nice', 'system', 'irq', 'softirq', 'steal'],
  null,
  'in which it was not idle, whatever ran on it',
);
export const MEMORY_IN_USE: Measure = {
  key: 'memory_in_use',
  label: 'memory in use',
  unit: '%',
  good: 'less',
  of: { MemUsed: 1, Slab: -1, FilePages: -1 },
  per: { MemTotal: 1 },
  factor: 100,
  help: 'share of a host’s memory that programs have, as mem_hwm of tacc_stats: pages of files and the kernel’s own objects left out',
};

export const CPU_IDLE = share(
  'cpu_idle',
  'idle',
  ['idle', 'iowait'],
  null,
  'without work, or waiting for a disk',
);

export const BYTES_RATE: Measure = {
  key: 'bytes_rate',
  label: 'bytes',
  unit: 'B/s',
  good: null,
  of: { bytes: 1 },
  per: 'seconds',
  factor: 1,
  help: 'bytes of a counter in a second: of a network, a disk, a file system, a memory',
};
