/**
 * The kernel's frequency policies. Their domain is the finest one whose parts each contain whole policies.
 * Source: Documentation/admin-guide/pm/cpufreq.rst.
 */
import type { Machine } from '../machine.ts';
import type { Tick } from '../tick.ts';
import { parseCpuList } from '../topology.ts';
import {
  type Control,
  type ControlDeclaration,
  NOTHING,
  type Provider,
  type Signal,
  type SignalDeclaration,
  type SignalDomain,
} from './provider.ts';
import { meanOf, scaled } from './sum-of.ts';

const CPU = 'sys/devices/system/cpu';
const KILO = 1e3;
const NANO = 1e-9;
/** What the kernel writes for an unknown latency. */
const UNKNOWN_LATENCY = 4294967295;

interface Policy {
  readonly folder: string;
  readonly cpus: readonly number[];
}

type File = SignalDeclaration & { readonly file: string; readonly scale: number };

const frequency = (file: string, description: string, alias?: string): File => ({
  name: `CPUFREQ::${file.replace('cpuinfo_cur', 'cur').toUpperCase()}`,
  ...(alias && { alias }),
  description,
  unit: 'Hz',
  domain: 'cpu',
  behaviour: /^cpuinfo_m/.test(file) ? 'constant' : 'variable',
  aggregation: 'average',
  format: 'double',
  file,
  scale: KILO,
});

const FILES: readonly File[] = [
  frequency(
    'scaling_cur_freq',
    'Frequency in force, as known to the kernel',
    'CPU_FREQUENCY_STATUS',
  ),
  frequency('cpuinfo_cur_freq', 'Frequency in force, as reported by the hardware'),
  frequency('scaling_max_freq', 'Largest frequency allowed', 'CPU_FREQUENCY_MAX'),
  frequency('scaling_min_freq', 'Least frequency allowed', 'CPU_FREQUENCY_MIN'),
  frequency('scaling_setspeed', 'Frequency asked for by the user, under the governor userspace'),
  frequency('bios_limit', 'Largest frequency that the BIOS allows'),
  frequency('cpuinfo_max_freq', 'Largest frequency of the hardware'),
  frequency('cpuinfo_min_freq', 'Least frequency of the hardware'),
  {
    name: 'CPUFREQ::CPUINFO_TRANSITION_LATENCY',
    description: 'Time that a change of frequency takes',
    unit: 's',
    domain: 'cpu',
    behaviour: 'constant',
    aggregation: 'max',
    format: 'double',
    file: 'cpuinfo_transition_latency',
    scale: NANO,
  },
];

const LIMITS: readonly (ControlDeclaration & { readonly file: string })[] = [
  {
    name: 'CPUFREQ::SCALING_MAX_FREQ',
    alias: 'CPU_FREQUENCY_MAX_CONTROL',
    description: 'Largest frequency allowed',
    unit: 'Hz',
    domain: 'cpu',
    over: 'same',
    file: 'scaling_max_freq',
  },
  {
    name: 'CPUFREQ::SCALING_MIN_FREQ',
    alias: 'CPU_FREQUENCY_MIN_CONTROL',
    description: 'Least frequency allowed',
    unit: 'Hz',
    domain: 'cpu',
    over: 'same',
    file: 'scaling_min_freq',
  },
];

function policiesOf(machine: Machine): Policy[] {
  const policies: Policy[] = [];
  for (const name of machine.list(`${CPU}/cpufreq`, /^policy\d+$/)) {
    const folder = `${CPU}/cpufreq/${name}`;
    const listed = machine.text(`${folder}/affected_cpus`);
    const cpus = parseCpuList(listed ?? machine.text(`${folder}/related_cpus`));
    if (cpus.length > 0) policies.push({ folder, cpus });
  }
  const covered = new Set(policies.flatMap(({ cpus }) => cpus));
  // Older kernels have no folder of policies.
  for (const cpu of machine.topology.indices('cpu')) {
    const folder = `${CPU}/cpu${cpu}/cpufreq`;
    if (!covered.has(cpu) && machine.exists(`${folder}/scaling_max_freq`)) {
      policies.push({ folder, cpus: [cpu] });
    }
  }
  return policies;
}

/** The finest of cpu, core, package and board whose parts contain whole policies. */
function domainOf({ topology }: Machine, policies: readonly Policy[]): SignalDomain {
  const fits = (domain: SignalDomain) =>
    policies.every(({ cpus }) =>
      topology.indices(domain).some((index) => {
        const inside = topology.within('cpu', domain, index);
        return cpus.every((cpu) => inside.includes(cpu));
      }),
    );
  return (['cpu', 'core', 'package'] as const).find(fits) ?? 'board';
}

export const cpufreq: Provider = {
  name: 'cpufreq',
  source: '/sys/devices/system/cpu/cpufreq/policyN',
  declares: FILES.map(({ file: _f, scale: _s, ...declaration }) => declaration),
  controls: LIMITS.map(({ file: _f, ...declaration }) => declaration),
  open({ machine }) {
    const policies = policiesOf(machine);
    if (policies.length === 0) return NOTHING;
    const domain = domainOf(machine, policies);
    const inDomain = (index: number) => {
      const inside = machine.topology.within('cpu', domain, index);
      return policies.filter(({ cpus }) => inside.includes(cpus[0]));
    };
    const signals = FILES.flatMap(({ file, scale, ...declaration }): Signal[] => {
      const isNumber = ({ folder }: Policy) => {
        const value = machine.number(`${folder}/${file}`);
        return !Number.isNaN(value) && value !== UNKNOWN_LATENCY;
      };
      const having = policies.filter(isNumber);
      if (having.length === 0) return [];
      const open = (index: number, tick: Tick) =>
        meanOf(
          inDomain(index)
            .filter((policy) => having.includes(policy))
            .map(({ folder }) => scaled(tick.file(`${folder}/${file}`), scale)),
        );
      return [{ ...declaration, domain, open }];
    });
    const controls = LIMITS.map(({ file, ...declaration }): Control => {
      const text = (hertz: number) => {
        if (!(hertz > 0)) throw new RangeError(`${hertz} Hz is not above 0`);
        return String(Math.round(hertz / KILO));
      };
      const settings = (index: number) =>
        inDomain(index)
          .filter(({ folder }) => machine.exists(`${folder}/${file}`))
          .map(({ folder }) => ({ path: machine.path(`${folder}/${file}`), text }));
      return { ...declaration, domain, settings };
    });
    return { signals, controls };
  },
};
