/**
 * cpu_activity: lowers the frequency of CPUs whose instructions wait for memory, and that of the uncore of packages that move few bytes.
 * Source: GEOPM's geopm_agent_cpu_activity(7).
 */
import type { Platform } from '../platform.ts';
import {
  biased,
  checkPhi,
  type FrequencyRange,
  frequencyAt,
  phiOf,
  rangeFields,
} from './activity-range.ts';
import { type Agent, type AgentContext, type AgentKind, IDLE, PolicyError } from './agent.ts';
import { hasControl, PinnedFrequency, UNCORE_LIMITS } from './pinned-frequency.ts';

const PHI = 'CPU_PHI';
const ACTIVITY = 'MSR::CPU_SCALABILITY_RATIO';
const CONTROL = 'CPU_FREQUENCY_MAX_CONTROL';
const CORE_MOST = ['CPU_FREQUENCY_MAX_AVAIL', 'CPUFREQ::CPUINFO_MAX_FREQ'];
const CORE_LEAST = ['CPU_FREQUENCY_MIN_AVAIL', 'CPUFREQ::CPUINFO_MIN_FREQ'];
const CORE_EFFICIENT = 'CONST_CONFIG::CPU_FREQUENCY_EFFICIENT_HIGH_INTENSITY';
const BANDWIDTH = 'MSR::QM_CTR_SCALED_RATE';
const UNCORE = 'CPU_UNCORE_FREQUENCY_STATUS';
const UNCORE_EFFICIENT = 'CONST_CONFIG::CPU_UNCORE_FREQUENCY_EFFICIENT_HIGH_INTENSITY';
const TABLE_FREQUENCY = 'CONST_CONFIG::CPU_UNCORE_FREQUENCY_';
const TABLE_BANDWIDTH = 'CONST_CONFIG::CPU_UNCORE_MAX_MEMORY_BANDWIDTH_';

export const cpuActivity: AgentKind = {
  name: 'cpu_activity',
  help: 'lowers the frequency of CPUs and packages that gain little by it',
  period: 0.01,
  policy: [{ name: PHI, unit: '', help: '0: performance, 1: energy; 0.5 where absent' }],
  open,
};

/** The first signal of `names` that this machine has, for the whole board; NaN if it has none. */
function boardValue(platform: Platform, names: readonly string[]): number {
  const name = names.find((one) => platform.info(one) !== null);
  return name === undefined ? Number.NaN : platform.read(name, 'board', 0);
}

/** @throws PolicyError where the file of constants names a frequency that the machine does not have */
function rangeOf(platform: Platform, name: string, least: number, most: number): FrequencyRange {
  const given = boardValue(platform, [name]);
  if (Number.isNaN(given)) return { efficient: least, most };
  if (given >= least && given <= most) return { efficient: given, most };
  throw new PolicyError(
    `cpu_activity: ${name} is ${given} Hz; this machine has ${least} to ${most} Hz`,
  );
}

/** Frequencies of the uncore, and the memory bandwidth in bytes per second at each, in ascending order. */
function tableOf(platform: Platform): [number, number][] {
  const table: [number, number][] = [];
  for (const { name } of platform.signals()) {
    if (!name.startsWith(TABLE_BANDWIDTH)) continue;
    const hertz = boardValue(platform, [TABLE_FREQUENCY + name.slice(TABLE_BANDWIDTH.length)]);
    const bytes = boardValue(platform, [name]);
    if (hertz > 0 && bytes > 0) table.push([hertz, bytes]);
  }
  return table.sort((a, b) => a[0] - b[0]);
}

/** Memory bandwidth in bytes per second at `hertz`: that of the largest frequency in the table that is not above it. */
function mostAt(table: readonly (readonly [number, number])[], hertz: number): number {
  return (table.findLast(([frequency]) => frequency <= hertz) ?? table[0])[1];
}

interface Cores {
  readonly range: FrequencyRange;
  readonly parts: readonly { readonly control: number; readonly activity: number; set: number }[];
}

function coresOf({ platform }: AgentContext): Cores {
  const [least, most] = [boardValue(platform, CORE_LEAST), boardValue(platform, CORE_MOST)];
  const range = rangeOf(platform, CORE_EFFICIENT, least, most);
  const domain = platform.controls.list().find(({ alias }) => alias === CONTROL)?.domain ?? 'cpu';
  const parts = platform.topology.indices(domain).map((index) => ({
    control: platform.controls.push(CONTROL, domain, index),
    activity: platform.push(ACTIVITY, domain, index),
    set: Number.NaN,
  }));
  return { range, parts };
}

interface Uncore {
  readonly range: FrequencyRange;
  readonly table: readonly (readonly [number, number])[];
  readonly parts: readonly {
    readonly pin: PinnedFrequency;
    readonly bandwidth: number;
    readonly frequency: number;
  }[];
}

/** Null if a signal or control that the agent needs is missing; a warning names it. */
function uncoreOf({ platform, warn }: AgentContext): Uncore | null {
  const table = tableOf(platform);
  const missing = [
    ...[UNCORE_LIMITS.least, UNCORE_LIMITS.most].filter((name) => !hasControl(platform, name)),
    ...[BANDWIDTH, UNCORE].filter((name) => platform.info(name) === null),
    ...(table.length === 0 ? [`${TABLE_BANDWIDTH}0`] : []),
  ];
  if (missing.length > 0) {
    warn(
      `cpu_activity: the frequency outside the cores is not changed: this machine has no ${missing[0]}`,
    );
    return null;
  }
  const least = boardValue(platform, ['UNCORE::FREQUENCY_MIN']);
  const most = boardValue(platform, ['UNCORE::FREQUENCY_MAX']);
  const parts = platform.topology.indices('package').map((index) => ({
    pin: new PinnedFrequency(platform, UNCORE_LIMITS, 'package', index),
    bandwidth: platform.push(BANDWIDTH, 'package', index),
    frequency: platform.push(UNCORE, 'package', index),
  }));
  return { range: rangeOf(platform, UNCORE_EFFICIENT, least, most), table, parts };
}

function open(context: AgentContext): Agent {
  const { platform, allowControl, warn } = context;
  if (!allowControl) {
    warn('cpu_activity changes nothing: --allow-control permits it to write frequency limits');
    return { ...IDLE, validatePolicy: (policy) => checkPhi(cpuActivity.name, policy, PHI) };
  }
  const cores = coresOf(context);
  const uncore = uncoreOf(context);
  let [coreRange, uncoreRange] = [cores.range, uncore?.range ?? null];
  let [coreRequests, uncoreRequests] = [0, 0];
  return {
    ...IDLE,
    validatePolicy: (policy) => checkPhi(cpuActivity.name, policy, PHI),
    adjust: (policy) => {
      const phi = phiOf(policy, PHI);
      coreRange = biased(cores.range, phi);
      for (const part of cores.parts) {
        const hertz = frequencyAt(coreRange, platform.sample(part.activity), part.set);
        if (hertz === part.set) continue;
        platform.controls.adjust(part.control, hertz);
        part.set = hertz;
        coreRequests++;
      }
      if (uncore === null) return;
      uncoreRange = biased(uncore.range, phi);
      for (const { pin, bandwidth, frequency } of uncore.parts) {
        const most = mostAt(uncore.table, platform.sample(frequency));
        const hertz = frequencyAt(uncoreRange, platform.sample(bandwidth) / most, pin.hertz);
        if (pin.set(hertz)) uncoreRequests++;
      }
    },
    reportHost: () =>
      new Map<string, number>([
        ['Core Frequency Requests', coreRequests],
        ...rangeFields(coreRange, 'Core '),
        ...(uncoreRange === null
          ? []
          : ([
              ['Uncore Frequency Requests', uncoreRequests],
              ...rangeFields(uncoreRange, 'Uncore '),
            ] as const)),
      ]),
  };
}
