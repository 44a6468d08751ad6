/**
 * Model-specific registers of Intel's (and, for APERF and MPERF, AMD's) processors. Each signal is there where its
 * register can be read. Source: Intel SDM volume 4; formulae as GEOPM has them.
 */
import { MsrFile, type MsrRegister } from '../msr-file.ts';
import type { Tick } from '../tick.ts';
import { type CpuModel, cpuModel } from './cpu-model.ts';
import { RAW_REGISTERS } from './msr-raw.ts';
import type { Provider, Signal, SignalDeclaration, SignalReader } from './provider.ts';
import { type ReadCounter, RunningTotal } from './running-total.ts';

const REGISTERS = {
  timestamp: 0x10,
  mperf: 0xe7,
  aperf: 0xe8,
  perfStatus: 0x198,
  thermStatus: 0x19c,
  temperatureTarget: 0x1a2,
  packageThermStatus: 0x1b1,
  pperf: 0x64e,
  powerUnit: 0x606,
  packageLimit: 0x610,
  packageEnergy: 0x611,
  packageInfo: 0x614,
  dramEnergy: 0x619,
} as const;

const HZ_PER_RATIO = 100e6;

/** What is read: registers of one CPU to a value. */
type Formula = (msr: (number: number) => MsrRegister, model: CpuModel, tick: Tick) => SignalReader;

type Msr = SignalDeclaration & {
  /** It is absent where one of these is. */
  readonly needs: readonly number[];
  readonly formula: Formula;
};

/** A counter of `bits` bits, at most 48, as a total. */
function totalOf(tick: Tick, now: () => number, bits: number, scale: () => number): SignalReader {
  const counter: ReadCounter = (into) => {
    const value = now();
    if (Number.isNaN(value)) return false;
    into.set(value);
    return true;
  };
  return new RunningTotal(tick, counter, scale, 2 ** bits);
}

/** Models whose energy unit is 2^-14 J, whatever their unit register says: Haswell to Sapphire Rapids servers. */
const FINE = new Set([0x3f, 0x4f, 0x56, 0x55, 0x57, 0x6a, 0x6c, 0x8f]);
/** Sandy Bridge and Ivy Bridge: 2^-16 J. */
const FINER = new Set([0x2a, 0x2d, 0x3a, 0x3e]);

/** Joules per count of a package's energy. */
function packageScale({ family, model }: CpuModel, unit: MsrRegister): number {
  if (family === 6 && FINER.has(model)) return 2 ** -16;
  if (family === 6 && FINE.has(model)) return 2 ** -14;
  return unit.present ? 2 ** -unit.bits(8, 12) : 2 ** -14;
}

const cycles = (name: string, alias: string | null, description: string, number: number): Msr => ({
  name,
  ...(alias !== null && { alias }),
  description,
  unit: '',
  domain: 'cpu',
  behaviour: 'monotone',
  aggregation: 'sum',
  format: 'double',
  needs: [number],
  formula: (msr, _, tick) => {
    const register = msr(number);
    return totalOf(
      tick,
      () => register.bits48(),
      48,
      () => 1,
    );
  },
});

const temperature = (
  name: string,
  alias: string,
  domain: 'core' | 'package',
  number: number,
): Msr => ({
  name,
  alias,
  description: `Temperature of the ${domain}: throttling target minus digital readout`,
  unit: 'Celsius',
  domain,
  behaviour: 'variable',
  aggregation: 'average',
  format: 'double',
  needs: [number, REGISTERS.temperatureTarget],
  formula: (msr) => {
    const [target, readout] = [msr(REGISTERS.temperatureTarget), msr(number)];
    return { read: () => target.bits(16, 23) - readout.bits(16, 22) };
  },
});

const watts = (
  name: string,
  alias: string,
  description: string,
  number: number,
  behaviour: 'constant' | 'variable',
  /** Where its 15 bits begin. */
  from = 0,
): Msr => ({
  name,
  alias,
  description,
  unit: 'W',
  domain: 'package',
  behaviour,
  aggregation: 'sum',
  format: 'double',
  needs: [number, REGISTERS.powerUnit],
  formula: (msr) => {
    const [unit, register] = [msr(REGISTERS.powerUnit), msr(number)];
    return { read: () => register.bits(from, from + 14) * 2 ** -unit.bits(0, 3) };
  },
});

const unitOf = (name: string, of: string, from: number, to: number): Msr => ({
  name: `MSR::RAPL_POWER_UNIT:${name}`,
  description: `The register's unit of ${of}`,
  unit: name === 'POWER' ? 'W' : name === 'ENERGY' ? 'J' : 's',
  domain: 'package',
  behaviour: 'constant',
  aggregation: 'expect_same',
  format: 'double',
  needs: [REGISTERS.powerUnit],
  formula: (msr) => {
    const unit = msr(REGISTERS.powerUnit);
    return { read: () => 2 ** -unit.bits(from, to) };
  },
});

const MSRS: readonly Msr[] = [
  {
    name: 'MSR::PKG_ENERGY_STATUS:ENERGY',
    alias: 'CPU_ENERGY',
    description: 'Energy used by the package; overflows of 32 bits are counted',
    unit: 'J',
    domain: 'package',
    behaviour: 'monotone',
    aggregation: 'sum',
    format: 'double',
    needs: [REGISTERS.packageEnergy],
    formula: (msr, model, tick) => {
      const [unit, register] = [msr(REGISTERS.powerUnit), msr(REGISTERS.packageEnergy)];
      const scale = () => packageScale(model, unit);
      return totalOf(tick, () => register.bits(0, 31), 32, scale);
    },
  },
  {
    name: 'MSR::DRAM_ENERGY_STATUS:ENERGY',
    alias: 'DRAM_ENERGY',
    description: "Energy used by the package's memory; overflows of 32 bits are counted",
    unit: 'J',
    domain: 'package',
    behaviour: 'monotone',
    aggregation: 'sum',
    format: 'double',
    needs: [REGISTERS.dramEnergy],
    formula: (msr, _, tick) => {
      const register = msr(REGISTERS.dramEnergy);
      return totalOf(
        tick,
        () => register.bits(0, 31),
        32,
        () => 2 ** -16,
      );
    },
  },
  {
    ...cycles(
      'MSR::TIME_STAMP_COUNTER:TIMESTAMP_COUNT',
      'CPU_TIMESTAMP_COUNTER',
      'Cycles of the time-stamp counter, since its overflow of 48 bits before the first sample',
      REGISTERS.timestamp,
    ),
    aggregation: 'select_first',
  },
  cycles(
    'MSR::APERF:ACNT',
    'CPU_CYCLES_THREAD',
    'Cycles while not halted, at the current frequency',
    REGISTERS.aperf,
  ),
  cycles(
    'MSR::MPERF:MCNT',
    'CPU_CYCLES_REFERENCE',
    'Cycles while not halted, at the fixed reference frequency',
    REGISTERS.mperf,
  ),
  cycles(
    'MSR::PPERF:PCNT',
    null,
    'Cycles while not halted in which the hardware expects instructions to make progress',
    REGISTERS.pperf,
  ),
  {
    name: 'MSR::PERF_STATUS:FREQ',
    alias: 'CPU_FREQUENCY_STATUS',
    description: 'Frequency that the CPU runs at',
    unit: 'Hz',
    domain: 'cpu',
    behaviour: 'variable',
    aggregation: 'average',
    format: 'double',
    needs: [REGISTERS.perfStatus],
    formula: (msr) => {
      const status = msr(REGISTERS.perfStatus);
      return { read: () => status.bits(8, 15) * HZ_PER_RATIO };
    },
  },
  temperature(
    'MSR::THERM_STATUS:TEMPERATURE',
    'CPU_CORE_TEMPERATURE',
    'core',
    REGISTERS.thermStatus,
  ),
  temperature(
    'MSR::PACKAGE_THERM_STATUS:TEMPERATURE',
    'CPU_PACKAGE_TEMPERATURE',
    'package',
    REGISTERS.packageThermStatus,
  ),
  watts(
    'MSR::PKG_POWER_LIMIT:PL1_POWER_LIMIT',
    'CPU_POWER_LIMIT',
    'Long-term power limit in force',
    REGISTERS.packageLimit,
    'variable',
  ),
  watts(
    'MSR::PKG_POWER_INFO:THERMAL_SPEC_POWER',
    'CPU_POWER_LIMIT_DEFAULT',
    'Thermal design power',
    REGISTERS.packageInfo,
    'constant',
  ),
  watts(
    'MSR::PKG_POWER_INFO:MIN_POWER',
    'CPU_POWER_MIN_AVAIL',
    'Least long-term power limit',
    REGISTERS.packageInfo,
    'constant',
    16,
  ),
  watts(
    'MSR::PKG_POWER_INFO:MAX_POWER',
    'CPU_POWER_MAX_AVAIL',
    'Largest long-term power limit',
    REGISTERS.packageInfo,
    'constant',
    32,
  ),
  unitOf('POWER', 'power', 0, 3),
  unitOf('ENERGY', 'energy; the energies here go by the model where it is known', 8, 12),
  unitOf('TIME', 'time', 16, 19),
  ...RAW_REGISTERS.map(
    ({ register, ...declaration }): Msr => ({
      ...declaration,
      needs: [register],
      formula: (msr) => {
        const whole = msr(register);
        return { read: () => whole.raw() };
      },
    }),
  ),
];

const declarationOf = ({ needs: _n, formula: _f, ...declaration }: Msr): SignalDeclaration =>
  declaration;

export const msr: Provider = {
  name: 'msr',
  source: '/dev/cpu/N/msr (needs root, and the kernel module msr)',
  declares: MSRS.map(declarationOf),
  open({ machine }) {
    const { topology } = machine;
    const [first = 0] = topology.indices('cpu');
    const probe = new MsrFile(machine, first);
    const needed = new Set(MSRS.flatMap(({ needs }) => needs));
    for (const n of Object.values(REGISTERS)) needed.add(n);
    const registers = new Map([...needed].map((n) => [n, probe.register(n)]));
    probe.poll();
    const found = MSRS.filter(({ needs }) => needs.every((n) => registers.get(n)?.present));
    probe.close();
    const model = cpuModel(machine);
    const signals = found.map((one): Signal => {
      const open = (index: number, tick: Tick) => {
        const [cpu] = topology.within('cpu', one.domain, index);
        return cpu === undefined ? null : one.formula((n) => tick.msr(cpu, n), model, tick);
      };
      return { ...declarationOf(one), open };
    });
    return { signals };
  },
};
