/** `intel_hsw_imc`: memory channels of Haswell. */
import { memoryController } from '../hardware/intel-uncore-units.ts';

export const INTEL_HSW_IMC = memoryController(
  'hsw',
  [0x2fb0, 0x2fb1, 0x2fb4, 0x2fb5, 0x2fd0, 0x2fd1, 0x2fd4, 0x2fd5],
  0x1400b01n,
);
