/**
 * Energy. Collectors archive different units: tacc_stats 2.x mJ; ours counts, beside the register with their
 * unit; hpcperfstats counts without it (on AMD always 2^-16 J). Memory of Intel servers from Haswell on counts 2^-16 J
 * whatever the register says (Intel SDM, vol. 3B, 15.10).
 */

import type { HostJob } from '../host-job.ts';
import type { TypeTable } from '../type-table.ts';
import { type JobView, MissingInput } from '../view.ts';
import type { JobMetric, MetricFamily } from './metric.ts';

const REGISTERS = ['MSR_RAPL_POWER_UNIT', 'RAPL_PWR_UNIT'];
const FIXED = 16;
const MILLI = 1000;
/** The share of the job's time for which energy has to be known. */
const ENOUGH = 0.99;

interface Part {
  readonly intel: string;
  readonly amd?: string;
}

const PACKAGE: Part = { intel: 'MSR_PKG_ENERGY_STATUS', amd: 'MSR_PKG_ENERGY_STAT' };
const CORES: Part = { intel: 'MSR_PP0_ENERGY_STATUS', amd: 'MSR_CORE_ENERGY_STAT' };
const MEMORY: Part = { intel: 'MSR_DRAM_ENERGY_STATUS' };

/** Whether its processors are older than Haswell, by the types that the host has. */
const isOld = ({ types }: HostJob) =>
  [...types.keys()].some((type) => /^intel_(snb|ivb)(_|$)/.test(type));

/** Counts per J of a device. @throws MissingInput */
function perJoule(host: HostJob, table: TypeTable, device: string, key: string): number {
  if (host.scaledEnergy) return MILLI;
  if (key === MEMORY.intel && !isOld(host)) return 2 ** FIXED;
  for (const register of REGISTERS) {
    const unit = table.keys.get(register)?.devices.get(device);
    if (unit !== undefined) return 2 ** ((unit.last >>> 8) & 0x1f);
  }
  if (table.type === 'amd64_rapl') return 2 ** FIXED;
  throw new MissingInput(
    'the unit of its energy counters: hpcperfstats archives counts without the unit',
  );
}

/** Seconds of the records with the type, over all hosts: a daemon reads energy, but single samples taken beside it do not. */
function secondsOf(view: JobView, part: Part): number {
  const type = view.type(['intel_rapl', 'amd64_rapl'], 'energy counters (intel_rapl, amd64_rapl)');
  const key = type === 'intel_rapl' ? part.intel : part.amd;
  let sum = 0;
  for (const { table } of view.having(type, key ?? '')) {
    sum += (table.times.at(-1) ?? Number.NaN) - table.times[0];
  }
  return sum;
}

const UNITS = 'counts in a unit that each device has for itself';
const HOSTS = 'divides only by the time of the records that have energy';

/** J of one host, and of all hosts together. */
export function joules(view: JobView, part: Part): number {
  const type = view.type(['intel_rapl', 'amd64_rapl'], 'energy counters (intel_rapl, amd64_rapl)');
  const key = type === 'intel_rapl' ? part.intel : part.amd;
  if (key === undefined) throw new MissingInput(`a counter of this kind in ${type}`);
  let sum = 0;
  for (const { host, table } of view.having(type, key)) {
    for (const [device, { total }] of table.keys.get(key)?.devices ?? []) {
      sum += Number(total) / perJoule(host, table, device, key);
    }
  }
  const [read, all] = [secondsOf(view, part), view.seconds * view.hostCount];
  if (read < ENOUGH * all) view.doubts(`${type} was read over ${read} of ${all} s of hosts`);
  view.note(`${type}.${key}`, sum, 'J');
  return sum;
}

const pair = (name: string, part: Part, what: string): readonly JobMetric[] => [
  {
    name: `energy_${name}`,
    unit: 'J',
    formula: `Δ${part.intel}${part.amd === undefined ? '' : ` (${part.amd})`} in J, ${what}`,
    inputs: [`intel_rapl.${part.intel}`, ...(part.amd ? [`amd64_rapl.${part.amd}`] : [])],
    noQuotient: UNITS,
    compute: (view) => joules(view, part),
  },
  {
    name: `avg_power_${name}`,
    unit: 'W',
    formula: `energy_${name} / Σ seconds of the hosts' records with it`,
    inputs: [`intel_rapl.${part.intel}`, ...(part.amd ? [`amd64_rapl.${part.amd}`] : [])],
    noQuotient: `${UNITS}, and ${HOSTS}`,
    compute: (view) => joules(view, part) / secondsOf(view, part),
  },
];

export const ENERGY: MetricFamily = {
  title: 'Energy',
  set: 'triscope',
  metrics: [
    ...pair('package', PACKAGE, 'of all packages'),
    ...pair('cores', CORES, 'of their cores'),
    ...pair('memory', MEMORY, 'of their memory'),
  ],
};
