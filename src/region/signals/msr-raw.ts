/**
 * Whole registers, `MSR::NAME#`, for what no other signal is made of. Names and domains as GEOPM has them; numbers: Intel SDM
 * volume 4.
 */
import type { SignalDeclaration, SignalDomain } from './provider.ts';

export interface RawRegister extends SignalDeclaration {
  readonly register: number;
}

const raw = (name: string, register: number, domain: SignalDomain): RawRegister => ({
  name: `MSR::${name}#`,
  description: `All 64 bits of register 0x${register.toString(16)}`,
  unit: '',
  domain,
  behaviour: 'label',
  aggregation: 'select_first',
  format: 'raw64',
  register,
});

export const RAW_REGISTERS: readonly RawRegister[] = [
  raw('TIME_STAMP_COUNTER', 0x10, 'cpu'),
  raw('PLATFORM_INFO', 0xce, 'package'),
  raw('MPERF', 0xe7, 'cpu'),
  raw('APERF', 0xe8, 'cpu'),
  raw('PERF_STATUS', 0x198, 'cpu'),
  raw('PERF_CTL', 0x199, 'cpu'),
  raw('THERM_STATUS', 0x19c, 'core'),
  raw('MISC_ENABLE', 0x1a0, 'cpu'),
  raw('TEMPERATURE_TARGET', 0x1a2, 'core'),
  raw('TURBO_RATIO_LIMIT', 0x1ad, 'package'),
  raw('PACKAGE_THERM_STATUS', 0x1b1, 'package'),
  raw('RAPL_POWER_UNIT', 0x606, 'package'),
  raw('PKG_POWER_LIMIT', 0x610, 'package'),
  raw('PKG_ENERGY_STATUS', 0x611, 'package'),
  raw('PKG_POWER_INFO', 0x614, 'package'),
  raw('DRAM_ENERGY_STATUS', 0x619, 'package'),
  raw('UNCORE_RATIO_LIMIT', 0x620, 'package'),
  raw('UNCORE_PERF_STATUS', 0x621, 'package'),
  raw('PPERF', 0x64e, 'cpu'),
  raw('PM_ENABLE', 0x770, 'package'),
  raw('HWP_CAPABILITIES', 0x771, 'package'),
  raw('HWP_REQUEST', 0x774, 'cpu'),
];
