/** `intel_bdw_imc`: memory channels of Broadwell. */
import { memoryController } from '../hardware/intel-uncore-units.ts';

export const INTEL_BDW_IMC = memoryController(
  'bdw',
  [0x6fb0, 0x6fb1, 0x6fb4, 0x6fb5, 0x6fd0, 0x6fd1, 0x6fd4, 0x6fd5],
  0x1400b01n,
);
