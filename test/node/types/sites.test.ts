/** Types of what sites have today, each with a small tree in the format that the kernel's documents give. */
import { type CollectionOptions, NODE_TYPES } from 'triscope/node';
import { describe, expect, it } from 'vitest';
import { collect, open, put, schema, tree } from './support.ts';

interface Case {
  readonly type: string;
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  readonly schema: string;
  readonly lines: readonly string[];
}

const SLICE = 'sys/fs/cgroup/system.slice';
const JOB = `${SLICE}/slurmstepd.scope/job_7`;
const HWMON = 'sys/class/hwmon';
const AMD = 'sys/class/drm/card1/device';
const REASONS = ['pl1', 'pl2', 'pl4', 'thermal', 'prochot', 'ratl', 'vr_thermalert', 'vr_tdc'];
const reasons = (at: string, set: readonly string[]) =>
  Object.fromEntries(
    REASONS.map((name) => [`sys/class/drm/${at}reason_${name}`, `${Number(set.includes(name))}\n`]),
  );
/** A table of AMD's driver: of a layout, with values (8 bytes, or 4) from a place on, and else as where nothing is told. */
function gpuMetrics(
  layout: readonly [number, number],
  size: number,
  at: number,
  values: readonly (number | bigint)[],
): Buffer {
  const table = Buffer.alloc(size, 0xff);
  table.writeUInt16LE(size, 0);
  table.set(layout, 2);
  for (const [k, value] of values.entries()) {
    if (typeof value === 'bigint') table.writeBigUInt64LE(value, at + 8 * k);
    else table.writeUInt32LE(value, at + 4 * k);
  }
  return table;
}
const total = (us: string | number) => `avg10=1.23 avg60=0.99 avg300=0.10 total=${us}\n`;
const pressure = (some: string | number, full: string | number) =>
  `some ${total(some)}full ${total(full)}`;
const CPU_STAT =
  'usage_usec 9007199254740993\nuser_usec 6\nsystem_usec 3\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n';

const CASES: readonly Case[] = [
  {
    // A kernel from 6.1 on.
    type: 'psi',
    files: {
      'proc/pressure/cpu': pressure('18446744073709551615', 0),
      'proc/pressure/io': pressure(20, 10),
      'proc/pressure/irq': `full ${total(5)}`,
      'proc/pressure/memory': pressure(4, 3),
    },
    schema:
      '!psi cpu_some,E,U=us cpu_full,E,U=us io_some,E,U=us io_full,E,U=us irq_full,E,U=us memory_some,E,U=us memory_full,E,U=us',
    lines: ['psi - 18446744073709551615 0 20 10 5 4 3'],
  },
  {
    // One before 5.13.
    type: 'psi',
    files: { 'proc/pressure/cpu': `some ${total(9)}`, 'proc/pressure/memory': pressure(4, 3) },
    schema: '!psi cpu_some,E,U=us memory_some,E,U=us memory_full,E,U=us',
    lines: ['psi - 9 4 3'],
  },
  {
    type: 'cgroup_cpu',
    files: {
      [`${SLICE}/sshd.service/cpu.stat`]: CPU_STAT,
      [`${JOB}/cpu.stat`]: CPU_STAT,
      [`${JOB}/step_0/cpu.stat`]: CPU_STAT,
      [`${SLICE}/n2_slurmstepd.scope/job_8/cpu.stat`]: CPU_STAT.replace(/\d+/, '9'),
    },
    schema:
      '!cgroup_cpu usage_usec,E,U=us user_usec,E,U=us system_usec,E,U=us nr_periods,E nr_throttled,E throttled_usec,E,U=us',
    lines: ['cgroup_cpu 7 9007199254740993 6 3 0 0 0', 'cgroup_cpu n2/8 9 6 3 0 0 0'],
  },
  {
    // Without memory.peak (Linux 5.19), memory.swap.current and `kernel`.
    type: 'cgroup_memory',
    files: {
      [`${JOB}/memory.current`]: '73728\n',
      [`${JOB}/memory.stat`]:
        'anon 4096\nfile 65536\nshmem 1\nfile_mapped 2\nfile_dirty 3\nfile_writeback 4\nanon_thp 9\nslab 5\npgfault 60\npgmajfault 7\n',
      [`${JOB}/memory.events`]: 'low 0\nhigh 0\nmax 8\noom 2\noom_kill 1\noom_group_kill 0\n',
    },
    schema:
      '!cgroup_memory current,U=B anon,U=B file,U=B shmem,U=B file_mapped,U=B file_dirty,U=B file_writeback,U=B slab,U=B pgfault,E pgmajfault,E events_max,E oom,E oom_kill,E',
    lines: ['cgroup_memory 7 73728 4096 65536 1 2 3 4 5 60 7 8 2 1'],
  },
  {
    type: 'cgroup_psi',
    files: {
      [`${JOB}/cpu.pressure`]: pressure(2, 1),
      [`${JOB}/io.pressure`]: pressure(4, 3),
      [`${JOB}/memory.pressure`]: pressure(6, 5),
    },
    schema:
      '!cgroup_psi cpu_some,E,U=us cpu_full,E,U=us io_some,E,U=us io_full,E,U=us memory_some,E,U=us memory_full,E,U=us',
    lines: ['cgroup_psi 7 2 1 4 3 6 5'],
  },
  {
    // Job 7 read through LVM, which counts what the disk below it counts; job 8 has done nothing.
    type: 'cgroup_io',
    files: {
      [`${SLICE}/io.stat`]: '',
      'sys/dev/block/253:0/slaves/sda': '',
      [`${JOB}/io.stat`]:
        '253:0 rbytes=100 wbytes=7 rios=1 wios=1 dbytes=0 dios=0\n8:0 rbytes=100 wbytes=7 rios=1 wios=1 dbytes=0 dios=0\n8:16 rbytes=9007199254740993 wbytes=0 rios=2 wios=0 dbytes=5 dios=6 cost.usage=3\n259:0 \n',
      [`${SLICE}/slurmstepd.scope/job_8/io.stat`]: '',
    },
    schema: '!cgroup_io rbytes,E,U=B wbytes,E,U=B rios,E wios,E dbytes,E,U=B dios,E',
    lines: ['cgroup_io 7 9007199254741093 7 3 1 5 6', 'cgroup_io 8 0 0 0 0 0 0'],
  },
  {
    type: 'hwmon_temp',
    files: {
      [`${HWMON}/hwmon2/name`]: 'coretemp\n',
      [`${HWMON}/hwmon2/temp1_input`]: '51000\n',
      [`${HWMON}/hwmon2/temp1_label`]: 'Package id 0\n',
      [`${HWMON}/hwmon2/temp2_input`]: '50000\n',
      [`${HWMON}/hwmon2/temp2_label`]: 'Core 0\n',
      [`${HWMON}/hwmon3/name`]: 'nvme\n',
      [`${HWMON}/hwmon3/temp1_input`]: '38850\n',
      [`${HWMON}/hwmon3/temp2_input`]: '-5000\n',
      [`${HWMON}/hwmon3/in0_input`]: '1200\n',
    },
    schema: '!hwmon_temp temp,U=mCel',
    lines: ['hwmon_temp coretemp.2/temp1/Package_id_0 51000', 'hwmon_temp nvme.3/temp1 38850'],
  },
  {
    type: 'hwmon_power',
    files: {
      [`${HWMON}/hwmon0/name`]: 'power_meter\n',
      [`${HWMON}/hwmon0/power1_average`]: '344000000\n',
      [`${HWMON}/hwmon1/name`]: 'amdgpu\n',
      [`${HWMON}/hwmon1/power1_average`]: '41000000\n',
      [`${HWMON}/hwmon1/power1_input`]: '42000000\n',
      [`${HWMON}/hwmon1/power1_label`]: 'PPT\n',
    },
    schema: '!hwmon_power power,U=uW',
    lines: [
      'hwmon_power power_meter.0/power1 344000000',
      'hwmon_power amdgpu.1/power1/PPT 42000000',
    ],
  },
  {
    type: 'hwmon_energy',
    files: {
      [`${HWMON}/hwmon5/name`]: 'xe\n',
      [`${HWMON}/hwmon5/energy1_input`]: '650000000123\n',
    },
    schema: '!hwmon_energy energy,E,U=uJ',
    lines: ['hwmon_energy xe.5/energy1 650000000123'],
  },
  {
    type: 'amd_gpu',
    files: {
      [`${AMD}/gpu_busy_percent`]: '97\n',
      [`${AMD}/mem_info_vram_total`]: '68702699520\n',
      [`${AMD}/mem_info_vram_used`]: '11005952\n',
      [`${AMD}/hwmon/hwmon4/power1_average`]: '91000000\n',
      // A board's own graphics.
      'sys/class/drm/card0/device/vendor': '0x1a03\n',
      'sys/class/drm/card1-DP-1/status': 'disconnected\n',
    },
    schema: '!amd_gpu utilization,U=% memtotal,U=B memused,U=B power,U=uW',
    lines: ['amd_gpu 1 97 68702699520 11005952 91000000'],
  },
  {
    type: 'intel_gpu',
    files: {
      'sys/class/drm/card0/gt/gt0/rc6_residency_ms': '4000\n',
      'sys/class/drm/card0/gt/gt0/rps_act_freq_mhz': '0\n',
      'sys/class/drm/card1/device/tile1/gt1/gtidle/idle_residency_ms': '123456789012\n',
      'sys/class/drm/card1/device/tile1/gt1/freq0/act_freq': '1550\n',
    },
    schema: '!intel_gpu idle,E,U=ms clock,U=MHz',
    lines: ['intel_gpu 0/gt0 4000 0', 'intel_gpu 1/tile1/gt1 123456789012 1550'],
  },
  {
    // Older and newer drivers; a card without ECC has no record.
    type: 'amd_gpu_ecc',
    files: {
      [`${AMD}/ras/umc_err_count`]: 'ue: 2\nce: 7\n',
      'sys/class/drm/card2/device/ras/aca_umc': 'ue: 0\nce: 9007199254740993\nde: 4\n',
      'sys/class/drm/card3/device/mem_info_vram_total': '68702699520\n',
    },
    schema: '!amd_gpu_ecc corrected,E uncorrected,E',
    lines: ['amd_gpu_ecc 1 7 2', 'amd_gpu_ecc 2 9007199254740993 0'],
  },
  {
    // Power (PPT0) and heat of memory (bit 34); a limit of current (TDC, bit 17) of an APU. No records: a driver that
    // does not tell, an MI300, a layout that nobody knows, a table cut short.
    type: 'amd_gpu_state',
    files: {
      [`${AMD}/gpu_metrics`]: gpuMetrics([1, 3], 120, 112, [(1n << 34n) | 1n]),
      'sys/class/drm/card2/device/gpu_metrics': gpuMetrics([2, 3], 152, 120, [1n << 17n]),
      'sys/class/drm/card3/device/gpu_metrics': gpuMetrics([1, 3], 120, 112, []),
      'sys/class/drm/card4/device/gpu_metrics': gpuMetrics([1, 7], 2208, 40, [9, 0, 0, 0, 0, 0]),
      'sys/class/drm/card5/device/gpu_metrics': gpuMetrics([1, 9], 120, 112, [1n]),
      'sys/class/drm/card6/device/gpu_metrics': gpuMetrics([1, 3], 120, 112, [1n]).subarray(0, 119),
    },
    schema: '!amd_gpu_state held_by_power held_by_heat held_by_hardware',
    lines: ['amd_gpu_state 1 1 1 0', 'amd_gpu_state 2 0 0 1'],
  },
  {
    // The counters stand elsewhere from 1.7 on.
    type: 'amd_gpu_throttle',
    files: {
      [`${AMD}/gpu_metrics`]: gpuMetrics([1, 6], 1664, 32, [4294967290, 1, 2, 3, 4, 5]),
      'sys/class/drm/card2/device/gpu_metrics': gpuMetrics([1, 8], 3360, 40, [60, 6, 7, 8, 9, 10]),
      'sys/class/drm/card3/device/gpu_metrics': gpuMetrics([1, 3], 120, 112, [1n]),
    },
    schema:
      '!amd_gpu_throttle ticks,E,W=32 by_signal,E,W=32 by_power,E,W=32 by_socket_heat,E,W=32 by_regulator_heat,E,W=32 by_memory_heat,E,W=32',
    lines: ['amd_gpu_throttle 1 4294967290 1 2 3 4 5', 'amd_gpu_throttle 2 60 6 7 8 9 10'],
  },
  {
    // Of xe and i915. A part whose driver gives no reasons has no record.
    type: 'intel_gpu_state',
    files: {
      ...reasons('card0/gt/gt0/throttle_', ['pl1', 'vr_tdc']),
      ...reasons('card1/device/tile0/gt0/freq0/throttle/', ['prochot']),
      'sys/class/drm/card1/device/tile0/gt1/freq0/act_freq': '0\n',
    },
    schema: '!intel_gpu_state held_by_power held_by_heat held_by_hardware',
    lines: ['intel_gpu_state 0/gt0 1 0 1', 'intel_gpu_state 1/tile0/gt0 0 1 0'],
  },
  {
    // The second has no ECC; nothing stands for it.
    type: 'nvidia_gpu_ecc',
    files: { 'nvml/0': 'corrected 12\nuncorrected 1\nreplays 3\n', 'nvml/1': 'replays 4\n' },
    schema: '!nvidia_gpu_ecc corrected,E uncorrected,E replays,E,W=32',
    lines: ['nvidia_gpu_ecc 0 12 1 3'],
  },
  {
    // Held down by its power limit (4) and by heat (20h).
    type: 'nvidia_gpu_state',
    files: {
      'nvml/0': 'energy 98765432100\ntemperature 61\nclock 1755\nlimit 700000\nthrottle 36\n',
    },
    schema:
      '!nvidia_gpu_state energy,E,U=mJ temperature,U=Cel sm_clock,U=MHz power_limit,U=mW held_by_power held_by_heat held_by_hardware',
    lines: ['nvidia_gpu_state 0 98765432100 61 1755 700000 1 1 0'],
  },
];

it.each(CASES)('$type: $schema', ({ type, files, schema: expected, lines }) => {
  const root = tree(files);
  expect(schema(root, type)).toBe(expected);
  expect(collect(root, type)).toEqual({ lines, failed: [], absent: [] });
});

it('machines without any of it: absent, with no record', () => {
  const types = [...new Set(CASES.map(({ type }) => type)), 'powercap', 'powercap_limit'];
  expect(collect(tree({}), ...types)).toEqual({
    lines: [],
    failed: [],
    absent: NODE_TYPES.map(({ name }) => name).filter((name) => types.includes(name)),
  });
});

describe('control groups of jobs', () => {
  it('come and go; before the first, the group above tells the keys', () => {
    const root = tree({ [`${SLICE}/cpu.stat`]: 'usage_usec 5\nuser_usec 3\nsystem_usec 2\n' });
    expect(schema(root, 'cgroup_cpu')).toBe(
      '!cgroup_cpu usage_usec,E,U=us user_usec,E,U=us system_usec,E,U=us',
    );
    const collection = open(root, ['cgroup_cpu']);
    expect(collection.collect()).toEqual({ lines: [], failed: [], absent: [] });
    put(root, { [`${JOB}/cpu.stat`]: CPU_STAT });
    expect(collection.collect().lines).toEqual(['cgroup_cpu 7 9007199254740993 6 3']);
    collection.close();
  });

  it('a key that is not there any more is a reason, never 0', () => {
    const root = tree({ [`${JOB}/memory.current`]: '5\n', [`${JOB}/memory.peak`]: '6\n' });
    const collection = open(root, ['cgroup_memory']);
    put(root, { [`${JOB}/memory.peak`]: 'max\n' });
    expect(collection.collect()).toMatchObject({
      lines: [],
      failed: [`cgroup_memory: ${root}/${JOB}/memory.peak has no peak`],
    });
    collection.close();
  });
});

describe('powercap', () => {
  const zone = (name: string, at: string, energy: number) => ({
    [`sys/class/powercap/${at}/name`]: `${name}\n`,
    [`sys/class/powercap/${at}/energy_uj`]: `${energy}\n`,
    [`sys/class/powercap/${at}/max_energy_range_uj`]: '262143328850\n',
  });
  const wide: CollectionOptions = { wide: true };

  it('totals go on where the counter begins again; the second way to a package is left out', () => {
    const root = tree({
      ...zone('package-0', 'intel-rapl:0', 262143328000),
      ...zone('dram', 'intel-rapl:0:0', 70),
      ...zone('psys', 'intel-rapl:1', 0),
      ...zone('package-0', 'intel-rapl-mmio:0', 9),
    });
    const collection = open(root, ['powercap'], wide);
    const first = ['powercap package-0 0', 'powercap package-0/dram 0', 'powercap psys 0'];
    expect(collection.collect()).toEqual({ lines: first, failed: [], absent: [] });
    put(root, zone('package-0', 'intel-rapl:0', 150));
    put(root, zone('dram', 'intel-rapl:0:0', 90));
    expect(collection.collect().lines).toEqual([
      'powercap package-0 1000',
      'powercap package-0/dram 20',
      'powercap psys 0',
    ]);
    collection.close();
    // Single samples could not know how often it began again.
    expect(collect(root, 'powercap')).toMatchObject({ lines: [], absent: ['powercap'] });
  });

  it('limits stand beside the energy of zones that have one; while one is switched off there is no record', () => {
    const limit = (at: string, enabled: number, watts: number, name = 'long_term') => ({
      [`sys/class/powercap/${at}/enabled`]: `${enabled}\n`,
      [`sys/class/powercap/${at}/constraint_0_name`]: `${name}\n`,
      [`sys/class/powercap/${at}/constraint_0_power_limit_uw`]: `${watts * 1e6}\n`,
      [`sys/class/powercap/${at}/constraint_0_max_power_uw`]: '205000000\n',
    });
    const root = tree({
      ...{ ...zone('package-0', 'intel-rapl:0', 5), ...limit('intel-rapl:0', 1, 150) },
      ...{ ...zone('package-1', 'intel-rapl:1', 5), ...limit('intel-rapl:1', 0, 205) },
      ...{ ...zone('psys', 'intel-rapl:2', 5), ...limit('intel-rapl:2', 1, 205, 'peak_power') },
      ...zone('dram', 'intel-rapl:0:0', 70),
    });
    const collection = open(root, ['powercap_limit'], wide);
    const lines = ['powercap_limit package-0 0 150000000 205000000'];
    expect(collection.collect()).toEqual({ lines, failed: [], absent: [] });
    put(root, {
      ...zone('package-0', 'intel-rapl:0', 1005),
      ...zone('package-1', 'intel-rapl:1', 25),
      ...limit('intel-rapl:0', 0, 150),
      ...limit('intel-rapl:1', 1, 180),
    });
    expect(collection.collect().lines).toEqual(['powercap_limit package-1 20 180000000 205000000']);
    collection.close();
    expect(collect(root, 'powercap_limit')).toMatchObject({ absent: ['powercap_limit'] });
  });
});

it('nfs4: mounts of NFS 4 alone, operations by their names', () => {
  const numbers = (count: number, from = 1) =>
    Array.from({ length: count }, (_, k) => k + from).join(' ');
  const mounts = `device proc mounted on /proc with fstype proc
device server:/old mounted on /old with fstype nfs statvers=1.1
	events:	${numbers(27, 900)}
device server:/proj mounted on /proj with fstype nfs4 statvers=1.1
	opts:	rw,vers=4.2
	events:	${numbers(27)}
	bytes:	${numbers(8, 100)}
	xprt:	tcp 832 0 1 0 11 ${numbers(5, 200)} 9 9 9
	per-op statistics
	        NULL: 1 1 0 44 24 0 0 0 0
	        READ: ${numbers(9, 300)}
	OPEN_NOATTR: ${numbers(9, 400)}
`;
  const root = tree({ 'proc/self/mountstats': mounts, 'proc/mounts': '' });
  const { lines, failed } = collect(root, 'nfs4');
  expect([lines.length, failed]).toEqual([1, []]);
  const [type, mount, ...values] = lines[0].split(' ');
  expect([type, mount]).toEqual(['nfs4', '/proj']);
  const keys = NODE_TYPES.find(({ name }) => name === 'nfs4')?.metrics.map(({ key }) => key) ?? [];
  const told = Object.fromEntries(keys.map((key, k) => [key, Number(values[k])]));
  expect(told).toMatchObject({
    inode_revalidate: 1,
    delay: 25,
    normal_read: 100,
    xprt_sends: 200,
    READ_ops: 300,
    READ_execute: 307,
    OPEN_NOATTR_bytes_sent: 403,
    WRITE_ops: 0,
  });
  expect(values).toHaveLength(keys.length);
});
