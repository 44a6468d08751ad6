/**
 * `intel_rapl`: energy of packages, cores and memory, as the registers count it. One count is 2^-E J, where E is bits 8
 * to 12 of the unit register, which is recorded beside the counters: because they are not scaled, rollover at 2^32 is exact.
 * (tacc_stats 2.3 scales to mJ before recording, so that a rollover can no longer be recognised.) Memory of servers from
 * Haswell on counts in 2^-16 J, whatever the unit register says. Source: Intel SDM, vol. 3B, 15.10.
 */
import type { Hardware } from '../hardware/hardware.ts';
import { modelName } from '../hardware/processor.ts';
import { registerType, row } from '../hardware/register-type.ts';
import { UnavailableError } from '../tree.ts';
import { control, counter } from './type.ts';

const UNIT = 0x606;
/** Key, help, register. Not every processor has all of them. */
const ENERGIES = [
  ['MSR_PKG_ENERGY_STATUS', 'energy of the package', 0x611],
  ['MSR_PP0_ENERGY_STATUS', 'energy of its cores', 0x639],
  ['MSR_DRAM_ENERGY_STATUS', 'energy of its memory', 0x619],
] as const;

type Energy = (typeof ENERGIES)[number];

/** Energies that the first package has. @throws UnavailableError */
function present(hardware: Hardware): readonly Energy[] {
  const { processor } = hardware;
  if (processor.vendor !== 'intel') {
    throw new UnavailableError(`for Intel from Sandy Bridge on; this is ${modelName(processor)}`);
  }
  const msr = hardware.msr(hardware.packages[0].cpus[0]);
  const words = new Uint32Array(2);
  try {
    msr.read(UNIT, 8, words);
    msr.read(ENERGIES[0][2], 8, words);
    return ENERGIES.filter(([, , at]) => {
      try {
        msr.read(at, 8, words);
        return true;
      } catch {
        return false;
      }
    });
  } finally {
    msr.close();
  }
}

const metricsOf = (energies: readonly Energy[]) => [
  ...energies.map(([key, help]) => counter(key, help, '', 32)),
  control('MSR_RAPL_POWER_UNIT', 'units of the energies: one count is 2^-E J, E in bits 8 to 12'),
];

export const INTEL_RAPL = registerType({
  name: 'intel_rapl',
  help: 'energy of Intel processors',
  device: 'package',
  source: '/dev/cpu/N/msr',
  metrics: metricsOf(ENERGIES),
  metricsOn: (hardware) => metricsOf(present(hardware)),
  boxes: (hardware) => {
    const registers = [...present(hardware).flatMap(([, , at]) => row(at, 1)), ...row(UNIT, 1)];
    return hardware.packages.map(({ id, cpus }) => ({
      device: String(id),
      space: `msr ${cpus[0]}`,
      registers,
    }));
  },
});
