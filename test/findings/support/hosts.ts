/** Raw stats of a host for rules about hosts: just beyond each threshold, and just short of it. */
import { jobAt } from './machine.ts';

/** A minute of a type on host a. */
const minute = (schema: string, ...lines: readonly string[]) =>
  jobAt([`!${schema}`], { a: lines.map((line) => [`${schema.split(' ')[0]} ${line}`]) });

const PSI = 'psi memory_full,E,U=us io_full,E,U=us';
const CPU = 'cgroup_cpu nr_periods,E nr_throttled,E';
const MEMORY = 'cgroup_memory oom_kill,E';
const STATE = 'nvidia_gpu_state held_by_heat held_by_hardware';
const ECC = 'nvidia_gpu_ecc corrected,E uncorrected,E';
const INTEL = 'intel_gpu_state held_by_power held_by_heat held_by_hardware';
const MI300 =
  'amd_gpu_throttle ticks,E,W=32 by_signal,E,W=32 by_power,E,W=32 by_socket_heat,E,W=32 by_regulator_heat,E,W=32 by_memory_heat,E,W=32';
const AMD_ECC = 'amd_gpu_ecc corrected,E uncorrected,E';
const LIMIT = 'powercap_limit energy,E,U=uJ limit,U=uW nominal,U=uW';
/** A minute at so many W, of a package made for 200. */
const power = (watts: number, limit: number) =>
  minute(
    LIMIT,
    ...[0, 60, 120].map((s) => `package-0 ${s * watts * 1e6} ${limit * 1e6} 200000000`),
  );
const IDLE = 'intel_gpu idle,E,U=ms clock,U=MHz';
/** A GPU whose part for computing slept so many ms of a minute; that for video did all the time. */
const sleeps = (ms: number) =>
  jobAt([`!${IDLE}`], {
    a: [0, 1].map((k) => [`intel_gpu 0/gt0 ${5 + k * ms} 900`, `intel_gpu 0/gt1 ${k * 60_000} 0`]),
  });
const TEMP = 'hwmon_temp temp,U=mCel';
const NFS = `nfs4 ${['READ', 'WRITE', 'COMMIT', 'OPEN', 'LOOKUP', 'GETATTR'].map((name) => `${name}_ops,E ${name}_rtt,E,U=ms`).join(' ')}`;
/** 99 reads and one GETATTR, which took so many ms in all. */
const nfs = (ops: number, ms: number) =>
  minute(
    NFS,
    '/home 5 900 0 0 0 0 0 0 0 0 0 0',
    `/home ${5 + ops - 1} ${900 + ms} 0 0 0 0 0 0 0 0 1 0`,
  );
const SENSOR = 'coretemp.0/temp1/Package_id_0';

export const HOST_CASES = [
  {
    rule: 'host-memory-pressure',
    fires: () => minute(PSI, '- 0 0', '- 6060000 0'),
    silent: () => minute(PSI, '- 0 0', '- 5940000 60000000'),
    says: 'notice: Nothing ran on a for 10 % of the time: all waited for memory.',
  },
  {
    rule: 'host-io-pressure',
    fires: () => minute(PSI, '- 0 0', '- 0 18060000'),
    silent: () => minute(PSI, '- 0 0', '- 60000000 5940000'),
    says: 'problem: Nothing ran on a for 30 % of the time: all waited for I/O.',
  },
  {
    rule: 'job-quota',
    fires: () => minute(CPU, '7 100 10', '7 700 40'),
    silent: () => minute(CPU, '7 100 10', '7 700 39'),
    says: 'notice: Job 7 had used up its CPU quota on a in 5 % of its periods.',
  },
  {
    rule: 'out-of-memory',
    fires: () => minute(MEMORY, '7 0', '7 1'),
    silent: () => minute(MEMORY, '7 3', '7 3'),
    says: 'problem: The kernel killed 1 process of job 7 on a because memory was short.',
  },
  {
    rule: 'slow-nfs',
    fires: () => nfs(100, 5000),
    silent: () => nfs(100, 4999),
    says: 'notice: The server of /home answered a after 50 ms on average.',
  },
  {
    rule: 'gpu-throttled',
    fires: () =>
      minute(STATE, ...Array.from({ length: 10 }, (_, k) => (k === 4 ? '0 0 1' : '0 0 0'))),
    silent: () =>
      minute(STATE, ...Array.from({ length: 11 }, (_, k) => (k === 4 ? '0 1 0' : '0 0 0'))),
    says: 'notice: Heat or hardware held the clock of GPU 0 of a down in 10 % of the samples.',
  },
  {
    // A power limit alone is no throttling.
    rule: 'gpu-throttled',
    fires: () =>
      minute(
        INTEL,
        ...Array.from({ length: 10 }, (_, k) => (k < 5 ? '0/gt0 1 1 0' : '0/gt0 1 0 0')),
      ),
    silent: () => minute(INTEL, ...Array.from({ length: 10 }, () => '0/gt0 1 0 0')),
    says: 'problem: Heat or hardware held the clock of GPU 0/gt0 of a down in 50 % of the samples.',
  },
  {
    // Of MI300, turns of the firmware: the power limit does not count.
    rule: 'gpu-throttled',
    fires: () => minute(MI300, '0 4294967000 0 0 7 0 0', '0 59704 500 9000 6007 0 10'),
    silent: () => minute(MI300, '0 4294967000 0 0 7 0 0', '0 59704 500 9000 6006 0 10'),
    says: 'notice: Heat held the clock of GPU 0 of a down for 10 % of the time, at least.',
  },
  {
    rule: 'gpu-errors',
    fires: () => minute(AMD_ECC, '1 5 7', '1 900 9'),
    silent: () => minute(AMD_ECC, '1 5 7', '1 900 7'),
    says: 'problem: GPU 1 of a had 2 memory errors that could not be corrected.',
  },
  {
    rule: 'power-limit',
    fires: () => power(135, 150),
    silent: () => power(134.9, 150),
    says: 'notice: Package package-0 of a drew 90 % of a power limit below what it is made for.',
  },
  {
    // A limit that nobody has lowered is what a busy processor runs into.
    rule: 'power-limit',
    fires: () => power(196, 196),
    silent: () => power(200, 200),
    says: 'problem: Package package-0 of a drew 100 % of a power limit below what it is made for.',
  },
  {
    rule: 'idle-gpu',
    fires: () => minute('amd_gpu utilization,U=%', '1 9', '1 10', '1 11'),
    silent: () => minute('amd_gpu utilization,U=%', '1 11', '1 11', '1 11'),
    says: 'notice: GPU 1 of a of 1 worked for 10 % of the time.',
  },
  {
    // Its part for video sleeps in both.
    rule: 'idle-gpu',
    fires: () => sleeps(54_000),
    silent: () => sleeps(53_900),
    says: 'notice: GPU 0 of a of 1 worked for 10 % of the time.',
  },
  {
    rule: 'gpu-errors',
    fires: () => minute(ECC, '0 5 7', '0 900 8'),
    silent: () => minute(ECC, '0 5 7', '0 900 7'),
    says: 'problem: GPU 0 of a had 1 memory error that could not be corrected.',
  },
  {
    rule: 'temperature',
    fires: () => minute(TEMP, `${SENSOR} 60000`, `${SENSOR} 95000`),
    silent: () => minute(TEMP, `${SENSOR} 60000`, `${SENSOR} 94900`),
    says: `notice: Sensor ${SENSOR} of a reached 95 °C.`,
  },
];
